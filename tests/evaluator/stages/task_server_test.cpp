// Several tasks at once: each is prepared once, the oldest goes for a new one, and a device has one run at a
// time whichever task's.
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/evaluator/staged_evaluator.hpp>

#include "fake_backend.hpp"

namespace kernelsmith {
namespace {

std::shared_ptr<const Task> task_named(const std::string& name) {
  auto task = std::make_shared<Task>();
  task->name = name;
  task->digest = digest_of(name);
  return task;
}

EvaluationJob job_of(const std::string& task, const std::string& text) {
  EvaluationJob job;
  job.task = digest_of(task);
  job.source = *Source::create({{"k.cpp", text}});
  return job;
}

/// All tasks share one fake, so that it sees what runs at a time.
class TaskServerTest : public ::testing::Test {
 protected:
  std::shared_ptr<TaskServer> make(EvaluatorOptions options = {}) {
    auto server = make_task_server(
        [this](const std::shared_ptr<const Task>& task) -> Result<std::shared_ptr<Backend>> {
          const std::lock_guard lock(mutex_);
          prepared_.push_back(task->name);
          if (backend_->running > 0) prepared_beside_a_run_ = true;
          if (task->name == "refused") return fail(ErrorCode::refused, "no such kernel");
          return backend_;
        },
        options);
    for (const char* name : {"a", "b", "c", "refused"}) server->add(task_named(name));
    return server;
  }

  bool accepted(Evaluator& server, const std::string& task, const std::string& text = "x") {
    const auto answer = start(server, job_of(task, text)).get();
    return answer && answer->accepted();
  }

  std::mutex mutex_;
  std::vector<std::string> prepared_;
  std::atomic<bool> prepared_beside_a_run_{false};
  std::shared_ptr<FakeBackend> backend_ = std::make_shared<FakeBackend>();
};

TEST_F(TaskServerTest, PreparesEachTaskOnceWithItsFirstJob) {
  const auto server = make();
  EXPECT_TRUE(prepared_.empty());
  for (const char* task : {"a", "b", "a", "b", "a"}) EXPECT_TRUE(accepted(*server, task));
  EXPECT_EQ(prepared_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(TaskServerTest, PreparesOnceForJobsThatComeTogether) {
  const auto server = make({.compile_slots = 2, .run_slots = 3, .compile_while_running = true});
  std::vector<std::future<Result<Evaluation>>> answers;
  for (int i = 0; i < 30; ++i)
    answers.push_back(start(*server, job_of(i % 2 == 0 ? "a" : "b", std::to_string(i))));
  for (auto& answer : answers) EXPECT_TRUE(answer.get()->accepted());
  EXPECT_EQ(prepared_.size(), 2U);
}

TEST_F(TaskServerTest, DropsTheLeastRecentlyUsedTask) {
  const auto server = make({.prepared_tasks = 2});
  for (const char* task : {"a", "b", "a", "c", "a", "b"}) EXPECT_TRUE(accepted(*server, task));
  EXPECT_EQ(prepared_, (std::vector<std::string>{"a", "b", "c", "b"}));
}

TEST_F(TaskServerTest, ATaskInUseOutlivesItsPlace) {
  Gate gate;
  backend_->run_gate = &gate;
  const auto server = make({.run_slots = 2, .compile_while_running = true, .prepared_tasks = 1});
  auto first = start(*server, job_of("a", "x"));
  gate.await(1);
  auto second = start(*server, job_of("b", "x"));
  gate.await(2);
  gate.open();
  EXPECT_TRUE(first.get()->accepted());
  EXPECT_TRUE(second.get()->accepted());
}

TEST_F(TaskServerTest, ADeviceHasOneRunWhicheverTask) {
  const auto server = make({.compile_slots = 2, .run_slots = 1, .compile_while_running = true});
  std::vector<std::future<Result<Evaluation>>> answers;
  for (int i = 0; i < 60; ++i)
    answers.push_back(start(*server, job_of(i % 2 == 0 ? "a" : "b", std::to_string(i))));
  for (auto& answer : answers) EXPECT_TRUE(answer.get()->accepted());
  EXPECT_EQ(backend_->most_running, 1);
  EXPECT_FALSE(prepared_beside_a_run_) << "preparing times things too";
}

TEST_F(TaskServerTest, RunsAtATimeHaveDevicesOfTheirOwn) {
  Gate gate;
  backend_->run_gate = &gate;
  const auto server = make({.compile_slots = 1, .run_slots = 3, .compile_while_running = true});
  std::vector<std::future<Result<Evaluation>>> answers;
  for (const char* task : {"a", "b", "a", "b", "a", "b"})
    answers.push_back(start(*server, job_of(task, std::to_string(answers.size()))));
  gate.await(3);
  gate.open();
  for (auto& answer : answers) EXPECT_TRUE(answer.get()->accepted());
  EXPECT_FALSE(backend_->shared_a_device);
  EXPECT_EQ(backend_->devices_seen, (std::set<std::size_t>{0, 1, 2}));
}

TEST_F(TaskServerTest, BinariesAreTheTasksOwn) {
  const auto server = make();
  EXPECT_TRUE(accepted(*server, "a"));
  EXPECT_TRUE(accepted(*server, "b"));
  EXPECT_EQ(backend_->compilations, 2) << "the flags may differ";
  EXPECT_TRUE(accepted(*server, "a"));
  EXPECT_EQ(backend_->compilations, 2);
}

TEST_F(TaskServerTest, TellsWhyATaskCannotBePreparedToEachJob) {
  const auto server = make();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(start(*server, job_of("refused", "x")).get().error().code, ErrorCode::refused);
  EXPECT_EQ(prepared_.size(), 2U) << "it may be mended meanwhile";
  EXPECT_TRUE(accepted(*server, "a"));
}

TEST_F(TaskServerTest, RefusesATaskThatItDoesNotServe) {
  const auto server = make();
  EXPECT_EQ(start(*server, job_of("d", "x")).get().error().code, ErrorCode::invalid_argument);
  server->add(task_named("d"));
  EXPECT_TRUE(accepted(*server, "d"));
}

}  // namespace
}  // namespace kernelsmith
