// A device for one at a time, whoever they are.
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/evaluator/device_lease.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

class DeviceLeaseTest : public ::testing::Test {
 protected:
  ScratchFolder folder_ = ScratchFolder::create().value();
  DeviceLease lease_{"gpu", folder_.path()};
};

TEST_F(DeviceLeaseTest, OneHoldsItAtATime) {
  std::atomic<int> holding = 0, most = 0, turns = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int turn = 0; turn < 20; ++turn) {
          const auto held = lease_.take({});
          ASSERT_TRUE(held) << describe(held.error());
          most = std::max<int>(most, ++holding);
          ++turns;
          --holding;
        }
      });
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 80);
}

TEST_F(DeviceLeaseTest, WhoWaitsComesBeforeWhoHadIt) {
  auto first = std::make_unique<Result<DeviceLease::Held>>(lease_.take({}));
  ASSERT_TRUE(*first);
  std::atomic<bool> waits = false, had = false;
  std::jthread other([&] {
    waits = true;
    const auto held = lease_.take({});
    had = true;
  });
  while (!waits) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it has the turn
  first.reset();
  const auto again = lease_.take({});
  ASSERT_TRUE(again);
  EXPECT_TRUE(had);
}

TEST_F(DeviceLeaseTest, UntimedUsesShareTheDeviceUntilATimedOneWaits) {
  using Use = DeviceLease::Use;
  auto one = std::make_unique<Result<DeviceLease::Held>>(lease_.take({}, Use::untimed));
  auto two = std::make_unique<Result<DeviceLease::Held>>(lease_.take({}, Use::untimed));
  ASSERT_TRUE(*one && *two);
  std::atomic<bool> waits = false, timed = false;
  std::jthread timing([&] {
    waits = true;
    const auto held = lease_.take({}, Use::timed);
    timed = true;
  });
  while (!waits) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it has the turn
  std::jthread untimed([&] {
    const auto held = lease_.take({}, Use::untimed);
    EXPECT_TRUE(timed);
  });
  one.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(timed);
  two.reset();
}

TEST_F(DeviceLeaseTest, WhatAKilledProcessHeldIsFree) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = lease_.take({});
    static_cast<void>(!::write(told[1], held ? "h" : "x", 1));
    ::pause();
  }
  char letter = 0;
  ASSERT_EQ(::read(told[0], &letter, 1), 1);
  EXPECT_EQ(letter, 'h');
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(lease_.take(stop.get_token()).error().code, ErrorCode::cancelled);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(lease_.take({}));
  ::close(told[0]);
  ::close(told[1]);
}

TEST_F(DeviceLeaseTest, DevicesAreApart) {
  const auto one = lease_.take({});
  ASSERT_TRUE(one);
  EXPECT_TRUE(DeviceLease("other", folder_.path()).take({}));
}

TEST_F(DeviceLeaseTest, AFolderThatIsNotThereIsToldWithItsPath) {
  const auto held = DeviceLease("gpu", "/nowhere").take({});
  EXPECT_THAT(held.error().where, HasSubstr("/nowhere/kernelsmith-gpu.turn"));
}

}  // namespace
}  // namespace kernelsmith
