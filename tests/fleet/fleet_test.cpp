// The fleet with a real server and workers in threads.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <stdexcept>

#include <kernelsmith/config/json.hpp>

#include "bus.hpp"
#include "fleet_fixture.hpp"
#include "messages.hpp"
#include "names.hpp"
#include "roster.hpp"

namespace kernelsmith {
namespace {

using namespace testing;

class Fleet : public FleetTest {
 protected:
  std::shared_ptr<fleet::Bus> bus() const { return connected(server_->url()).value(); }
};

/// As if there was one.
void announce_a_worker(fleet::Bus& bus) {
  EXPECT_TRUE(bus.put({fleet::kWorkersStream, fleet::worker_subject("w"),
                       fleet::encode_worker({"w", "", {{"fake", "", 1}}}), "", false},
                      {}));
}

/// Its own number as the fitness, counted.
EvaluationFunction counting(std::atomic<int>& evaluated) {
  return [&evaluated](const EvaluationJob& job) {
    ++evaluated;
    return own_number(job);
  };
}

TEST_F(Fleet, AnswersJobsOfSeveralWorkers) {
  const TestWorker one(server_->url(), own_number), two(server_->url(), own_number, "", 2);
  const auto evaluator = fleet(hill());
  std::vector<std::unique_ptr<Answer>> answers;
  for (std::uint64_t i = 0; i < 50; ++i)
    answers.push_back(std::make_unique<Answer>(*evaluator, job_of(hill(), i)));
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(answers[i]->fitness(), static_cast<double>(i));
}

TEST_F(Fleet, WaitsForAWorker) {
  const auto evaluator = fleet(hill());
  Answer answer(*evaluator, job_of(hill(), 7));
  const TestWorker late(server_->url(), own_number);
  EXPECT_EQ(answer.fitness(), 7);
}

TEST_F(Fleet, WithoutAWorkerIsAnError) {
  FleetOptions impatient = options();
  impatient.wait_for_worker = 100ms;
  const auto evaluator = fleet(hill(), impatient);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 7)).error(), ErrorCode::timeout);
}

TEST_F(Fleet, FindsWhatArrivedWhileItWasDead) {
  std::atomic<int> evaluated = 0;
  {
    const auto evaluator = fleet(hill());
    Answer given_up(*evaluator, job_of(hill(), 1));
    const TestWorker worker(server_->url(), counting(evaluated));
    EXPECT_EQ(given_up.fitness(), 1);
  }
  // Nobody is there to evaluate it once more.
  const auto resumed = fleet(hill());
  EXPECT_EQ(Answer(*resumed, job_of(hill(), 1)).fitness(), 1);
  EXPECT_EQ(evaluated, 1);
}

TEST_F(Fleet, DoesNotDoubleWhatIsQueued) {
  std::atomic<int> evaluated = 0;
  const auto killed = bus();
  ASSERT_TRUE(fleet::join_fleet(*killed, {}));
  // What a coordinator that was killed leaves: the run's place and a job.
  const std::string text = to_json(job_of(hill(), 1));
  const fleet::JobId id{fleet::key_of(job_of(hill(), 1), text), 0};
  ASSERT_TRUE(killed->put(
      {fleet::kFleetStream, fleet::run_subject("run"), fleet::encode_hardware(""), "", true}, {}));
  ASSERT_TRUE(killed->put({fleet::kJobsStream, fleet::job_subject("fake", "", id.key),
                           fleet::encode_job(id, text), "an id of long ago", false},
                          {}));
  const auto evaluator = fleet(hill());
  Answer answer(*evaluator, job_of(hill(), 1));
  TestWorker worker(server_->url(), counting(evaluated));
  EXPECT_EQ(answer.fitness(), 1);
  ASSERT_TRUE(worker.end());
  EXPECT_EQ(evaluated, 1);
}

