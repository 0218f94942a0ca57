// Engine::open: the engine over a run folder.

#include <filesystem>
#include <mutex>
#include <set>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <kernelsmith/store/run_store.hpp>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

class Open : public ::testing::Test {
 protected:
  Open() {
    std::string name = (std::filesystem::temp_directory_path() / "kernelsmith-engine-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Open() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path run() const { return folder_ / "toy.run"; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Open, CreatesThenResumes) {
  const auto options = toy_options(20);
  std::stop_source stop;
  {
    auto engine = Engine::open(run(), options, blocking(score), blocking(nudge));
    ASSERT_TRUE(engine) << describe(engine.error());
    const auto outcome = engine->run(
        [&](const Commit& commit) {
          if (commit.ticket.value == 5) stop.request_stop();
        },
        stop.get_token());
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->reason, EndReason::stopped);
  }
  auto engine = Engine::open(run(), options, blocking(score), blocking(nudge));
  ASSERT_TRUE(engine) << describe(engine.error());
  EXPECT_GE(engine->outcome().counts.iterations, 1U);
  EXPECT_EQ(engine->run()->counts.iterations, 20U);

  const auto store = RunStore::open_read_only(run());
  ASSERT_TRUE(store);
  EXPECT_TRUE((*store)->integrity_check());
  EXPECT_EQ(replay(**store, options)->to_text(), text_of(*engine));
}

TEST_F(Open, JobsNameTheRunAndTheTask) {
  auto options = toy_options(3);
  options.task = digest_of("a task");
  std::mutex mutex;
  std::set<std::string> runs;
  std::set<Digest> tasks;
  auto engine = Engine::open(run(), options, blocking([&](const EvaluationJob& job) {
                               const std::lock_guard lock(mutex);
                               runs.insert(job.run);
                               tasks.insert(job.task);
                               return score(job);
                             }),
                             blocking(nudge));
  ASSERT_TRUE(engine->run());
  EXPECT_EQ(runs, (std::set<std::string>{RunStore::open_read_only(run()).value()->run_id()}));
  EXPECT_EQ(tasks, (std::set<Digest>{options.task}));
}

TEST_F(Open, AnEmptyFolderBecomesARun) {
  std::filesystem::create_directory(run());
  const auto engine = Engine::open(run(), toy_options());
  EXPECT_TRUE(engine) << describe(engine.error());
}

TEST_F(Open, AFolderThatIsNoRunIsLeftAlone) {
  std::filesystem::create_directories(run() / "holiday");
  EXPECT_FALSE(Engine::open(run(), toy_options()));
  EXPECT_TRUE(std::filesystem::exists(run() / "holiday"));
}

TEST_F(Open, ARunHasOneWriter) {
  const auto first = Engine::open(run(), toy_options());
  ASSERT_TRUE(first);
  const auto second = Engine::open(run(), toy_options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
}

}  // namespace
}  // namespace kernelsmith
