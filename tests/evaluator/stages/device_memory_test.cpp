// Bytes of a device: who gets them when, and what becomes of claims.
#include <atomic>
#include <csignal>
#include <future>
#include <iterator>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/evaluator/device_memory.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

MemoryClaim holds(long pid, std::uint64_t bytes) { return {pid, 7, 0, bytes, false}; }
MemoryClaim waits(long pid, std::uint64_t bytes) { return {pid, 7, 0, bytes, true}; }

TEST(MemoryClaims, AreReadAsTheyWereWritten) {
  const std::vector<MemoryClaim> claims = {holds(1, 5), {2, 9, 3, 1ULL << 40, true}};
  EXPECT_EQ(claims_in(text_of(claims)), claims);
}

TEST(MemoryClaims, LinesThatAreNoneAreLeftOut) {
  EXPECT_EQ(claims_in("nonsense\n1 7 0 5 holds\n-1 7 0 5 holds\n2 7 0 5 owns\n3 7 0\n\n"),
            std::vector{holds(1, 5)});
  EXPECT_THAT(claims_in("\xff\x00 7 7"), IsEmpty());
}

TEST(MemoryClaims, WhatFitsBesideTheOthersIsGranted) {
  EXPECT_TRUE(is_granted({holds(1, 40), waits(2, 40)}, waits(2, 40), 80));
  EXPECT_FALSE(is_granted({holds(1, 41), waits(2, 40)}, waits(2, 40), 80));
  EXPECT_FALSE(is_granted({holds(1, 41), holds(3, 41), waits(2, 1)}, waits(2, 1), 80)) << "overbooked";
}

TEST(MemoryClaims, WhoWaitsLongestIsNext) {
  const std::vector<MemoryClaim> claims = {holds(1, 40), waits(2, 60), waits(3, 10)};
  EXPECT_FALSE(is_granted(claims, waits(3, 10), 80)) << "or large ones would wait for ever";
  EXPECT_FALSE(is_granted(claims, waits(2, 60), 80));
}

TEST(MemoryClaims, WhatFitsBesideNobodyIsGrantedAlone) {
  EXPECT_FALSE(is_granted({holds(1, 1), waits(2, 200)}, waits(2, 200), 80));
  EXPECT_TRUE(is_granted({waits(2, 200)}, waits(2, 200), 80));
}

TEST(MemoryClaims, TheLargestHolderIsNamed) {
  EXPECT_EQ(whom_it_waits_for({holds(1, 5), holds(2, 9), waits(3, 4)}, waits(3, 4)), holds(2, 9));
  EXPECT_EQ(whom_it_waits_for({waits(1, 5), waits(3, 4)}, waits(3, 4)), waits(1, 5));
  EXPECT_EQ(whom_it_waits_for({waits(3, 4)}, waits(3, 4)), std::nullopt);
}

TEST(MemoryClaims, LeaveRoomForContexts) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
  EXPECT_EQ(claimable(80 * kGib), 75 * kGib);
  EXPECT_LT(claimable(8 * kGib), 7 * kGib);
  EXPECT_EQ(claimable(kGib), 0U);
}

class DeviceMemoryTest : public ::testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(folder_.path() / "kernelsmith-gpu.memory");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ScratchFolder folder_ = ScratchFolder::create().value();
  DeviceMemory memory_{"GPU", 80, folder_.path()};
};

TEST_F(DeviceMemoryTest, WhatIsGivenBackIsTheNextOnes) {
  auto first = std::make_unique<Result<DeviceMemory::Held>>(memory_.take(60, {}));
  ASSERT_TRUE(*first) << describe(first->error());
  EXPECT_EQ((*first)->bytes(), 60U);
  EXPECT_TRUE(memory_.take(20, {})) << "there is room beside it";
  EXPECT_FALSE((*first)->is_wanted());
  std::promise<std::string> told;
  std::atomic<bool> has = false;
  std::jthread other([&] {
    const auto held = memory_.take(30, {}, [&](const std::string& words) { told.set_value(words); });
    has = held.has_value();
  });
  EXPECT_THAT(told.get_future().get(), HasSubstr("process " + std::to_string(::getpid()) + " holds"));
  EXPECT_TRUE((*first)->is_wanted());
  EXPECT_FALSE(has);
  first.reset();
  other.join();
  EXPECT_TRUE(has);
  EXPECT_THAT(text(), IsEmpty());
}

