// Two readers beside a writer: they see a prefix of the history, never a half of a transaction.
#include <atomic>
#include <thread>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

constexpr std::uint64_t kBatch = 4;
constexpr std::uint64_t kBatches = 60;

std::uint64_t checked_length(const RunStore& store) {
  std::uint64_t length = 0;
  const Status status = store.replay(0, [&](std::uint64_t position, const Event& event) {
    EXPECT_EQ(event, numbered_event(position));
    length = position;
    return Status();
  });
  EXPECT_TRUE(status) << describe(status.error());
  EXPECT_EQ(length % kBatch, 0u);
  return length;
}

TEST(Readers, SeeWholeTransactionsWhileTheWriterGoesOn) {
  const TemporaryFolder folder;
  const auto writer = RunStore::create(folder / "r", "").value();
  std::atomic<bool> done = false;
  const auto follow = [&] {
    const auto reader = RunStore::open_read_only(folder / "r").value();
    std::uint64_t before = 0;
    while (!done) {
      const std::uint64_t now = checked_length(*reader);
      EXPECT_GE(now, before);
      before = now;
    }
    EXPECT_EQ(checked_length(*reader), kBatch * kBatches);
  };
  std::jthread first(follow), second(follow);
  for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
    std::vector<Event> events;
    for (std::uint64_t i = 1; i <= kBatch; ++i) events.push_back(numbered_event(batch * kBatch + i));
    const Status appended = writer->append(events);
    EXPECT_TRUE(appended) << describe(appended.error());
  }
  done = true;
}

}  // namespace
}  // namespace kernelsmith
