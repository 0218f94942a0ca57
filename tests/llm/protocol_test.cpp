#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {
namespace {

using Json = nlohmann::json;

ModelCall call(std::string model = "m") {
  ModelCall result;
  result.model = std::move(model);
  result.messages = {{Role::system, "be brief"}, {Role::user, "hello"}};
  result.max_output_tokens = 100;
  result.temperature = 0.5;
  return result;
}

Json encoded(Protocol protocol, const ModelCall& what) {
  const auto body = encode_call(protocol, what, traits_of(protocol, what.model));
  EXPECT_TRUE(body);
  return Json::parse(body.value());
}

Attempt<ModelReply> streamed(Protocol protocol, const std::vector<std::string>& events) {
  const auto decoder = make_stream_decoder(protocol);
  for (const std::string& data : events)
    if (const auto taken = decoder->take("", data); !taken) return taken.error();
  return decoder->finish();
}

TEST(Chat, HalvesOfACharacterAreReplaced) {
  const auto stream = make_stream_decoder(Protocol::chat_completions);
  for (const char* event :
       {R"({"choices": [{"delta": {"content": "a\\\ud83d"}}]})",
        R"({"choices": [{"delta": {"content": "\ude00 \ud83d\ude00"}, "finish_reason": "stop"}]})"})
    ASSERT_TRUE(stream->take("", event));
  EXPECT_EQ(stream->finish().value().text, "a\\\uFFFD\uFFFD \U0001F600");
}

TEST(Responses, OnlyTheFirstEndCounts) {
  const auto stream = make_stream_decoder(Protocol::responses);
  const char* text = R"([{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}])";
  const std::string end = R"({"type": "response.completed", "response": {"status": "completed", "output": )";
  ASSERT_TRUE(stream->take("", R"({"type": "response.in_progress", "response":
                                   {"usage": {"input_tokens": 3, "output_tokens": 2}}})"));
  ASSERT_TRUE(stream->take("", end + text + "}}"));
  ASSERT_TRUE(stream->take("", end + "[]}}"));
  const auto reply = stream->finish();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->usage, (Usage{.input_tokens = 3, .output_tokens = 2}));
}

TEST(Responses, WhatIsNotFinishedIsNoReply) {
  for (const char* status : {"in_progress", "cancelled", "queued"})
    EXPECT_FALSE(
        decode_reply(Protocol::responses, std::string(R"({"output": [], "status": ")") + status + "\"}"))
        << status;
}

TEST(Chat, ReadsTheFirstOfSeveralChoicesOnly) {
  const auto stream = make_stream_decoder(Protocol::chat_completions);
  for (const char* event : {R"({"choices": [{"index": 1, "delta": {"content": "other"}}]})",
                            R"({"choices": [{"index": 0, "delta": {"content": "one"}}]})",
                            R"({"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]})",
                            R"({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})"})
    ASSERT_TRUE(stream->take("", event));
  const auto reply = stream->finish();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "one");
  EXPECT_EQ(reply->finish, Finish::stop);
}

TEST(Encode, ChatCompletions) {
  EXPECT_EQ(encoded(Protocol::chat_completions, call()), Json::parse(R"({
    "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100, "temperature": 0.5,
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]})"));
}

TEST(Encode, AReasoningModelGetsWhatItTakes) {
  ModelCall what = call("openai/o3-mini");
  what.reasoning_effort = "low";
  what.stream = false;
  EXPECT_EQ(encoded(Protocol::chat_completions, what), Json::parse(R"({
    "model": "openai/o3-mini", "stream": false, "max_completion_tokens": 100, "reasoning_effort": "low",
    "messages": [{"role": "developer", "content": "be brief"}, {"role": "user", "content": "hello"}]})"));
}

TEST(Encode, Responses) {
  ModelCall what = call("gpt-5");
  what.reasoning_effort = "high";
  EXPECT_EQ(encoded(Protocol::responses, what), Json::parse(R"({
    "model": "gpt-5", "stream": true, "max_output_tokens": 100, "store": false, "reasoning": {"effort": "high"},
    "instructions": "be brief", "input": [{"role": "user", "content": "hello"}]})"));
}

TEST(Encode, Messages) {
  ModelCall what = call();
  what.max_output_tokens.reset();
  EXPECT_EQ(encoded(Protocol::messages, what), Json::parse(R"({
    "model": "m", "stream": true, "max_tokens": 8192, "temperature": 0.5, "system": "be brief",
    "messages": [{"role": "user", "content": "hello"}]})"));
}

TEST(Encode, LogprobsAndTokenIdsWhereTheProtocolCan) {
  ModelCall what = call();
  what.logprobs = what.token_ids = true;
  const Json chat = encoded(Protocol::chat_completions, what);
  EXPECT_EQ(chat["logprobs"], true);
  EXPECT_EQ(chat["return_token_ids"], true);
  const Json responses = encoded(Protocol::responses, what);
  EXPECT_EQ(responses["include"], Json::parse(R"(["message.output_text.logprobs"])"));
  EXPECT_FALSE(responses.contains("return_token_ids"));
  EXPECT_EQ(encoded(Protocol::messages, what), encoded(Protocol::messages, call()));
}

