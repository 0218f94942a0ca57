// What the tests of the fleet share: a task, jobs of it, workers in threads, and answers that are waited for.
#pragma once

#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/fleet/fleet_evaluator.hpp>
#include <kernelsmith/fleet/worker.hpp>

#include "bus.hpp"
#include "nats_server.hpp"

namespace kernelsmith::testing {

using namespace std::chrono_literals;

inline Task hill(const std::string& name = "hill") {
  Task task;
  task.name = name;
  task.backend = "fake";
  task.seed = Source::create({{"seed.txt", "1"}}).value();
  task.digest = task_digest(task);
  return task;
}

inline EvaluationJob job_of(const Task& task, std::uint64_t candidate, std::uint32_t attempt = 0,
                            const std::string& run = "run") {
  EvaluationJob job;
  job.run = run;
  job.candidate = {candidate};
  job.attempt = attempt;
  job.task = task.digest;
  job.source = Source::create({{"seed.txt", std::to_string(candidate)}}).value();
  return job;
}

/// A job's answer, later.
class Answer {
 public:
  Answer(Evaluator& evaluator, EvaluationJob job) : answer_(promise_->get_future()) {
    evaluator.start(std::move(job), stop_.get_token(), [promise = promise_](Result<Evaluation> answer) {
      promise->set_value(std::move(answer));
    });
  }

  Result<Evaluation> wait() { return answer_.get(); }
  /// The fitness, or nothing for anything else.
  std::optional<double> fitness() {
    const auto answer = wait();
    if (!answer) ADD_FAILURE() << describe(answer.error());
    if (!answer || !answer->metrics()) return std::nullopt;
    return answer->metrics()->fitness().median;
  }
  ErrorCode error() {
    const auto answer = wait();
    EXPECT_FALSE(answer) << "an evaluation, where an Error was expected";
    return answer ? ErrorCode::internal : answer.error().code;
  }
  void stop() { stop_.request_stop(); }

 private:
  std::shared_ptr<std::promise<Result<Evaluation>>> promise_ =
      std::make_shared<std::promise<Result<Evaluation>>>();
  std::future<Result<Evaluation>> answer_;
  std::stop_source stop_;
};

/// A fitness that is the candidate's number.
inline Result<Evaluation> own_number(const EvaluationJob& job) {
  return as_evaluation(static_cast<double>(job.candidate.value));
}

/// A worker in a thread, which ends with it.
class TestWorker {
 public:
  TestWorker(const std::string& url, EvaluationFunction evaluate, std::string hardware = "",
             unsigned slots = 1, std::chrono::milliseconds rest = 60s) {
    WorkerOptions options;
    options.server = parse_fleet_server(url).value();
    options.name = "worker " + hardware;
    options.ack_wait = 5s;  // longer than a busy machine lets a thread wait
    options.announce_every = 1s;
    options.rest = rest;
    options.backends = {{"fake", std::move(hardware), slots,
                         [evaluate, slots](const Task&) { return blocking_evaluator(evaluate, slots); }}};
    options.tell = [this](const Notice& notice) {
      const std::lock_guard lock(mutex_);
      told_ += notice.message + "\n";
      changed_.notify_all();
    };
    thread_ = std::jthread([this, options] { ended_ = run_worker(options, stop_.get_token()); });
  }
  ~TestWorker() { end(); }
  TestWorker(const TestWorker&) = delete;
  TestWorker& operator=(const TestWorker&) = delete;

  /// In order: it finishes what it runs.
  Result<WorkerSummary> end() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
    return ended_;
  }
  void ask_to_end() { stop_.request_stop(); }
  /// Waits for a worker that ends by itself.
  Result<WorkerSummary> wait() {
    if (thread_.joinable()) thread_.join();
    return ended_;
  }

  std::string wait_for(const std::string& text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_.find(text) != std::string::npos; });
    return told_;
  }

 private:
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string told_;
  Result<WorkerSummary> ended_ = WorkerSummary{};
  std::jthread thread_;
};

/// A connection to a server, beside a worker's and a coordinator's.
inline Result<std::shared_ptr<fleet::Bus>> connected(const std::string& url,
                                                     std::function<void(const std::string&)> tell = {}) {
  return fleet::connect({.server = parse_fleet_server(url).value(), .name = "test", .tell = std::move(tell)},
                        {});
}

/// A test with a server of its own; skipped if none is installed.
class FleetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::is_installed()) GTEST_SKIP() << "nats-server is not installed";
    server_.emplace();
  }

  FleetOptions options(std::chrono::milliseconds patience = 60s) const {
    FleetOptions options;
    options.server = parse_fleet_server(server_->url()).value();
    options.patience = patience;
    return options;
  }
  std::shared_ptr<Evaluator> fleet(const Task& task) const { return fleet(task, options()); }
  static std::shared_ptr<Evaluator> fleet(const Task& task, const FleetOptions& options) {
    return make_fleet_evaluator(task, options).value();
  }

  std::optional<NatsServer> server_;
};

}  // namespace kernelsmith::testing