TEST_F(DeviceMemoryTest, NobodyHoldsTooMuchAtATime) {
  std::atomic<int> held = 0, most = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int turn = 0; turn < 5; ++turn) {
          const auto mine = memory_.take(30, {});
          ASSERT_TRUE(mine) << describe(mine.error());
          most = std::max<int>(most, held += 30);
          held -= 30;
        }
      });
  }
  EXPECT_LE(most, 80);
}

TEST_F(DeviceMemoryTest, WhoGivesUpLeavesTheQueue) {
  const auto all = memory_.take(80, {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(memory_.take(1, stop.get_token()).error().code, ErrorCode::cancelled);
  const auto busy = memory_.take(std::uint64_t{50}, {}, {}, 0);
  EXPECT_EQ(busy.error().code, ErrorCode::busy);
  EXPECT_THAT(busy.error().message, AllOf(HasSubstr("are needed"), HasSubstr(std::to_string(::getpid()))));
  EXPECT_FALSE(all->is_wanted());
}

TEST(NextToYield, IsWhoHasHeldLongestOfThoseWhoGiveBack) {
  const auto claims = [](const std::string& last) {
    return claims_in("7 1 0 10 stays\n7 1 1 10 holds\n8 1 0 10 holds\n" + last);
  };
  const auto nobody = claims(""), somebody = claims("9 1 0 10 waits\n");
  EXPECT_EQ(text_of(somebody).substr(0, 15), "7 1 0 10 stays\n");
  for (const MemoryClaim& claim : nobody) EXPECT_FALSE(is_next_to_yield(nobody, claim));
  for (const MemoryClaim& claim : somebody)
    EXPECT_EQ(is_next_to_yield(somebody, claim), claim.pid == 7 && claim.number == 1);
}

TEST_F(DeviceMemoryTest, APartIsGivenBack) {
  auto held = memory_.take(80, {});
  ASSERT_TRUE(held);
  held->lessen_to(50);
  held->lessen_to(70);
  EXPECT_EQ(held->bytes(), 50U);
  EXPECT_TRUE(memory_.take(30, {}, {}, 0));
  EXPECT_FALSE(memory_.take(31, {}, {}, 0));
}

TEST_F(DeviceMemoryTest, MoreIsTakenOnlyIfItFitsAndNobodyWaits) {
  auto held = memory_.take(30, {});
  ASSERT_TRUE(held);
  {
    const auto other = memory_.take(20, {});
    EXPECT_FALSE(held->grow_to(61));
    EXPECT_EQ(held->bytes(), 30U);
    EXPECT_TRUE(held->grow_to(60));
    EXPECT_FALSE(memory_.take(1, {}, {}, 0));
  }
  std::promise<void> waits;
  std::jthread other(
      [&] { EXPECT_TRUE(memory_.take(50, {}, [&](const std::string&) { waits.set_value(); })); });
  waits.get_future().wait();
  EXPECT_FALSE(held->grow_to(70)) << "somebody waits";
  held->lessen_to(10);
}

TEST_F(DeviceMemoryTest, WhatIsAnnouncedWaitsForNobody) {
  const auto all = memory_.take(80, {});
  EXPECT_TRUE(memory_.announce(80));
}

TEST_F(DeviceMemoryTest, WhatAKilledProcessHeldIsFree) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = memory_.take(80, {});
    static_cast<void>(!::write(told[1], held ? "h" : "x", 1));
    ::pause();
  }
  char letter = 0;
  ASSERT_EQ(::read(told[0], &letter, 1), 1);
  EXPECT_EQ(letter, 'h');
  EXPECT_FALSE(memory_.take(1, {}, {}, 0));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(memory_.take(80, {}, {}, 0));
  ::close(told[0]);
  ::close(told[1]);
}

TEST_F(DeviceMemoryTest, ADamagedFileIsNoObstacle) {
  std::ofstream(folder_.path() / "kernelsmith-gpu.memory") << std::string(3000, 'x') << "\n1 0 0 99 holds\n";
  EXPECT_TRUE(memory_.take(80, {}, {}, 0)) << "process 1 did not start at tick 0";
}

TEST_F(DeviceMemoryTest, AFolderThatIsNotThereIsToldWithItsPath) {
  const auto held = DeviceMemory("gpu", 80, "/nowhere").take(1, {});
  EXPECT_THAT(held.error().where, HasSubstr("/nowhere/kernelsmith-gpu.memory"));
}

}  // namespace
}  // namespace kernelsmith