TEST_F(Fleet, AnotherJobUnderTheSameAttemptIsAnotherJob) {
  const TestWorker worker(server_->url(), own_number);
  EXPECT_EQ(Answer(*fleet(hill()), job_of(hill(), 1)).fitness(), 1);
  EvaluationJob duel = job_of(hill(), 1);
  duel.source = Source::create({{"seed.txt", "another"}}).value();
  EXPECT_EQ(Answer(*fleet(hill()), duel).fitness(), 1);
}

TEST_F(Fleet, ErrorsTravelBackAndAreAskedAgain) {
  std::atomic<int> asked = 0;
  const auto fails_once = [&](const EvaluationJob& job) -> Result<Evaluation> {
    if (asked++ == 0) return fail(ErrorCode::unstable, "too noisy", "core 3", "wait");
    return own_number(job);
  };
  const TestWorker worker(server_->url(), fails_once);
  const auto failed = Answer(*fleet(hill()), job_of(hill(), 1)).wait();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), fail(ErrorCode::unstable, "too noisy", "worker worker : core 3", "wait"));
  // A session that was killed and is resumed asks the same again.
  EXPECT_EQ(Answer(*fleet(hill()), job_of(hill(), 1)).fitness(), 1);
}

TEST_F(Fleet, AStopIsAnsweredSoonAndTakesTheJobAway) {
  std::atomic<int> evaluated = 0;
  {
    const auto evaluator = fleet(hill());
    Answer answer(*evaluator, job_of(hill(), 1));
    answer.stop();
    EXPECT_EQ(answer.error(), ErrorCode::cancelled);
  }
  const auto resumed = fleet(hill());
  const TestWorker worker(server_->url(), counting(evaluated));
  EXPECT_EQ(Answer(*resumed, job_of(hill(), 2)).fitness(), 2);
  EXPECT_EQ(evaluated, 1);
  // And it can be asked for again, under the same id.
  EXPECT_EQ(Answer(*resumed, job_of(hill(), 1)).fitness(), 1);
}

/// One that workers have begun each time and not ended, or one that never reached them.
class LostJobs : public Fleet, public ::testing::WithParamInterface<bool> {};

TEST_P(LostJobs, AreCondemnedIfWorkersWereLostOnThem) {
  const bool begins = GetParam();
  const auto lost = bus();
  ASSERT_TRUE(fleet::join_fleet(*lost, {}));
  const std::string queue = fleet::jobs_queue("fake", ""), filter = fleet::jobs_filter("fake", "");
  ASSERT_TRUE(lost->declare_queue(fleet::kJobsStream, queue, filter, 200ms, {}));
  FleetOptions patient = options();
  const auto evaluator = fleet(hill(), patient);
  std::atomic<int> evaluated = 0;
  std::optional<TestWorker> worker;
  worker.emplace(server_->url(), own_number);  // it says which hardware there is
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  worker.reset();
  Answer answer(*evaluator, job_of(hill(), 2));
  {
    const auto source = lost->jobs(fleet::kJobsStream, queue, filter).value();
    for (std::uint64_t times = 1; times <= fleet::kMostLosses + 1; ++times) {
      std::unique_ptr<fleet::Delivery> dying;
      while (!dying) dying = source->next(1s);
      EXPECT_EQ(dying->times_delivered(), times);
      const auto id = fleet::JobId::parse(dying->id());
      if (times > 1 && begins) {
        EXPECT_TRUE(
            lost->put({fleet::kBegunStream, fleet::begun_subject(*id, times), "dying", "", false}, {}));
      }
    }
  }
  worker.emplace(server_->url(), counting(evaluated));
  const auto verdict = answer.wait().value();
  EXPECT_EQ(evaluated, begins ? 0 : 1);
  EXPECT_EQ(worker->end()->given_up, begins ? 1U : 0U);
  if (!begins) {
    ASSERT_TRUE(verdict.accepted());
    EXPECT_EQ(verdict.metrics()->fitness().median, 2);
    return;
  }
  ASSERT_TRUE(verdict.rejection());
  EXPECT_EQ(verdict.rejection()->code, RejectionCode::worker_lost);
}

INSTANTIATE_TEST_SUITE_P(, LostJobs, ::testing::Bool());

