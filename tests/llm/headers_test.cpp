#include "headers.hpp"

#include <gtest/gtest.h>

#include <kernelsmith/llm/client.hpp>

namespace kernelsmith::llm {
namespace {

using namespace std::chrono_literals;

// 2026-03-04 05:06:07 UTC, a Wednesday
const WallClock kNow{std::chrono::seconds(1772600767)};

Headers headers(std::initializer_list<std::string_view> lines) {
  Headers result;
  for (const std::string_view line : lines) add_header(result, line);
  return result;
}

TEST(Headers, NamesAreLowerCaseAndValuesTrimmed) {
  EXPECT_EQ(headers({"HTTP/1.1 200 OK\r\n", "Retry-AFTER:  7 \r\n"}), (Headers{{"retry-after", "7"}}));
}

TEST(Headers, RetryAfterInSecondsAndMilliseconds) {
  EXPECT_EQ(retry_after(headers({"Retry-After: 3"}), kNow), 3000ms);
  EXPECT_EQ(retry_after(headers({"Retry-After: 0.5"}), kNow), 500ms);
  EXPECT_EQ(retry_after(headers({"Retry-After: 9", "retry-after-ms: 250"}), kNow), 250ms);
  EXPECT_EQ(retry_after(headers({"Retry-After: 1e999"}), kNow), std::nullopt);
  EXPECT_EQ(retry_after(headers({"Retry-After: 99999999999999"}), kNow), 24h);
  EXPECT_EQ(retry_after(headers({"Retry-After: soon"}), kNow), std::nullopt);
  EXPECT_EQ(retry_after(headers({}), kNow), std::nullopt);
}

TEST(Headers, RetryAfterAsADate) {
  EXPECT_EQ(retry_after(headers({"Retry-After: Wed, 04 Mar 2026 05:06:17 GMT"}), kNow), 10s);
  EXPECT_EQ(retry_after(headers({"Retry-After: Wednesday, 04-Mar-26 05:06:17 GMT"}), kNow), 10s);
  EXPECT_EQ(retry_after(headers({"Retry-After: Wed Mar  4 05:06:17 2026"}), kNow), 10s);
  EXPECT_EQ(retry_after(headers({"Retry-After: Wed, 04 Mar 2026 05:00:00 GMT"}), kNow), 0s) << "in the past";
}

TEST(Headers, ADateCountsFromTheServersOwnClock) {
  EXPECT_EQ(retry_after(headers({"Date: Wed, 04 Mar 2026 09:00:00 GMT",
                                 "Retry-After: Wed, 04 Mar 2026 09:00:05 GMT"}),
                        kNow),
            5s);
}

TEST(Headers, NothingLeftMeansAPauseUntilTheReset) {
  EXPECT_EQ(rate_limit_pause(
                headers({"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1m2s"}), kNow),
            62s);
  EXPECT_EQ(rate_limit_pause(headers({"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 20ms",
                                      "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6m0s"}),
                             kNow),
            360s);
  EXPECT_EQ(rate_limit_pause(
                headers({"x-ratelimit-remaining-requests: 3", "x-ratelimit-reset-requests: 1m2s"}), kNow),
            std::nullopt);
  EXPECT_EQ(rate_limit_pause(headers({"anthropic-ratelimit-tokens-remaining: 0",
                                      "anthropic-ratelimit-tokens-reset: 2026-03-04T05:06:27Z"}),
                             kNow),
            20s);
  EXPECT_EQ(rate_limit_pause(headers({"anthropic-ratelimit-tokens-remaining: 0",
                                      "anthropic-ratelimit-tokens-reset: 2026-03-04T06:06:37.25+01:00"}),
                             kNow),
            30s);
  EXPECT_EQ(rate_limit_pause(headers({"anthropic-ratelimit-tokens-remaining: 0",
                                      "anthropic-ratelimit-tokens-reset: tomorrow"}),
                             kNow),
            std::nullopt);
}

TEST(Headers, KnowsWhetherTheServerTellsItsLimits) {
  EXPECT_TRUE(has_rate_limits(headers({"x-ratelimit-remaining-tokens: 100"})));
  EXPECT_FALSE(has_rate_limits(headers({"Retry-After: 3"})));
}

TEST(Headers, AResetMeansAPauseUnlessSomethingIsLeft) {
  EXPECT_EQ(reset_pause(headers({"X-RateLimit-Reset: 30"}), kNow), 30s);
  EXPECT_EQ(reset_pause(headers({"RateLimit-Reset: 1.5", "RateLimit-Remaining: 0"}), kNow), 1500ms);
  EXPECT_EQ(reset_pause(headers({"X-RateLimit-Reset: 1772600797"}), kNow), 30s);
  EXPECT_EQ(reset_pause(headers({"X-RateLimit-Reset: 1772600787000"}), kNow), 20s);
  EXPECT_EQ(reset_pause(headers({"X-RateLimit-Reset: 30", "X-RateLimit-Remaining: 5"}), kNow), std::nullopt);
}

constexpr const char* kGemini = R"([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message":
    "You exceeded your current quota, please check your plan and billing details. Please retry in 26s.",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "25.3s"}]}}])";

TEST(AskedPause, IsFoundInABody) {
  const std::pair<const char*, std::optional<std::chrono::milliseconds>> cases[] = {
      {kGemini, 25300ms},
      {R"({"error": {"retry_after": 4.5}})", 4500ms},
      {R"({"retry_after": "12"})", 12s},
      {R"({"error": {"metadata": {"headers": {"X-RateLimit-Remaining": 0, "X-RateLimit-Reset": 20}}}})", 20s},
      {R"({"headers": {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2s"}})", 62s},
      {R"({"headers": {"Retry-After": "3"}})", 3s},
      {R"({"retry_after": 99999999999})", 24h},
      {R"({"retry_after": null})", std::nullopt},
      {R"({"retry_after": -1})", std::nullopt},
      {R"({"X-RateLimit-Reset": "30"})", std::nullopt},
      {R"({"error": {"message": "try again in 60s"}})", std::nullopt},
  };
  for (const auto& [body, pause] : cases) EXPECT_EQ(decode_failure(429, body).retry_after, pause) << body;
  EXPECT_EQ(decode_reply(Protocol::chat_completions, R"({"error": {"code": 429, "retry_after": 5}})")
                .error()
                .retry_after,
            5s);
}

TEST(AskedPause, MakesWordsOfAQuotaALimitOfRates) {
  const CallFailure failure = decode_failure(429, kGemini);
  EXPECT_TRUE(failure.transient);
  EXPECT_TRUE(failure.overloaded);
  EXPECT_FALSE(decode_failure(402, kGemini).transient);
  const char* const quota = R"({"error": {"message": "You exceeded your current quota"}})";
  EXPECT_FALSE(decode_failure(429, quota).transient);
  EXPECT_EQ(decode_failure(429, quota, 30s).retry_after, 30s) << "of a header";
  EXPECT_FALSE(decode_failure(429, quota, 1h).transient);
}

TEST(ClientOptions, JitterIsAnotherInEveryProcess) { EXPECT_NE(ClientOptions{}.seed, ClientOptions{}.seed); }

}  // namespace
}  // namespace kernelsmith::llm
