#include <gtest/gtest.h>

#include <kernelsmith/llm/pacing.hpp>

namespace kernelsmith {
namespace {

using namespace std::chrono_literals;

const Pacer::Instant kStart{1000s};

TEST(Bucket, HoldsAMinutesWorthAndRefillsEvenly) {
  Bucket bucket(60, kStart);
  EXPECT_EQ(bucket.wait_for(60, kStart), 0ms);
  bucket.take(60, kStart);
  EXPECT_EQ(bucket.wait_for(1, kStart), 1000ms);
  EXPECT_EQ(bucket.wait_for(1, kStart + 1s), 0ms);
  EXPECT_EQ(bucket.wait_for(61, kStart + 1h), 0ms) << "more than it holds waits for a full one";
  bucket.take(120, kStart + 1h);
  EXPECT_EQ(bucket.wait_for(60, kStart + 1h), 120s);
}

TEST(Pacer, KeepsTheUsersRates) {
  Pacer pacer({.requests_per_minute = 2, .tokens_per_minute = 1000}, kStart);
  EXPECT_EQ(pacer.wait_for(600, kStart), 0ms);
  pacer.begun(600, kStart);
  EXPECT_EQ(pacer.wait_for(600, kStart), 12s) << "for 200 tokens";
  EXPECT_EQ(pacer.wait_for(400, kStart), 0ms);
  pacer.begun(400, kStart);
  EXPECT_EQ(pacer.wait_for(0, kStart), 30s) << "for a request";
}

TEST(Pacer, HoldsWhileTheServerAsksForIt) {
  Pacer pacer({}, kStart);
  pacer.hold_until(kStart + 10s);
  pacer.hold_until(kStart + 5s);
  EXPECT_EQ(pacer.wait_for(1, kStart + 1s), 9s);
  EXPECT_EQ(pacer.wait_for(1, kStart + 10s), 0ms);
}

TEST(Pacer, TheWindowIsHalvedOnceForCallsSentTogetherAndGrowsSlowly) {
  Pacer pacer({.concurrency = 16}, kStart);
  for (int i = 0; i < 16; ++i) pacer.begun(1, kStart);
  EXPECT_EQ(pacer.wait_for(1, kStart), std::nullopt);
  for (std::uint64_t call = 0; call < 16; ++call) pacer.ended(call, Pacer::End::overloaded);
  EXPECT_EQ(pacer.window(), 8u);
  EXPECT_EQ(pacer.in_flight(), 0u);

  const auto next = pacer.begun(1, kStart);
  pacer.ended(next, Pacer::End::overloaded);
  EXPECT_EQ(pacer.window(), 4u);
  pacer.ended(pacer.begun(1, kStart), Pacer::End::hinted);
  EXPECT_EQ(pacer.window(), 4u);
  for (int i = 0; i < 5; ++i) pacer.ended(pacer.begun(1, kStart), Pacer::End::success);
  EXPECT_EQ(pacer.window(), 5u);
  for (int i = 0; i < 1000; ++i) pacer.ended(pacer.begun(1, kStart), Pacer::End::success);
  EXPECT_EQ(pacer.window(), 16u) << "never wider than configured";
  for (int i = 0; i < 10; ++i) pacer.ended(pacer.begun(1, kStart), Pacer::End::overloaded);
  EXPECT_EQ(pacer.window(), 1u) << "never closed";
}

}  // namespace
}  // namespace kernelsmith