TEST_F(Fleet, ABrokenWorkerRestsAndSaysSo) {
  std::atomic<bool> broken = true;
  TestWorker worker(
      server_->url(),
      [&](const EvaluationJob& job) -> Result<Evaluation> {
        if (broken) return fail(ErrorCode::tool_missing, "no compiler");
        return own_number(job);
      },
      "", 1, 300ms);
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).error(), ErrorCode::tool_missing);
  broken = false;
  EXPECT_THAT(worker.wait_for("takes no jobs"), ::testing::HasSubstr("no compiler"));
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1, 1)).fitness(), 1);
}

TEST_F(Fleet, RunsStayOnOneKindOfHardware) {
  TestWorker slow(server_->url(), own_number, "slow processor"),
      fast(server_->url(), own_number, "fast processor");
  slow.wait_for("joined");
  fast.wait_for("joined");
  const auto undecided = make_fleet_evaluator(hill(), options());
  ASSERT_FALSE(undecided);
  EXPECT_EQ(undecided.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(undecided.error().message, ::testing::AllOf(::testing::HasSubstr("\"fast processor\""),
                                                          ::testing::HasSubstr("\"slow processor\"")));
  FleetOptions chosen = options();
  chosen.hardware = "FAST";
  const auto evaluator = fleet(hill(), chosen);
  for (std::uint64_t i = 0; i < 10; ++i)
    EXPECT_EQ(Answer(*evaluator, job_of(hill(), i)).fitness(), static_cast<double>(i));
  EXPECT_EQ(slow.end()->evaluated, 0U);

  FleetOptions other = options();
  other.hardware = "nothing like it";
  EXPECT_EQ(make_fleet_evaluator(hill(), other).error().code, ErrorCode::invalid_argument);
}

TEST_F(Fleet, AWorkerThatMeasuresElsewhereIsNotBelieved) {
  std::atomic<int> measured = 0;
  const TestWorker worker(
      server_->url(),
      [&](const EvaluationJob&) {
        Report report;
        report.hardware = measured++ < 2 ? "processor" : "another processor";
        return Evaluation(Acceptance{Metrics::create(Measurement::exact(1)).value(), report});
      },
      "processor");
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 2)).fitness(), 1);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 3)).error(), ErrorCode::unsupported);
}

TEST_F(Fleet, AResumedRunKeepsItsHardware) {
  {
    const TestWorker first(server_->url(), own_number, "first processor");
    EXPECT_EQ(Answer(*fleet(hill()), job_of(hill(), 1)).fitness(), 1);
  }
  FleetOptions other = options();
  other.hardware = "other";
  TestWorker second(server_->url(), own_number, "other processor");
  second.wait_for("joined");
  EXPECT_EQ(Answer(*fleet(hill(), other), job_of(hill(), 2)).error(), ErrorCode::invalid_argument);
}

TEST_F(Fleet, AResultThatCannotBeReadIsAnError) {
  const auto other = bus();
  ASSERT_TRUE(fleet::join_fleet(*other, {}));
  const std::string queue = fleet::jobs_queue("fake", ""), filter = fleet::jobs_filter("fake", "");
  ASSERT_TRUE(other->declare_queue(fleet::kJobsStream, queue, filter, 60s, {}));
  announce_a_worker(*other);
  const auto evaluator = fleet(hill());
  Answer answer(*evaluator, job_of(hill(), 1));
  const auto source = other->jobs(fleet::kJobsStream, queue, filter).value();
  std::unique_ptr<fleet::Delivery> job;
  while (!job) job = source->next(1s);
  const std::string result = fleet::result_subject(fleet::JobId::parse(job->id())->key);
  ASSERT_TRUE(
      other->put({fleet::kResultsStream, result, "{\"kind\":\"result\",\"protocol\":2}\n", "", false}, {}));
  job->done();
  EXPECT_EQ(answer.error(), ErrorCode::version);
}

