// What an administrator or a power failure does to the server while the fleet is connected.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <nats/nats.h>

#include "bus.hpp"
#include "fleet_fixture.hpp"
#include "names.hpp"
#include "roster.hpp"

namespace kernelsmith {
namespace {

using namespace testing;

class FleetRecovery : public FleetTest {
 protected:
  /// As whoever may do everything on the server.
  void administer(const std::function<natsStatus(jsCtx*)>& act) const {
    natsConnection* connection = nullptr;
    jsCtx* stream = nullptr;
    ASSERT_EQ(natsConnection_ConnectTo(&connection, server_->url().c_str()), NATS_OK);
    ASSERT_EQ(natsConnection_JetStream(&stream, connection, nullptr), NATS_OK);
    EXPECT_EQ(act(stream), NATS_OK);
    jsCtx_Destroy(stream);
    natsConnection_Destroy(connection);
  }

  void delete_stream(const char* name) const {
    administer([&](jsCtx* stream) { return js_DeleteStream(stream, name, nullptr, nullptr); });
  }
};

TEST_F(FleetRecovery, AStreamThatWasDeletedIsMadeAnew) {
  const TestWorker worker(server_->url(), own_number);
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  for (const char* const stream :
       {fleet::kJobsStream, fleet::kResultsStream, fleet::kTasksStream, fleet::kFleetStream})
    delete_stream(stream);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 2)).fitness(), 2);
}

/// The run takes what is put, and nobody says that it was not stored.
TEST_F(FleetRecovery, AStreamThatWasDeletedBehindAListenerIsMadeAnew) {
  std::atomic<bool> told = false;
  const auto bus = connected(server_->url(), [&](const std::string&) { told = true; }).value();
  ASSERT_TRUE(fleet::join_fleet(*bus, {}));
  const auto listening = bus->listen("kernelsmith.results.>", [](std::string_view) {}).value();
  delete_stream(fleet::kResultsStream);
  const auto put = bus->put({fleet::kResultsStream, "kernelsmith.results.a.1.0", "x", "a", false}, {});
  EXPECT_TRUE(put) << describe(put.error());
  EXPECT_EQ(bus->streams_lost(), 1U);
  EXPECT_FALSE(told);
}

TEST_F(FleetRecovery, AQueueThatWasDeletedIsMadeAnew) {
  const TestWorker worker(server_->url(), own_number);
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  administer([](jsCtx* stream) {
    return js_DeleteConsumer(stream, fleet::kJobsStream, fleet::jobs_queue("fake", "").c_str(), nullptr,
                             nullptr);
  });
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 2)).fitness(), 2);
}

TEST_F(FleetRecovery, AQueueThatIsAheadOfItsStreamIsMadeAnew) {
  {
    const TestWorker worker(server_->url(), own_number);
    const auto evaluator = fleet(hill());
    for (std::uint64_t i = 0; i < 9; ++i)
      EXPECT_EQ(Answer(*evaluator, job_of(hill(), i)).fitness(), static_cast<double>(i));
  }
  server_->kill();
  std::filesystem::remove_all(server_->messages_of(fleet::kJobsStream));
  server_->start_again();
  const TestWorker worker(server_->url(), own_number);
  EXPECT_EQ(Answer(*fleet(hill()), job_of(hill(), 9, 0, "another run")).fitness(), 9);
}

TEST_F(FleetRecovery, ATaskThatIsLostIsSentAgain) {
  TestWorker first(server_->url(), own_number);
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  ASSERT_TRUE(first.end());
  administer([](jsCtx* stream) { return js_PurgeStream(stream, fleet::kTasksStream, nullptr, nullptr); });
  const TestWorker second(server_->url(), own_number);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 2)).fitness(), 2);
}

/// A server whose configuration can be changed.
class FleetConfiguration : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  }

  void start(const std::string& configuration) {
    std::ofstream(file()) << configuration;
    server_.emplace(std::vector<std::string>{"-c", file().string()});
  }

  void change(const std::string& configuration) const {
    std::ofstream(file()) << configuration;
    server_->reload();
  }

  std::string jetstream() const {
    return "jetstream { store_dir: \"" + (folder_ / "store").string() + "\" }\n";
  }

  std::optional<NatsServer> server_;

 private:
  std::filesystem::path file() const { return folder_ / "nats.conf"; }

  TemporaryFolder folder_;
};

