// Whole replies and errors, as the three protocols have them.
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

TEST(Decode, ChatCompletions) {
  const auto reply = decode_reply(Protocol::chat_completions, R"({"id": "x", "model": "m-1",
    "choices": [{"message": {"content": "hi", "reasoning_content": "hm"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
              "completion_tokens_details": {"reasoning_tokens": 3}}})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(*reply, (ModelReply{"hi", "hm", Finish::stop, "stop", Usage{10, 4, 0, 5, 3}, "x", "m-1", {}}));
}

TEST(Decode, Responses) {
  const auto reply = decode_reply(Protocol::responses, R"({"id": "r", "model": "m", "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"}, "error": null,
    "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
               {"type": "message", "content": [{"type": "output_text", "text": "h"},
                                               {"type": "output_text", "text": "i"}]}],
    "usage": {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4},
              "output_tokens_details": {"reasoning_tokens": 3}}})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(
      *reply,
      (ModelReply{"hi", "hm", Finish::length, "max_output_tokens", Usage{10, 4, 0, 5, 3}, "r", "m", {}}));
}

TEST(Decode, Messages) {
  const auto reply = decode_reply(Protocol::messages, R"({"id": "a", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}],
    "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 1,
              "output_tokens": 7}})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(*reply, (ModelReply{"hi", "hm", Finish::stop, "end_turn", Usage{10, 5, 1, 7, 0}, "a", "m", {}}));
}

TEST(Decode, RefusalsAreNamed) {
  const auto chat = decode_reply(
      Protocol::chat_completions,
      R"({"choices": [{"message": {"content": null, "refusal": "no"}, "finish_reason": "stop"}]})");
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->finish, Finish::declined);
  EXPECT_EQ(chat->finish_detail, "no");
  const auto responses = decode_reply(
      Protocol::responses,
      R"({"status": "completed", "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}]})");
  ASSERT_TRUE(responses);
  EXPECT_EQ(responses->finish, Finish::declined);
  EXPECT_EQ(responses->finish_detail, "no");
  const auto messages = decode_reply(Protocol::messages, R"({"content": [], "stop_reason": "refusal"})");
  ASSERT_TRUE(messages);
  EXPECT_EQ(messages->finish, Finish::declined);
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

TEST(Failure, StatusesAndWords) {
  struct Answer {
    int status;
    const char* body;
    ErrorCode code;
    bool transient;
  };
  const Answer cases[] = {
      {429, R"({"error": {"message": "slow down"}})", ErrorCode::rate_limited, true},
      {429, R"({"error": {"code": "insufficient_quota", "message": "pay"}})", ErrorCode::rate_limited, false},
      {500, "<html>oops</html>", ErrorCode::server_failed, true},
      {502, "", ErrorCode::server_failed, true},
      {503, "{}", ErrorCode::server_failed, true},
      {529, R"({"type": "error", "error": {"type": "overloaded_error"}})", ErrorCode::server_failed, true},
      {401, R"({"error": {"message": "bad key"}})", ErrorCode::permission, false},
      {404, R"({"error": "no such model"})", ErrorCode::not_found, false},
      {302, "", ErrorCode::bad_reply, false},
      {400, R"({"error": {"code": "context_length_exceeded", "message": "x"}})", ErrorCode::too_long, false},
      {400, R"({"error": {"message": "This model's maximum context length is 8192 tokens"}})",
       ErrorCode::too_long, false},
      {400,
       R"({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}})",
       ErrorCode::too_long, false},
      {400, R"({"error": {"message": "unknown parameter"}})", ErrorCode::invalid_argument, false},
  };
  for (const Answer& c : cases) {
    const CallFailure failure = decode_failure(c.status, c.body);
    EXPECT_EQ(failure.error.code, c.code) << c.body;
    EXPECT_EQ(failure.transient, c.transient) << c.body;
    EXPECT_NE(failure.error.message.find(std::to_string(c.status)), std::string::npos)
        << failure.error.message;
  }
}

}  // namespace
}  // namespace kernelsmith
