// Several tasks at once: each is prepared once for all its jobs, and the one that was idle for the longest
// time goes for a new one.
#include <mutex>

#include <kernelsmith/evaluator/prepared_tasks.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>

#include "fake_backend.hpp"

namespace kernelsmith {
namespace {

TaskPtr task_named(const std::string& name) {
  auto task = std::make_shared<Task>();
  task->name = name;
  task->digest = digest_of(name);
  return task;
}

/// All tasks share one fake, so that it sees what runs at a time.
class PreparedTasksTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<Evaluator>> prepare(const Task& task) {
    {
      const std::lock_guard lock(mutex_);
      prepared_.push_back(task.name);
    }
    if (task.name == "refused") return fail(ErrorCode::refused, "no such kernel");
    return make_staged_evaluator(task_named(task.name), backend_,
                                 {.run_slots = 2, .compile_while_running = true});
  }

  std::unique_ptr<PreparedTasks> make(std::size_t room) {
    return std::make_unique<PreparedTasks>([this](const Task& task) { return prepare(task); }, room);
  }

  static std::future<Result<Evaluation>> start(PreparedTasks& tasks, const std::string& task,
                                               const std::string& text = "x") {
    EvaluationJob job;
    job.task = digest_of(task);
    job.source = *Source::create({{"k.cpp", text}});
    return answer_of<Evaluation>(
        [&](auto done) { tasks.start(task_named(task), std::move(job), {}, std::move(done), [](bool) {}); });
  }

  static bool accepted(PreparedTasks& tasks, const std::string& task) {
    const auto answer = start(tasks, task).get();
    return answer && answer->accepted();
  }

  std::mutex mutex_;
  std::vector<std::string> prepared_;
  std::shared_ptr<FakeBackend> backend_ = std::make_shared<FakeBackend>();
};

TEST_F(PreparedTasksTest, PreparesEachTaskOnceWithItsFirstJob) {
  const auto tasks = make(2);
  EXPECT_EQ(tasks->prepared(), 0U);
  for (const char* task : {"a", "b", "a", "b", "a"}) EXPECT_TRUE(accepted(*tasks, task));
  EXPECT_EQ(prepared_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(PreparedTasksTest, PreparesOnceForJobsThatComeTogether) {
  const auto tasks = make(2);
  std::vector<std::future<Result<Evaluation>>> answers;
  for (int i = 0; i < 30; ++i) answers.push_back(start(*tasks, i % 2 == 0 ? "a" : "b", std::to_string(i)));
  for (auto& answer : answers) EXPECT_TRUE(answer.get()->accepted());
  EXPECT_EQ(prepared_.size(), 2U);
}

TEST_F(PreparedTasksTest, DropsTheLeastRecentlyUsedTask) {
  const auto tasks = make(2);
  for (const char* task : {"a", "b", "a", "c", "a", "b"}) EXPECT_TRUE(accepted(*tasks, task));
  EXPECT_EQ(prepared_, (std::vector<std::string>{"a", "b", "c", "b"}));
}

TEST_F(PreparedTasksTest, ATaskWaitsForTheRoomOfOneInUse) {
  Gate gate;
  backend_->run_gate = &gate;
  const auto tasks = make(1);
  auto first = start(*tasks, "a");
  gate.await(1);
  auto second = start(*tasks, "b");
  EXPECT_FALSE(tasks->has_room_for(digest_of("c")));
  EXPECT_EQ(prepared_, std::vector<std::string>{"a"});
  gate.open();
  EXPECT_TRUE(first.get()->accepted());
  EXPECT_TRUE(second.get()->accepted());
}

TEST_F(PreparedTasksTest, TellsWhyATaskCannotBePreparedToEachJob) {
  const auto tasks = make(2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(start(*tasks, "refused").get().error().code, ErrorCode::refused);
  EXPECT_EQ(prepared_.size(), 2U) << "it may be mended meanwhile";
  EXPECT_TRUE(accepted(*tasks, "a"));
}

}  // namespace
}  // namespace kernelsmith
