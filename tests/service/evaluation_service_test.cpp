// The whole service over HTTP with an evaluator that counts: a thousand requests, none lost and none done
// twice.
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/service/evaluation_service.hpp>

namespace kernelsmith {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr int kClients = 16;
constexpr int kRequests = 1000;

struct Reply {
  long status = 0;
  std::string body;
  Json json() const { return Json::parse(body); }
};

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

/// One connection, kept. Not thread-safe.
class Client {
 public:
  explicit Client(std::string url) : url_(std::move(url)), easy_(curl_easy_init()) {}
  ~Client() { curl_easy_cleanup(easy_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Reply get(const std::string& path) { return ask("GET", path, ""); }
  Reply post(const std::string& path, const Json& body) { return ask("POST", path, body.dump()); }
  Reply ask(const char* method, const std::string& path, const std::string& body) {
    Reply reply;
    curl_easy_reset(easy_);
    curl_easy_setopt(easy_, CURLOPT_URL, (url_ + path).c_str());
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method);
    if (!body.empty()) {
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.c_str());
    }
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &reply.body);
    if (curl_easy_perform(easy_) == CURLE_OK) curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &reply.status);
    return reply;
  }

 private:
  std::string url_;
  CURL* easy_;
};

class EvaluationServiceTest : public ::testing::Test {
 protected:
  EvaluationServiceTest() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    Task task;
    task.name = "count";
    task.backend = "command";
    task.digest = digest_of("count");
    options_.tasks = {std::make_shared<const Task>(std::move(task))};
    options_.make_evaluator = [this](const Task&) -> Result<std::shared_ptr<Evaluator>> {
      return blocking(
          [this](const EvaluationJob& job) {
            const std::lock_guard lock(mutex_);
            ++evaluated_[std::string(job.source.main_text())];
            return std::stod(std::string(job.source.main_text()));
          },
          2);
    };
  }

  std::string start() {
    auto service = EvaluationService::start(options_);
    EXPECT_TRUE(service) << describe(service.error());
    service_ = std::move(*service);
    return service_->url();
  }

  ServiceOptions options_;
  std::mutex mutex_;
  std::map<std::string, int> evaluated_;
  std::unique_ptr<EvaluationService> service_;
};

Json request(int number) {
  return {{"task_id", "id-" + std::to_string(number)}, {"kernel_code", std::to_string(number)}};
}

TEST_F(EvaluationServiceTest, NoneOfAThousandRequestsIsLostOrDoneTwice) {
  const std::string url = start();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> clients;
    for (int first = 0; first < kClients; ++first)
      clients.emplace_back([&, first] {
        Client client(url);
        for (int i = first; i < kRequests; i += kClients) client.post("/evaluate", request(i));
        for (int i = first; i < kRequests; i += kClients) {
          client.post("/evaluate", request(i));  // as a client does that lost the first answer
          const Reply reply = client.get("/results/id-" + std::to_string(i) + "?wait=60");
          right +=
              reply.status == 200 && reply.json()["status"] == "completed" && reply.json()["speedup"] == i;
        }
      });
  }
  EXPECT_EQ(right, kRequests);
  EXPECT_EQ(evaluated_.size(), kRequests);
  for (const auto& [candidate, times] : evaluated_) EXPECT_EQ(times, 1) << candidate;
}

TEST_F(EvaluationServiceTest, WhatCanEvaluateNothingIsNotHealthy) {
  options_.backends["command"].hardware = [] { return std::string(kNoGpu); };
  const auto health = Client(start()).get("/health").json();
  EXPECT_EQ(health["status"], "unhealthy");
  EXPECT_EQ(health["backends"], Json({{"command", "no GPU"}}));
}

TEST_F(EvaluationServiceTest, WhereNothingCanBeEvaluatedClientsAreAskedToComeAgain) {
  options_.backends["command"].hardware = [] { return std::string(kNoGpu); };
  Client client(start());
  const Reply one = client.post("/evaluate", request(1));
  EXPECT_EQ(one.status, 503);
  EXPECT_EQ(one.json()["error_code"], "RESOURCE_ERROR");
  EXPECT_THAT(one.json()["detail"].get<std::string>(), HasSubstr("nothing for the backend command"));
  EXPECT_EQ(client.post("/evaluate/batch", {{"tasks", {request(1)}}}).status, 503);
  EXPECT_EQ(client.get("/status/id-1").status, 404) << "it was not taken";
}

TEST_F(EvaluationServiceTest, WhatAFleetEvaluatesIsNotThisMachines) {
  options_.backends["command"].hardware = [] { return std::string(kNoGpu); };
  options_.is_local = false;
  EXPECT_EQ(Client(start()).get("/health").json()["status"], "healthy");
}

TEST_F(EvaluationServiceTest, EveryEndpointAnswers) {
  Client client(start());
  const Reply taken = client.post("/evaluate?wait=60", request(5));
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(taken.json()["status"], "completed");
  EXPECT_EQ(client.get("/status/id-5").json()["status"], "completed");
  EXPECT_EQ(client.ask("DELETE", "/tasks/id-5", "").json()["status"], "completed");
  EXPECT_EQ(client.get("/health").json()["total_processed"], 1);
  EXPECT_EQ(client.get("/queue/status").json()["completed"], 1);
  EXPECT_EQ(client.get("/workers/status").json()["workers"].size(), 4);
  EXPECT_EQ(client.get("/").json()["tasks"], Json({"count"}));
  const std::string metrics = client.get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("kernelsmith_requests_finished_total{state=\"completed\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("kernelsmith_evaluation_seconds_count 1\n"));
  EXPECT_THAT(metrics,
              HasSubstr("kernelsmith_http_requests_total{route=\"POST /evaluate\",status=\"200\"} 1\n"));
  const Json batch =
      client.post("/evaluate/batch", {{"batch_id", "b"}, {"tasks", {request(5), request(6)}}}).json();
  EXPECT_EQ(batch["total_tasks"], 2);
  EXPECT_EQ(batch["results"][0]["status"], "completed");
}

TEST_F(EvaluationServiceTest, MistakesAreAnsweredWithWhatToDo) {
  Client client(start());
  const auto detail = [](const Reply& reply) {
    return std::to_string(reply.status) + " " + reply.json()["detail"].get<std::string>();
  };
  EXPECT_THAT(detail(client.ask("POST", "/evaluate", "{")), HasSubstr("400 the body is not JSON"));
  EXPECT_EQ(detail(client.post("/evaluate", {{"task_id", "a"}})),
            "422 kernel_code: 1 to 100000 characters are expected, not 0");
  EXPECT_EQ(detail(client.post("/evaluate?wait=x", request(1))),
            "422 wait: a whole number of seconds up to 3600 is expected");
  EXPECT_EQ(detail(client.get("/status/unknown")), "404 no request has this id");
  EXPECT_EQ(detail(client.get("/results/unknown")), "404 no request has this id");
  EXPECT_EQ(detail(client.ask("DELETE", "/tasks/unknown", "")), "404 no request has this id");
  client.post("/evaluate", request(2));
  Json other = request(2);
  other["timeout"] = 20;
  EXPECT_EQ(detail(client.post("/evaluate", other)), "409 the id 'id-2' is that of another request");
  EXPECT_EQ(detail(client.post("/evaluate/batch", {{"tasks", {other}}})),
            "409 the id 'id-2' is that of another request");
}

TEST_F(EvaluationServiceTest, TwoTasksOfOneNameAreRefused) {
  options_.tasks.push_back(options_.tasks.front());
  EXPECT_EQ(EvaluationService::start(options_).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith
