// A writer is killed at random moments: what it was told is there, and nothing is there by half.
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/core/rng.hpp>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

constexpr std::uint64_t kBatch = 3;
constexpr std::uint64_t kMostAcknowledgements = 30;
constexpr std::uint64_t kNewBestEvery = 10;  ///< batches; each flushes the disk

/// Appends batches for ever, and sends a byte after each. Runs in a child process, which it never leaves.
[[noreturn]] void write_until_killed(const std::filesystem::path& run, int acknowledge) {
  const auto store = RunStore::open(run);
  if (!store) _exit(1);
  for (std::uint64_t next = (*store)->last_position().value() + 1;; next += kBatch) {
    std::vector<Event> events;
    for (std::uint64_t i = 0; i < kBatch; ++i) events.push_back(numbered_event(next + i));
    if (!(*store)->append(events)) _exit(2);
    if (::write(acknowledge, "+", 1) != 1) _exit(3);
    if (next / kBatch % kNewBestEvery != 0) continue;
    const Individual best{std::make_shared<Program>(Program{{next}, sample::source(), {}, Origin::seed}),
                          sample::acceptance()};
    if (!(*store)->write_best(best, "{}")) _exit(4);
  }
}

/// Kills a writer after it acknowledged `enough` batches, and returns how many it did in all.
std::uint64_t kill_a_writer(const std::filesystem::path& run, std::uint64_t enough) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_until_killed(run, ends[1]);
  }
  ::close(ends[1]);
  std::uint64_t acknowledged = 0;
  char byte = 0;
  while (acknowledged < enough && ::read(ends[0], &byte, 1) == 1) ++acknowledged;
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
  while (::read(ends[0], &byte, 1) == 1) ++acknowledged;
  ::close(ends[0]);
  return acknowledged;
}

TEST(Kill, LosesNothingThatWasAcknowledged) {
  const TemporaryFolder folder;
  const auto run = folder / "r";
  RunStore::create(run, "").value();
  Rng rng(20, 0, Purpose::sampling);
  std::uint64_t known = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    known += kBatch * kill_a_writer(run, rng.below(kMostAcknowledgements));
    const auto store = RunStore::open(run).value();
    const Status intact = store->integrity_check();
    ASSERT_TRUE(intact) << describe(intact.error());
    const std::uint64_t last = store->last_position().value();
    EXPECT_GE(last, known);
    EXPECT_LE(last, known + kBatch) << "at most the batch whose acknowledgement did not get out";
    EXPECT_EQ(last % kBatch, 0u);
    known = last;
  }
  const auto store = RunStore::open(run).value();
  const auto events = events_of(*store);
  for (std::size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i], numbered_event(i + 1));
  EXPECT_TRUE(store->write_best({std::make_shared<Program>(), sample::acceptance()}, "{}"));
}

}  // namespace
}  // namespace kernelsmith