TEST_F(Fleet, AnotherProtocolIsOneClearError) {
  ASSERT_TRUE(fleet::join_fleet(*bus(), {}));
  ASSERT_TRUE(bus()->put(
      {fleet::kFleetStream, fleet::kProtocolSubject, "{\"kind\":\"fleet\",\"protocol\":2}\n", "", false},
      {}));
  EXPECT_EQ(make_fleet_evaluator(hill(), options()).error().code, ErrorCode::version);
  TestWorker worker(server_->url(), own_number);
  const auto ended = worker.wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::version);
}

TEST_F(Fleet, ADrainingWorkerFinishesWhatItRuns) {
  std::latch begun(1), go_on(1);
  TestWorker worker(server_->url(), [&](const EvaluationJob& job) {
    begun.count_down();
    go_on.wait();
    return own_number(job);
  });
  const auto evaluator = fleet(hill());
  Answer running(*evaluator, job_of(hill(), 1)), queued(*evaluator, job_of(hill(), 2));
  begun.wait();
  worker.ask_to_end();
  go_on.count_down();
  EXPECT_EQ(running.fitness(), 1);
  EXPECT_EQ(worker.end()->evaluated, 1U);
  const TestWorker next(server_->url(), own_number);
  EXPECT_EQ(queued.fitness(), 2);
}

TEST_F(Fleet, SurvivesItsServer) {
  TestWorker worker(server_->url(), own_number);
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  server_->kill();
  Answer waiting(*evaluator, job_of(hill(), 2));
  server_->start_again();
  EXPECT_EQ(waiting.fitness(), 2);
  worker.wait_for("the server is back");
}

TEST_F(Fleet, SurvivesAServerThatForgot) {
  std::latch begun(1), go_on(1);
  TestWorker worker(server_->url(), [&](const EvaluationJob& job) {
    if (job.candidate.value == 2) {
      begun.count_down();
      go_on.wait();
    }
    return own_number(job);
  });
  const auto evaluator = fleet(hill());
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  Answer waiting(*evaluator, job_of(hill(), 2));
  begun.wait();
  server_->kill();
  server_->start_again(true);
  go_on.count_down();
  EXPECT_EQ(waiting.fitness(), 2);
}

TEST_F(Fleet, AServerThatIsAwayForLongIsAnError) {
  TestWorker worker(server_->url(), own_number);
  const auto evaluator = fleet(hill(), options(300ms));
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 1)).fitness(), 1);
  server_->kill();
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 2)).error(), ErrorCode::network);
  server_->start_again();
}

TEST_F(Fleet, WhatIsTooLargeSaysHowToMakeRoom) {
  const TestWorker worker(server_->url(), [](const EvaluationJob& job) -> Result<Evaluation> {
    Report report;
    report.artifacts = {{"small", "kept"}, {"large", std::string(2 << 20, 'x')}};
    return Evaluation(Acceptance{
        Metrics::create(Measurement::exact(static_cast<double>(job.candidate.value))).value(), report});
  });
  const auto evaluator = fleet(hill());
  const auto cut = Answer(*evaluator, job_of(hill(), 1)).wait().value();
  ASSERT_EQ(cut.report().artifacts.size(), 1U);
  EXPECT_EQ(cut.report().artifacts.front().name, "small");

  EvaluationJob large = job_of(hill(), 2);
  large.source = Source::create({{"seed.txt", std::string(2 << 20, 'x')}}).value();
  const auto refused = Answer(*evaluator, large).wait();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_long);
  EXPECT_THAT(refused.error().hint, ::testing::HasSubstr("max_payload"));

  Task task = hill();
  task.files = {{"data", std::string(2 << 20, 'x')}};
  task.digest = task_digest(task);
  EXPECT_EQ(make_fleet_evaluator(task, options()).error().code, ErrorCode::too_long);
}

