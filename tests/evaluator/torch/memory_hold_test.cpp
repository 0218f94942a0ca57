// Bytes that a task keeps from use to use, until somebody waits for them.
#include "memory_hold.hpp"

#include <atomic>
#include <thread>

#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "plan_figures.hpp"
#include "testing.hpp"

namespace kernelsmith::torch {
namespace {

constexpr double kAtOnce = 0, kNever = 1e9, kNotAtAll = 0;

class MemoryHoldTest : public ::testing::Test {
 protected:
  MemoryHold hold(double turn_s) {
    return {memory(), [this] { ++given_back_; }, {}, turn_s};
  }
  DeviceMemory memory() const { return {"gpu", 80, folder_.path()}; }
  bool has_room(std::uint64_t bytes) const {
    const DeviceMemory others = memory();
    return others.take(bytes, {}, {}, kNotAtAll).has_value();
  }

  ScratchFolder folder_ = ScratchFolder::create().value();
  std::atomic<int> given_back_ = 0;
};

TEST_F(MemoryHoldTest, IsKeptWhileNobodyWaits) {
  MemoryHold mine = hold(kNever);
  for (int use = 0; use < 2; ++use) {
    ASSERT_TRUE(mine.begin(60, {}));
    mine.end();
  }
  EXPECT_FALSE(has_room(30));
  EXPECT_TRUE(has_room(20));
  EXPECT_EQ(given_back_, 0);
}

TEST_F(MemoryHoldTest, IsGivenBackByAnIdleTaskIfSomebodyWaits) {
  MemoryHold mine = hold(kAtOnce);
  ASSERT_TRUE(mine.begin(60, {}));
  mine.end();
  const DeviceMemory others = memory();
  EXPECT_TRUE(others.take(80, {})) << "it waits until the watcher looks";
  EXPECT_EQ(given_back_, 1);
  EXPECT_TRUE(mine.begin(10, {}));
}

TEST_F(MemoryHoldTest, WhatIsInUseStays) {
  MemoryHold mine = hold(kAtOnce);
  ASSERT_TRUE(mine.begin(60, {}));
  EXPECT_FALSE(has_room(30));
  EXPECT_EQ(given_back_, 0);
}

TEST_F(MemoryHoldTest, ATaskThatEndsFreesCachesWhileItStillHoldsTheMemory) {
  bool had_room = true;
  {
    MemoryHold mine(memory(), [&] { had_room = has_room(30); });
    ASSERT_TRUE(mine.begin(60, {}));
  }
  EXPECT_FALSE(had_room);
  EXPECT_TRUE(has_room(80));
}

TEST_F(MemoryHoldTest, MoreIsTakenAtOnceIfItFits) {
  MemoryHold mine = hold(kNever);
  ASSERT_TRUE(mine.begin(30, {}));
  mine.end();
  ASSERT_TRUE(mine.begin(1000, {})) << "as much as there is";
  EXPECT_EQ(given_back_, 0);
  EXPECT_FALSE(has_room(1));
  mine.end(false);
  EXPECT_EQ(given_back_, 1);
  EXPECT_TRUE(has_room(80));
}

TEST_F(MemoryHoldTest, WhoWaitsForMoreHoldsNothing) {
  MemoryHold mine = hold(kNever);
  ASSERT_TRUE(mine.begin(30, {}));
  mine.end();
  const DeviceMemory others = memory();
  auto theirs = std::make_unique<DeviceMemory::Held>(others.take(40, {}).value());
  std::jthread waiting([&] { EXPECT_TRUE(mine.begin(60, {})); });
  while (given_back_ == 0) std::this_thread::yield();
  theirs.reset();
  waiting.join();
  EXPECT_FALSE(has_room(30));
}

TEST_F(MemoryHoldTest, LessIsHeldByWhoNeedsLess) {
  MemoryHold mine = hold(kNever);
  ASSERT_TRUE(mine.begin(60, {}));
  mine.end();
  ASSERT_TRUE(mine.begin(30, {}));
  EXPECT_TRUE(has_room(50));
}

std::string plan_of(const std::string& json) {
  std::string size(4, '\0');
  for (int i = 0; i < 4; ++i) size[i] = static_cast<char>(json.size() >> 8 * i & 0xff);
  return "KSTORCH1" + size + json;
}

TEST(GuessOfNeed, IsByShapesAndTypes) {
  const CallBytes call = bytes_of_call(plan_of(
      R"({"inputs": [{"dtype": "float32", "shape": [2, 3]}, {"dtype": "bool", "shape": [5]}],
          "alternatives": [{"outputs": [{"dtype": "float8_e4m3fn", "shape": []}, {"dtype": "complex64", "shape": [7]}]}]})"));
  EXPECT_EQ(call.inputs, 29U);
  EXPECT_EQ(call.outputs, 57U);
  EXPECT_EQ(guess_of_need(call) - guess_of_need({}), 4U * 86);
}

TEST(GuessOfNeed, OfNonsenseIsThatOfNoCall) {
  for (const std::string plan : {"", "KSTORCH1", "no plan at all"}) EXPECT_EQ(bytes_of_call(plan).inputs, 0U);
  EXPECT_EQ(bytes_of_call(plan_of(R"({"inputs": [{"dtype": "float32", "shape": [-1, "x"]}]})")).inputs, 0U);
  const CallBytes huge =
      bytes_of_call(plan_of(R"({"inputs": [{"dtype": "float64", "shape": [999999999999, 999999999999]}]})"));
  EXPECT_GT(guess_of_need(huge), huge.inputs) << "no overflow";
}

}  // namespace
}  // namespace kernelsmith::torch