TEST(Decode, TokensOfChatCompletions) {
  const TokenTrace expected{{"he", "llo"}, {-0.5, 0}, {5, 6}, {1, 2, 3}};
  const auto whole = decode_reply(Protocol::chat_completions, R"({"prompt_token_ids": [1, 2, 3], "choices": [
    {"message": {"content": "hello"}, "finish_reason": "stop", "token_ids": [5, 6],
     "logprobs": {"content": [{"token": "he", "logprob": -0.5}, {"token": "llo", "logprob": 0},
                              {"token": 7, "logprob": 0}, "no object", {"token": "x", "logprob": null}]}}]})");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->trace, expected);
  const auto stream =
      streamed(Protocol::chat_completions,
               {R"({"prompt_token_ids": [1, 2, 3], "choices": [{"delta": {"content": "he"}, "token_ids": [5],
           "logprobs": {"content": [{"token": "he", "logprob": -0.5}]}}]})",
                R"({"choices": [{"delta": {"content": "llo"}, "token_ids": [6], "finish_reason": "stop",
           "logprobs": {"content": [{"token": "llo", "logprob": 0}]}}]})"});
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->trace, expected);
  const auto llama = decode_reply(Protocol::chat_completions, R"({"choices": [
    {"message": {"content": "a"}, "finish_reason": "stop",
     "logprobs": {"content": [{"id": 9, "token": "a", "logprob": -1}]}}]})");
  EXPECT_EQ(llama->trace, (TokenTrace{{"a"}, {-1}, {9}, {}})) << "llama.cpp tells the ids there";
}

TEST(Decode, TokensOfResponses) {
  const auto reply =
      decode_reply(Protocol::responses, R"({"status": "completed", "output": [{"type": "message",
    "content": [{"type": "output_text", "text": "a", "logprobs": [{"token": "a", "logprob": -2}]}]}]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->trace, (TokenTrace{{"a"}, {-2}, {}, {}}));
}

TEST(Decode, UsageOfWhatFailedIsNotLost) {
  const auto usage_of = [](Protocol protocol, const char* body) {
    const auto reply = decode_reply(protocol, body);
    EXPECT_FALSE(reply);
    return reply ? std::nullopt : reply.error().usage;
  };
  EXPECT_EQ(
      usage_of(Protocol::chat_completions, R"({"usage": {"prompt_tokens": 3, "completion_tokens": 2}})"),
      (Usage{.input_tokens = 3, .output_tokens = 2}));
  EXPECT_EQ(usage_of(Protocol::responses, R"({"status": "failed", "error": {"code": "server_error"},
                                              "usage": {"input_tokens": 3, "output_tokens": 2}})"),
            (Usage{.input_tokens = 3, .output_tokens = 2}));
  EXPECT_EQ(usage_of(Protocol::messages, R"({"usage": {"input_tokens": 3, "output_tokens": 2}})"),
            (Usage{.input_tokens = 3, .output_tokens = 2}));
  EXPECT_EQ(usage_of(Protocol::chat_completions, R"({"error": {"message": "no"}})"), std::nullopt);
  const auto stream = make_stream_decoder(Protocol::responses);
  EXPECT_FALSE(stream->take("", R"({"type": "response.failed", "response": {"error": {"code": "server_error"},
                                    "usage": {"input_tokens": 3, "output_tokens": 2}}})"));
  EXPECT_EQ(stream->usage(), (Usage{.input_tokens = 3, .output_tokens = 2}));
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