/// As one that has just started, and takes connections before its JetStream answers.
TEST_F(FleetConfiguration, AServerWhoseJetStreamIsNotReadyIsAskedAgain) {
  start("debug: false\n");
  auto opened = std::async(std::launch::async, [url = server_->url()] { return connected(url); });
  natsConnection* connection = nullptr;
  ASSERT_EQ(natsConnection_ConnectTo(&connection, server_->url().c_str()), NATS_OK);
  natsConnection_Destroy(connection);
  change(jetstream());
  const auto bus = opened.get();
  EXPECT_TRUE(bus) << describe(bus.error());
}

TEST_F(FleetConfiguration, AServerWithoutJetStreamIsNamed) {
  start("debug: false\n");
  const auto bus = connected(server_->url());
  ASSERT_FALSE(bus);
  EXPECT_EQ(bus.error().code, ErrorCode::unsupported);
  EXPECT_THAT(bus.error().hint, ::testing::HasSubstr("-js"));
}

/// As one whose disk was full: it is there, and answers nothing of what it stores.
TEST_F(FleetConfiguration, AServerThatAnswersNothingOfItsStreamsEndsTheWait) {
  const auto configuration = [this](const std::string& denied) {
    return jetstream() +
           "authorization { users: [ { user: one, password: one, permissions: { publish: { deny: [" + denied +
           "] } } } ] }\n";
  };
  start(configuration(""));
  FleetOptions options;
  options.server = parse_fleet_server("nats://one:one@127.0.0.1:" + server_->port()).value();
  options.patience = 1s;
  std::atomic<bool> begun = false, goes_on = false;
  const TestWorker worker("nats://one:one@127.0.0.1:" + server_->port(), [&](const EvaluationJob& job) {
    begun = true;
    begun.notify_all();
    goes_on.wait(false);
    return own_number(job);
  });
  {
    const auto evaluator = make_fleet_evaluator(hill(), options).value();
    Answer answer(*evaluator, job_of(hill(), 1));
    begun.wait(false);
    change(configuration("\"$JS.API.STREAM.MSG.GET.>\", \"$JS.API.DIRECT.GET.>\""));
    EXPECT_EQ(answer.error(), ErrorCode::network);
  }
  change(configuration(""));
  goes_on = true;
  goes_on.notify_all();
}

TEST_F(FleetRecovery, ARunTellsThatItWaitsForTheServer) {
  std::mutex mutex;
  std::vector<std::string> told;
  FleetOptions with_words = options();
  with_words.tell = [&](const std::string& words) {
    const std::lock_guard lock(mutex);
    told.push_back(words);
  };
  const auto wait_for = [&](const char* words) {
    for (;; std::this_thread::sleep_for(10ms)) {
      const std::lock_guard lock(mutex);
      if (!told.empty() && told.back().starts_with(words)) return;
    }
  };
  const auto evaluator = fleet(hill(), with_words);
  server_->kill();
  wait_for("waiting for the server: ");
  server_->start_again();
  wait_for("the server is there again");
}

/// A server with a token.
class FleetToken : public FleetConfiguration {
 protected:
  void SetUp() override {
    FleetConfiguration::SetUp();
    if (IsSkipped()) return;
    start(with_token("first"));
    url_ = "nats://first@127.0.0.1:" + server_->port();
  }

  void change_token(const char* token) const { change(with_token(token)); }

  std::string url_;

 private:
  std::string with_token(const char* token) const {
    return std::string("authorization { token: ") + token + " }\n" + jetstream();
  }
};

TEST_F(FleetToken, ChangedAndChangedBackIsNoEnd) {
  FleetOptions options;
  options.server = parse_fleet_server(url_).value();
  TestWorker worker(url_, own_number);
  const auto evaluator = make_fleet_evaluator(hill(), options).value();
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  change_token("second");
  worker.wait_for("the server is away; the latest attempt to connect: the server does not accept");
  Answer waiting(*evaluator, job_of(hill(), 2));
  change_token("first");
  EXPECT_EQ(waiting.fitness(), 2);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 3)).fitness(), 3);
}

TEST_F(FleetToken, ThatStaysChangedIsNamed) {
  const auto bus = connected(url_).value();
  change_token("second");
  while (!bus->refusal()) std::this_thread::sleep_for(10ms);
  const Error error = bus->away_error();
  EXPECT_EQ(error.code, ErrorCode::network);
  EXPECT_THAT(error.message, ::testing::HasSubstr("does not accept these credentials"));
  EXPECT_THAT(error.hint, ::testing::HasSubstr("user and password"));
}

}  // namespace
}  // namespace kernelsmith
