// A disk that fills up: an append fails as a whole, and succeeds again when there is room. The disk is played
// by the limit on file sizes, in a child process because it cannot be undone for a hard limit.
#include <csignal>
#include <cstdio>
#include <functional>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

/// No file may grow beyond `bytes`; the next write fails with EFBIG.
void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// Runs `body` in a child, which reports its failed expectations by its exit status.
void in_a_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Status append_one(RunStore& store, std::uint64_t n) {
  const Event event = numbered_event(n);
  return store.append({&event, 1});
}

TEST(DiskFull, AnAppendFailsAsAWholeAndSucceedsLater) {
  const TemporaryFolder folder;
  in_a_child([&] {
    const auto store = RunStore::create(folder / "r", "").value();
    limit_file_size(800000);
    std::uint64_t n = 1;
    Status status = append_one(*store, n);
    while (status && n < 1000) status = append_one(*store, ++n);
    ASSERT_FALSE(status) << "the limit was never reached";
    EXPECT_EQ(status.error().code, ErrorCode::disk_full) << describe(status.error());
    EXPECT_FALSE(status.error().hint.empty());
    EXPECT_EQ(store->last_position().value(), n - 1);
    EXPECT_EQ(append_one(*store, n).error().code, ErrorCode::disk_full);

    limit_file_size(RLIM_INFINITY);
    const Status retried = append_one(*store, n);
    EXPECT_TRUE(retried) << describe(retried.error());
    EXPECT_TRUE(store->integrity_check());
  });
  const auto store = RunStore::open(folder / "r").value();
  EXPECT_TRUE(store->integrity_check());
  const auto events = events_of(*store);
  EXPECT_GT(events.size(), 10u);
  for (std::size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i], numbered_event(i + 1));
}

TEST(DiskFull, TheBestStaysWhatItWas) {
  const TemporaryFolder folder;
  in_a_child([&] {
    const auto store = RunStore::create(folder / "r", "old").value();
    const Individual best{std::make_shared<Program>(), sample::acceptance()};
    ASSERT_TRUE(store->write_best(best, "old"));
    limit_file_size(1000);
    const std::string large(2000, 'x');
    EXPECT_EQ(store->write_best(best, large).error().code, ErrorCode::disk_full);
    EXPECT_EQ(store->write_configuration(large).error().code, ErrorCode::disk_full);
    EXPECT_EQ(store->configuration().value(), "old");
    EXPECT_EQ(std::filesystem::file_size(store->best_folder() / "report.json"), 3u);
  });
}

TEST(DiskFull, AFailedCreationLeavesNothing) {
  const TemporaryFolder folder;
  in_a_child([&] {
    limit_file_size(5000);
    const auto store = RunStore::create(folder / "r", "");
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::disk_full) << describe(store.error());
  });
  EXPECT_FALSE(std::filesystem::exists(folder / "r"));
}

TEST(DiskFull, ACreationWhoseFurtherFilesDoNotFitLeavesNothing) {
  const TemporaryFolder folder;
  in_a_child([&] {
    limit_file_size(60000);
    const SourceFile large{"task/large", std::string(70000, 'x')};
    const auto store = RunStore::create(folder / "r", "", Durability::process, {&large, 1});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::disk_full) << describe(store.error());
  });
  EXPECT_FALSE(std::filesystem::exists(folder / "r"));
}

}  // namespace
}  // namespace kernelsmith