TEST_F(Fleet, AnEvaluatorInPythonIsBrought) {
  Task task = hill();
  namespace fs = std::filesystem;
  const fs::path own = fs::path(::testing::TempDir()) / "kernelsmith_own_evaluator.py";
  std::ofstream(own) << "def evaluate(path): ...\n";
  fs::perms folder_mode{};
  task.evaluator.path = own.string();
  task.evaluator.text = "def evaluate(path): ...\n";
  task.digest = task_digest(task);
  std::string path, text;
  WorkerOptions worker;
  worker.server = options().server;
  worker.name = "python";
  worker.backends = {{"fake", "", 1, [&](const Task& brought) {
                        path = brought.evaluator.path;
                        folder_mode = fs::status(fs::path(path).parent_path()).permissions();
                        std::ifstream file(path);
                        text.assign(std::istreambuf_iterator<char>(file), {});
                        return blocking_evaluator(own_number);
                      }}};
  {
    const std::jthread running([&](const std::stop_token& stop) { EXPECT_TRUE(run_worker(worker, stop)); });
    EXPECT_EQ(Answer(*fleet(task), job_of(task, 5)).fitness(), 5);
  }
  EXPECT_EQ(text, task.evaluator.text);
  EXPECT_NE(path, own.string());  // never at the path that the task names
  EXPECT_EQ(folder_mode, fs::perms{0755});
  EXPECT_FALSE(fs::exists(path));
  fs::remove(own);
}

TEST_F(Fleet, AnExceptionIsAnErrorOfTheJob) {
  WorkerOptions worker;
  worker.server = options().server;
  worker.name = "thrown at";
  worker.backends = {{"fake", "", 1, [](const Task&) -> Result<std::shared_ptr<Evaluator>> {
                        throw std::runtime_error("no such size");
                      }}};
  const std::jthread running([&](const std::stop_token& stop) { EXPECT_TRUE(run_worker(worker, stop)); });
  EXPECT_EQ(Answer(*fleet(hill()), job_of(hill(), 5)).error(), ErrorCode::bad_input);
}

TEST_F(Fleet, AFullQueueSaysHowToEmptyIt) {
  const auto owner = bus();
  ASSERT_TRUE(owner->declare(
      {.name = fleet::kJobsStream, .subjects = "kernelsmith.jobs.>", .work_queue = true, .most_messages = 1},
      {}));
  ASSERT_TRUE(fleet::join_fleet(*owner, {}));
  announce_a_worker(*owner);
  const auto evaluator = fleet(hill());
  Answer waits(*evaluator, job_of(hill(), 1)), refused(*evaluator, job_of(hill(), 2));
  const auto answer = refused.wait();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::server_failed);
  EXPECT_THAT(answer.error().hint, ::testing::HasSubstr("kernelsmith worker"));
  waits.stop();
  EXPECT_EQ(waits.error(), ErrorCode::cancelled);
}

TEST_F(Fleet, AJobOfAnotherTaskIsRefused) {
  EXPECT_EQ(Answer(*fleet(hill()), job_of(hill("valley"), 1)).error(), ErrorCode::invalid_argument);
}

TEST(FleetServerTest, CredentialsAreAsked) {
  if (!NatsServer::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  const NatsServer server({"--user", "smith", "--pass", "s3cret/@"});
  FleetOptions options;
  options.server = parse_fleet_server(server.url()).value();
  const auto refused = make_fleet_evaluator(hill(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::permission);
  const std::string url = "nats://smith:s3cret%2F%40@127.0.0.1:" + server.port();
  options.server = parse_fleet_server(url).value();
  const auto evaluator = make_fleet_evaluator(hill(), options).value();
  const TestWorker worker(url, own_number);
  EXPECT_EQ(Answer(*evaluator, job_of(hill(), 3)).fitness(), 3);
}

TEST(FleetServerTest, AnAddressWithoutAServerIsAnError) {
  if (!NatsServer::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  NatsServer server;
  server.kill();
  const auto bus = fleet::connect(
      {.server = parse_fleet_server(server.url()).value(), .name = "test", .first_patience = 100ms}, {});
  ASSERT_FALSE(bus);
  EXPECT_EQ(bus.error().code, ErrorCode::network);
}

}  // namespace
}  // namespace kernelsmith