TEST(Stream, MessagesForgetNothingThatTheyTold) {
  const char* const start =
      R"({"type": "message_start", "message": {"usage": {"input_tokens": 20, "cache_read_input_tokens": 9000,
          "cache_creation_input_tokens": 1000, "output_tokens": 1}}})";
  for (const char* end :
       {R"({"output_tokens": 50})",
        R"({"input_tokens": null, "cache_read_input_tokens": null, "cache_creation_input_tokens": null,
            "output_tokens": 50})",
        R"({"input_tokens": 20, "output_tokens": 50})"}) {
    const auto reply = streamed(
        Protocol::messages,
        {start, std::string(R"({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": )") +
                    end + "}"});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->usage, (Usage{10'020, 9000, 1000, 50, 0})) << end;
  }
}

TEST(Encode, ExtraBodyIsLaidOver) {
  ModelCall what = call();
  what.extra_body = R"({"top_k": 20, "temperature": null})";
  const Json body = encoded(Protocol::chat_completions, what);
  EXPECT_EQ(body["top_k"], 20);
  EXPECT_FALSE(body.contains("temperature"));
  for (const char* wrong : {"[1]", "{", R"({"stream": true})"}) {
    what.extra_body = wrong;
    EXPECT_EQ(encode_call(Protocol::messages, what, traits_of(Protocol::messages, "m")).error().code,
              ErrorCode::invalid_argument);
  }
}

TEST(Encode, RefusesBytesThatAreNotUtf8) {
  ModelCall what = call();
  what.messages[1].text = "\xFF";
  EXPECT_EQ(encode_call(Protocol::responses, what, traits_of(Protocol::responses, "m")).error().code,
            ErrorCode::invalid_argument);
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

TEST(Decode, DeepNestingIsRefused) {
  const auto reply = decode_reply(Protocol::messages, std::string(100'000, '['));
  EXPECT_EQ(reply.error().error.code, ErrorCode::bad_reply);
}

TEST(Stream, ChatCompletions) {
  const auto reply = streamed(
      Protocol::chat_completions,
      {R"({"id": "x", "model": "m", "choices": [{"delta": {"role": "assistant", "content": ""}}]})",
       R"({"choices": [{"delta": {"reasoning": "hm"}}]})", R"({"choices": [{"delta": {"content": "h"}}]})",
       R"({"choices": [{"delta": {"content": "i"}, "finish_reason": null}]})",
       R"({"choices": [{"delta": {}, "finish_reason": "stop"}]})",
       R"({"choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 1}})", "[DONE]"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(*reply, (ModelReply{"hi", "hm", Finish::stop, "stop", Usage{2, 0, 0, 1, 0}, "x", "m", {}}));
}

TEST(Stream, Responses) {
  const auto reply =
      streamed(Protocol::responses,
               {R"({"type": "response.created", "response": {}})",
                R"({"type": "response.output_text.delta", "delta": "h"})",
                R"({"type": "response.output_text.delta", "delta": "i"})",
                R"({"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed",
           "output": [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}],
           "usage": {"input_tokens": 2, "output_tokens": 1}}})"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(*reply, (ModelReply{"hi", "", Finish::stop, "completed", Usage{2, 0, 0, 1, 0}, "r", "m", {}}));
}

TEST(Stream, Messages) {
  const auto reply = streamed(
      Protocol::messages,
      {R"({"type": "message_start", "message": {"id": "a", "model": "m", "usage": {"input_tokens": 2, "output_tokens": 1}}})",
       R"({"type": "ping"})",
       R"({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}})",
       R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}})",
       R"({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}})",
       R"({"type": "message_stop"})"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(*reply,
            (ModelReply{"hi", "hm", Finish::length, "max_tokens", Usage{2, 0, 0, 9, 0}, "a", "m", {}}));
}

TEST(Stream, OneThatBreaksOffIsATransientBadReply) {
  const std::pair<Protocol, std::string> cases[] = {
      {Protocol::chat_completions, R"({"choices": [{"delta": {"content": "h"}}]})"},
      {Protocol::responses, R"({"type": "response.output_text.delta", "delta": "h"})"},
      {Protocol::messages,
       R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "h"}})"}};
  for (const auto& [protocol, event] : cases) {
    const auto cut = streamed(protocol, {event});
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().error.code, ErrorCode::bad_reply);
    EXPECT_TRUE(cut.error().transient);
    const auto broken = streamed(protocol, {event.substr(0, 20)});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().error.code, ErrorCode::bad_reply);
  }
  EXPECT_FALSE(streamed(Protocol::chat_completions, {R"({"choices": []})", "[DONE]"})) << "no choices";
}

TEST(Stream, BegunIsTheModelsFirstWord) {
  const auto decoder = make_stream_decoder(Protocol::messages);
  ASSERT_TRUE(decoder->take("ping", R"({"type": "ping"})"));
  EXPECT_FALSE(decoder->begun());
  ASSERT_TRUE(
      decoder->take("", R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "h"}})"));
  EXPECT_TRUE(decoder->begun());
}

TEST(Stream, AnErrorEventIsItsFailure) {
  const auto overloaded = streamed(
      Protocol::messages, {R"({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})"});
  ASSERT_FALSE(overloaded);
  EXPECT_EQ(overloaded.error().error.code, ErrorCode::server_failed);
  EXPECT_TRUE(overloaded.error().transient && overloaded.error().overloaded);
  const auto limited = streamed(Protocol::chat_completions,
                                {R"({"error": {"code": "rate_limit_exceeded", "message": "slow"}})"});
  EXPECT_EQ(limited.error().error.code, ErrorCode::rate_limited);
  const auto failed = streamed(
      Protocol::responses,
      {R"({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "oh"}}})"});
  EXPECT_EQ(failed.error().error.code, ErrorCode::server_failed);
  EXPECT_TRUE(failed.error().transient);
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
  struct Case {
    int status;
    const char* body;
    ErrorCode code;
    bool transient;
  };
  const Case cases[] = {
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
  for (const Case& c : cases) {
    const CallFailure failure = decode_failure(c.status, c.body);
    EXPECT_EQ(failure.error.code, c.code) << c.body;
    EXPECT_EQ(failure.transient, c.transient) << c.body;
    EXPECT_NE(failure.error.message.find(std::to_string(c.status)), std::string::npos)
        << failure.error.message;
  }
}

}  // namespace
}  // namespace kernelsmith
