#include <gtest/gtest.h>

#include <kernelsmith/llm/retry.hpp>

namespace kernelsmith {
namespace {

using namespace std::chrono_literals;

CallFailure failure(bool transient, std::optional<std::chrono::milliseconds> retry_after = {}) {
  return {fail(ErrorCode::server_failed, "the server failed"), transient, false, retry_after};
}

TEST(Retry, PausesDoubleWithFullJitterUpToTheLongest) {
  const RetryPolicy policy{.attempts = 50, .first_pause = 100ms, .longest_pause = 800ms};
  Rng rng(1, 1, Purpose::retry);
  for (unsigned failed = 1; failed < 50; ++failed) {
    const auto ceiling = std::min<std::int64_t>(800, 100LL << std::min(failed - 1, 10u));
    const auto pause = policy.pause(failed, failure(true), rng);
    ASSERT_TRUE(pause);
    EXPECT_GE(pause->count(), 0);
    EXPECT_LT(pause->count(), ceiling);
  }
}

TEST(Retry, JitterPartsThoseWhoWereTurnedAwayTogether) {
  const RetryPolicy policy;
  Rng one(1, 1, Purpose::retry), other(1, 2, Purpose::retry);
  EXPECT_NE(policy.pause(5, failure(true), one), policy.pause(5, failure(true), other));
}

TEST(Retry, TheServersPauseIsKeptInFull) {
  const RetryPolicy policy{.first_pause = 100ms};
  Rng rng(1, 1, Purpose::retry);
  const auto pause = policy.pause(1, failure(true, 5s), rng);
  ASSERT_TRUE(pause);
  EXPECT_GE(*pause, 5s);
  EXPECT_LT(*pause, 5s + 25ms);
}

TEST(Retry, GivesUp) {
  const RetryPolicy policy{.attempts = 3, .longest_asked_pause = 60s};
  Rng rng(1, 1, Purpose::retry);
  EXPECT_TRUE(policy.pause(2, failure(true), rng));
  EXPECT_FALSE(policy.pause(3, failure(true), rng)) << "attempts used up";
  EXPECT_FALSE(policy.pause(1, failure(false), rng)) << "for good";
  EXPECT_FALSE(policy.pause(1, failure(true, 61s), rng)) << "a longer pause than we wait";
  const Error asked = policy.final_error(1, failure(true, 61s));
  EXPECT_EQ(asked.code, ErrorCode::rate_limited);
  EXPECT_NE(asked.message.find("61 s"), std::string::npos);
  EXPECT_EQ(policy.final_error(3, failure(true)).code, ErrorCode::server_failed);
  EXPECT_NE(policy.final_error(3, failure(true)).message.find("3 attempts"), std::string::npos);
}

}  // namespace
}  // namespace kernelsmith
