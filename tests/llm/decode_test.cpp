// What whole replies hold, in the three protocols, and bodies without a reply.
#include <string>

#include <gtest/gtest.h>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {
namespace {

TEST(Responses, WhatIsNotFinishedIsNoReply) {
  for (const char* status : {"in_progress", "cancelled", "queued"})
    EXPECT_FALSE(
        decode_reply(Protocol::responses, std::string(R"({"output": [], "status": ")") + status + "\"}"))
        << status;
}

TEST(Decode, TokensOfResponses) {
  const auto reply =
      decode_reply(Protocol::responses, R"({"status": "completed", "output": [{"type": "message",
    "content": [{"type": "output_text", "text": "a", "logprobs": [{"token": "a", "logprob": -2}]}]}]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->trace, (TokenTrace{{"a"}, {-2}, {}, {}}));
}

TEST(Decode, UsageThatIsNoCountIsNotTold) {
  const auto usage_of = [](Protocol protocol, const std::string& usage) {
    return decode_reply(protocol, R"({"usage": )" + usage + "}").error().usage;
  };
  const std::pair<const char*, std::optional<Usage>> cases[] = {
      {R"({"I": 1000.0, "O": 1e2})", Usage{.input_tokens = 1000, .output_tokens = 100}},
      {R"({"I": 10, "O": 0})", Usage{.input_tokens = 10}},
      {R"({"I": 100000000, "O": 1})", Usage{.input_tokens = 100'000'000, .output_tokens = 1}},
      {R"({})", {}},
      {R"([10, 5])", {}},
      {R"({"I": null, "O": 5})", {}},
      {R"({"I": 10})", {}},
      {R"({"I": "10", "O": "5"})", {}},
      {R"({"I": 10, "O": 1e300})", {}},
      {R"({"I": -10, "O": 5})", {}},
      {R"({"I": 10.5, "O": 5})", {}},
      {R"({"I": 18446744073709551615, "O": 5})", {}},
      {R"({"I": 0, "O": 5})", {}},
      {R"({"total_tokens": 15})", {}},
  };
  for (const auto& [text, expected] : cases)
    for (const Protocol protocol : {Protocol::chat_completions, Protocol::responses, Protocol::messages}) {
      const bool chat = protocol == Protocol::chat_completions;
      std::string usage = text;
      if (const auto at = usage.find('I'); at != usage.npos)
        usage.replace(at, 1, chat ? "prompt_tokens" : "input_tokens");
      if (const auto at = usage.find('O'); at != usage.npos)
        usage.replace(at, 1, chat ? "completion_tokens" : "output_tokens");
      EXPECT_EQ(usage_of(protocol, usage), expected) << usage;
    }
  EXPECT_EQ(usage_of(Protocol::chat_completions, R"({"input_tokens": 10, "output_tokens": 5})"),
            std::nullopt);
}

TEST(Decode, PartsOfTheUsageAreNeverMoreThanTheWhole) {
  const auto chat = decode_reply(
      Protocol::chat_completions,
      R"({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 11},
                    "completion_tokens_details": {"reasoning_tokens": 18446744073709551615}}})");
  EXPECT_EQ(chat.error().usage, (Usage{10, 10, 0, 5, 0}));
  const auto messages = decode_reply(
      Protocol::messages,
      R"({"usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 18446744073709551611}})");
  EXPECT_EQ(messages.error().usage, (Usage{10, 0, 0, 5, 0})) << "a sum that wraps costs next to nothing";
}

TEST(Decode, WhatIsNoReplyIsATransientBadReply) {
  for (const Protocol protocol : {Protocol::chat_completions, Protocol::responses, Protocol::messages}) {
    for (const char* body :
         {"", "{", "[]", "{}", R"({"choices": []})", R"({"choices": [{}]})", "{\"a\": \"\xFF\"}"}) {
      const auto reply = decode_reply(protocol, body);
      ASSERT_FALSE(reply) << body;
      EXPECT_EQ(reply.error().error.code, ErrorCode::bad_reply) << body;
      EXPECT_TRUE(reply.error().transient);
    }
  }
}

TEST(Decode, NumbersThatJsonHasNoFormForAreNull) {
  for (const char* number : {"NaN", "Infinity", "-Infinity", "-1e999", "1e999"}) {
    const auto reply = decode_reply(
        Protocol::chat_completions,
        std::string(
            R"({"choices": [{"message": {"content": "NaN, \"Infinity\" and \\"}, "finish_reason": "stop",
          "logprobs": {"content": [{"token": "a", "logprob": )") +
            number + R"(}, {"token": "b", "logprob": -0.5}]}}]})");
    ASSERT_TRUE(reply) << number;
    EXPECT_EQ(reply->text, "NaN, \"Infinity\" and \\");
    EXPECT_EQ(reply->trace.tokens, std::vector<std::string>{"b"});
  }
  EXPECT_FALSE(decode_reply(Protocol::chat_completions, R"({"choices": [NaN})"));
}

TEST(Decode, DeepNestingIsRefused) {
  const auto reply = decode_reply(Protocol::messages, std::string(100'000, '['));
  EXPECT_EQ(reply.error().error.code, ErrorCode::bad_reply);
}

TEST(Reply, OfMillionsOfValuesIsRefused) {
  std::string body = R"({"choices": [)";
  for (int i = 0; i < 2'000'000; ++i) body += "{},";
  const auto reply = decode_reply(Protocol::chat_completions, body + "{}]}");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().error.code, ErrorCode::bad_reply);
  EXPECT_NE(reply.error().error.message.find("values"), std::string::npos);
}

}  // namespace
}  // namespace kernelsmith
