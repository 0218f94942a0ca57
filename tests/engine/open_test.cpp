// Engine::open: the engine over a run folder.

#include <filesystem>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include <kernelsmith/store/run_store.hpp>

#include "temporary_folder.hpp"
#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

class Open : public ::testing::Test {
 protected:
  std::filesystem::path run() const { return folder_ / "toy.run"; }

 private:
  TemporaryFolder folder_;
};

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

}  // namespace
}  // namespace kernelsmith
