// The pause that a server asks for in its body or headers.
#include "asked_pause.hpp"

#include <gtest/gtest.h>

#include <kernelsmith/llm/client.hpp>

namespace kernelsmith::llm {
namespace {

using namespace std::chrono_literals;

// 2026-03-04 05:06:07 UTC
const WallClock kAskedAt{std::chrono::seconds(1772600767)};

std::optional<std::chrono::milliseconds> pause_in(std::string_view body) {
  return asked_pause(parse_json(body).value(), kAskedAt);
}

TEST(AskedPause, IsFoundWhereverTheBodyHasIt) {
  const std::pair<const char*, std::chrono::milliseconds> cases[] = {
      {R"([{"error": {"code": 429, "details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "25s"}]}}])",
       25s},
      {R"({"error": {"details": [{"retryDelay": "25.337s"}], "message": "Please retry in 26s."}})", 25337ms},
      {R"({"error": {"details": [{"retryDelay": {"seconds": 7, "nanos": 500000000}}]}})", 7500ms},
      {R"({"error": {"message": "Rate limit reached. Please try again in 6s. Visit us."}})", 6s},
      {R"({"error": {"message": "Please try again in 1m2.5s."}})", 62500ms},
      {R"({"error": {"message": "Please try again in 850ms."}})", 850ms},
      {R"({"detail": "Too many requests, retry after 10 seconds"})", 10s},
      {R"({"detail": "Please wait 1 minute and 3 secs"})", 63s},
      {R"({"error": {"retry_after": 4.5}})", 4500ms},
      {R"({"retryAfter": "12"})", 12s},
      {R"({"retry_after_ms": 250})", 250ms},
      {R"({"error": {"metadata": {"headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772600787000"}}}})",
       20s},
      {R"({"metadata": {"headers": {"X-RateLimit-Reset": 1772600777}}})", 10s},
      {R"({"headers": {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2s"}})", 62s},
      {R"({"headers": {"Retry-After": "3"}})", 3s},
      {R"({"error": {"metadata": {"raw": "{\"error\": {\"retry_after\": 9}}"}}})", 9s},
      {R"({"error": {"message": "litellm.RateLimitError: b'{\"details\": [{\"retryDelay\": \"8s\"}]}'"}})",
       8s},
      {R"("try again in 2 hours")", 2h},
  };
  for (const auto& [body, pause] : cases) EXPECT_EQ(pause_in(body), pause) << body;
}

TEST(AskedPause, IsNoneWhereNothingAsksForOne) {
  for (const char* body :
       {R"({"error": {"message": "Rate limit: 6 requests in 60s"}})", R"({"retry_after": null})",
        R"({"retries": 3})", R"({"message": "please try again later"})",
        R"({"message": "try again in a while"})",
        R"({"X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "1772600787"})", R"({"retry_after": -1})",
        "[]"})
    EXPECT_EQ(pause_in(body), std::nullopt) << body;
  EXPECT_EQ(pause_in(R"({"retry_after": 1e300})"), 24h) << "at most a day";
}

TEST(AskedPause, IsUntilTheResetOfHeaders) {
  EXPECT_EQ(reset_pause(Headers{{"x-ratelimit-reset", "30"}}, kAskedAt), 30s);
  EXPECT_EQ(reset_pause(Headers{{"ratelimit-reset", "1.5"}, {"ratelimit-remaining", "0"}}, kAskedAt), 1500ms);
  EXPECT_EQ(reset_pause(Headers{{"x-ratelimit-reset", "1772600797"}}, kAskedAt), 30s);
  EXPECT_EQ(reset_pause(Headers{{"x-ratelimit-reset", "30"}, {"x-ratelimit-remaining", "5"}}, kAskedAt),
            std::nullopt);
}

constexpr const char* kGemini = R"([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message":
    "You exceeded your current quota, please check your plan and billing details. Please retry in 25.3s.",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "25s"}]}}])";

TEST(AskedPause, MakesWordsOfAQuotaALimitOfRates) {
  const CallFailure failure = decode_failure(429, kGemini);
  EXPECT_TRUE(failure.transient);
  EXPECT_TRUE(failure.overloaded);
  EXPECT_EQ(failure.retry_after, 25s);
  EXPECT_FALSE(decode_failure(429, R"({"error": {"message": "You exceeded your current quota"}})").transient);
  EXPECT_FALSE(
      decode_failure(429,
                     R"({"error": {"message": "You exceeded your current quota, try again in 11 minutes"}})")
          .transient);
  EXPECT_FALSE(decode_failure(402, kGemini).transient);
  const char* const quota = R"({"error": {"message": "You exceeded your current quota"}})";
  EXPECT_EQ(decode_failure(429, quota, 30s).retry_after, 30s) << "of a header";
  EXPECT_FALSE(decode_failure(429, quota, 1h).transient);
}

TEST(AskedPause, IsReadWithEveryStatusThatPasses) {
  EXPECT_EQ(decode_failure(503, R"({"error": {"details": [{"retryDelay": "3s"}]}})").retry_after, 3s);
  EXPECT_EQ(decode_failure(500, "try again in 4s").retry_after, 4s);
  EXPECT_EQ(decode_reply(Protocol::chat_completions, R"({"error": {"code": 429, "retry_after": 5}})")
                .error()
                .retry_after,
            5s);
}

TEST(AskedPause, JitterIsAnotherInEveryProcess) { EXPECT_NE(ClientOptions{}.seed, ClientOptions{}.seed); }

}  // namespace
}  // namespace kernelsmith::llm
