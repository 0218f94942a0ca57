// Replies that come in events or whole, and those that the server broke off.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {
namespace {

Attempt<ModelReply> streamed(Protocol protocol, const std::vector<std::string>& events) {
  const auto decoder = make_stream_decoder(protocol);
  for (const std::string& data : events)
    if (const auto taken = decoder->take("", data); !taken) return taken.error();
  return decoder->finish();
}

/// The events of a whole reply "hi" of a protocol, text in the first ones.
std::vector<std::string> events_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::chat_completions:
      return {R"({"choices": [{"delta": {"content": "h"}}]})",
              R"({"choices": [{"delta": {"content": "i"}}]})",
              R"({"choices": [{"delta": {}, "finish_reason": "stop"}]})"};
    case Protocol::responses:
      return {R"({"type": "response.output_text.delta", "delta": "h"})",
              R"({"type": "response.output_text.delta", "delta": "i"})",
              R"({"type": "response.completed", "response": {"status": "completed"}})"};
    case Protocol::messages:
      break;
  }
  return {R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "h"}})",
          R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "i"}})",
          R"({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})"};
}

constexpr Protocol kAllProtocols[] = {Protocol::chat_completions, Protocol::responses, Protocol::messages};

TEST(Decode, AReplyIsTheSameWholeAndInEvents) {
  struct Reply {
    Protocol protocol;
    std::string body;
    std::vector<std::string> events;
    ModelReply reply;
  };
  const std::string chat_usage = R"("usage": {"prompt_tokens": 10, "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}}})";
  const std::string response = R"({"id": "r", "model": "m", "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"}, "error": null,
    "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
               {"type": "message", "content": [{"type": "output_text", "text": "h"},
                                               {"type": "output_text", "text": "i"}]}],
    "usage": {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4},
              "output_tokens_details": {"reasoning_tokens": 3}}})";
  const std::string messages_usage = R"("usage": {"input_tokens": 4, "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 1, "output_tokens": )";
  const Reply cases[] = {
      {Protocol::chat_completions,
       R"({"id": "x", "model": "m", "choices": [{"message": {"content": "hi", "reasoning_content": "hm"},
           "finish_reason": "stop"}], )" +
           chat_usage,
       {R"({"id": "x", "model": "m", "choices": [{"delta": {"role": "assistant", "content": ""}}]})",
        R"({"choices": [{"delta": {"reasoning": "hm"}}]})", R"({"choices": [{"delta": {"content": "h"}}]})",
        R"({"choices": [{"delta": {"content": "i"}, "finish_reason": null}]})",
        R"({"choices": [{"delta": {}, "finish_reason": "stop"}]})", R"({"choices": [], )" + chat_usage,
        "[DONE]"},
       {"hi", "hm", Finish::stop, "stop", Usage{10, 4, 0, 5, 3}, "x", "m", {}}},
      {Protocol::responses,
       response,
       {R"({"type": "response.created", "response": {}})",
        R"({"type": "response.output_text.delta", "delta": "h"})",
        R"({"type": "response.output_text.delta", "delta": "i"})",
        R"({"type": "response.incomplete", "response": )" + response + "}"},
       {"hi", "hm", Finish::length, "max_output_tokens", Usage{10, 4, 0, 5, 3}, "r", "m", {}}},
      {Protocol::messages,
       R"({"id": "a", "model": "m", "stop_reason": "max_tokens", "content": [
           {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}], )" +
           messages_usage + "7}}",
       {R"({"type": "message_start", "message": {"id": "a", "model": "m", )" + messages_usage + "1}}}",
        R"({"type": "ping"})",
        R"({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}})",
        R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}})",
        R"({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 7}})",
        R"({"type": "message_stop"})"},
       {"hi", "hm", Finish::length, "max_tokens", Usage{10, 5, 1, 7, 0}, "a", "m", {}}},
  };
  for (const Reply& c : cases) {
    const auto whole = decode_reply(c.protocol, c.body), in_events = streamed(c.protocol, c.events);
    ASSERT_TRUE(whole && in_events) << name_of(c.protocol);
    EXPECT_EQ(*whole, c.reply);
    EXPECT_EQ(*in_events, c.reply);
  }
}

TEST(Chat, HalvesOfACharacterAreReplaced) {
  const auto stream = make_stream_decoder(Protocol::chat_completions);
  for (const char* event :
       {R"({"choices": [{"delta": {"content": "a\\\ud83d"}}]})",
        R"({"choices": [{"delta": {"content": "\ude00 \ud83d\ude00"}, "finish_reason": "stop"}]})"})
    ASSERT_TRUE(stream->take("", event));
  EXPECT_EQ(stream->finish().value().text, "a\\\uFFFD\uFFFD \U0001F600");
}

/// Whole or in pieces they are the same.
TEST(Chat, CallsOfTools) {
  const std::string calls =
      R"([{"function":{"arguments":"{\"n\": 1}","name":"look"},"id":"a","type":"function"},)"
      R"({"function":{"arguments":"{}","name":"end"},"id":"b","type":"function"}])";
  const auto whole = decode_reply(Protocol::chat_completions,
                                  R"({"choices": [{"message": {"content": null, "tool_calls": )" + calls +
                                      R"(}, "finish_reason": "tool_calls"}]})");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->tool_calls, calls);
  const auto piece = [](const std::string& call) {
    return R"({"choices": [{"delta": {"tool_calls": [)" + call + "]}}]}";
  };
  const auto pieces =
      streamed(Protocol::chat_completions,
               {piece(R"({"index": 0, "id": "a", "function": {"name": "look", "arguments": ""}})"),
                piece(R"({"index": 0, "function": {"arguments": "{\"n\": "}})"),
                piece(R"({"index": 0, "function": {"arguments": "1}"}})"),
                piece(R"({"index": 1, "id": "b", "function": {"name": "end", "arguments": "{}"}})"),
                piece(R"({"index": 99, "function": {"name": "far"}}, 7)"),
                R"({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})"});
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->tool_calls, calls);
  ModelReply thought;
  thought.reasoning = "Let me look.";
  EXPECT_TRUE(is_only_reasoning(thought));
  thought.tool_calls = calls;
  EXPECT_FALSE(is_only_reasoning(thought));
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
  EXPECT_EQ(llama->trace, (TokenTrace{{"a"}, {-1}, {9}, {}})) << "llama.cpp sends the ids there";
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

TEST(Stream, OneThatBreaksOffIsATransientBadReply) {
  for (const Protocol protocol : kAllProtocols) {
    const std::string event = events_of(protocol)[0];
    for (const std::string& last : {event, event.substr(0, 20)}) {
      const auto cut = streamed(protocol, {last});
      ASSERT_FALSE(cut);
      EXPECT_EQ(cut.error().error.code, ErrorCode::bad_reply);
      EXPECT_TRUE(cut.error().transient);
    }
  }
  EXPECT_FALSE(streamed(Protocol::chat_completions, {R"({"choices": []})", "[DONE]"})) << "no choices";
}

TEST(Stream, TheProtocolsOwnEndIsTheReplysWhereNoReasonIsTold) {
  const std::pair<Protocol, const char*> cases[] = {
      {Protocol::chat_completions, "[DONE]"},
      {Protocol::messages, R"({"type": "message_stop"})"},
      {Protocol::responses,
       R"({"type": "response.completed", "response": {"status": "completed", "output": null}})"},
      {Protocol::responses, R"({"type": "response.completed"})"}};
  for (const auto& [protocol, end] : cases) {
    const auto decoder = make_stream_decoder(protocol);
    for (const int event : {0, 1})
      ASSERT_TRUE(decoder->take("", events_of(protocol)[static_cast<std::size_t>(event)]));
    EXPECT_FALSE(decoder->complete() || decoder->ended());
    ASSERT_TRUE(decoder->take("", end));
    EXPECT_TRUE(decoder->complete() && decoder->ended());
    const auto reply = decoder->finish();
    ASSERT_TRUE(reply) << name_of(protocol);
    EXPECT_EQ(reply->text, "hi");
  }
  EXPECT_FALSE(streamed(Protocol::responses, {R"({"type": "response.completed"})"})) << "nothing came";
}

TEST(Stream, OneThatEndsInOrderBehindItsUsageIsAReply) {
  const char* const chat = R"({"choices": [{"delta": {"content": "hi"}}]})";
  const char* const cost = R"({"choices": [], "cost": "0"})";
  const char* const chat_usage = R"({"choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 1}})";
  const char* const start =
      R"({"type": "message_start", "message": {"usage": {"input_tokens": 2, "output_tokens": 0}}})";
  const char* const text =
      R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}})";
  const char* const usage = R"({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}})";
  for (const auto& reply : {streamed(Protocol::chat_completions, {chat, chat_usage}),
                            streamed(Protocol::chat_completions, {chat, chat_usage, cost}),
                            streamed(Protocol::messages, {start, text, usage}),
                            decode_reply(Protocol::messages, R"({"content": [{"type": "text", "text": "hi"}],
                                             "usage": {"input_tokens": 2, "output_tokens": 1}})")}) {
    ASSERT_TRUE(reply) << describe(reply.error().error);
    EXPECT_EQ(reply->text, "hi");
    EXPECT_EQ(reply->usage, (Usage{.input_tokens = 2, .output_tokens = 1}));
  }
  EXPECT_FALSE(streamed(Protocol::chat_completions, {chat_usage})) << "no text";
  EXPECT_FALSE(streamed(Protocol::messages, {start, text})) << "the usage of the prompt alone";
}

TEST(Stream, AnErrorThatSaysNothingIsNone) {
  for (const Protocol protocol : kAllProtocols)
    for (const std::string none : {"null", "\"\"", "{}", "false", R"({"message": "", "code": null})"}) {
      std::vector<std::string> events = events_of(protocol);
      for (std::string& event : events) event.insert(1, "\"error\": " + none + ", ");
      EXPECT_TRUE(streamed(protocol, events)) << events[0];
    }
}

TEST(Stream, ContentMayComeInParts) {
  const auto reply = streamed(Protocol::chat_completions,
                              {R"({"choices": [{"delta": {"content": [{"type": "thinking", "thinking":
                                   [{"type": "text", "text": "hm"}]}]}}]})",
                               R"({"choices": [{"delta": {"content": [{"type": "text", "text": "h"},
                                   {"type": "text", "text": "i"}]}, "finish_reason": "stop"}]})"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->reasoning, "hm");
}

TEST(Stream, EventsThatCarryNothingAreSkipped) {
  for (const Protocol protocol : kAllProtocols)
    for (const char* nothing : {"", " ", " \t ", "\n", "null", "\"\"", "[]", "{}", "ping", ": ping"}) {
      std::vector<std::string> events;
      for (const std::string& event : events_of(protocol)) events.insert(events.end(), {nothing, event});
      events.emplace_back(nothing);
      const auto reply = streamed(protocol, events);
      ASSERT_TRUE(reply) << name_of(protocol) << " \"" << nothing << "\": " << describe(reply.error().error);
      EXPECT_EQ(reply->text, "hi");
    }
}

TEST(Stream, BlanksAroundDataChangeNothing) {
  for (const Protocol protocol : kAllProtocols) {
    std::vector<std::string> events = events_of(protocol);
    for (std::string& event : events) event = "\t " + event + " \r";
    for (const char* end : {"[DONE] ", "[DONE]\t\r", " [DONE]"}) {
      const auto decoder = make_stream_decoder(protocol);
      for (const std::string& event : events) ASSERT_TRUE(decoder->take("", event)) << event;
      ASSERT_TRUE(decoder->take("", end)) << name_of(protocol);
      EXPECT_TRUE(decoder->ended());
      EXPECT_EQ(decoder->finish().value().text, "hi");
    }
  }
}

TEST(Stream, ADamagedEventIsNotSkipped) {
  for (const Protocol protocol : kAllProtocols)
    for (const char* damaged : {"{garbage", R"([{"choices": [)", R"([{"choices": []}, {"choices": []}])"})
      EXPECT_FALSE(streamed(protocol, {events_of(protocol)[0], damaged, events_of(protocol)[2]})) << damaged;
}

TEST(Stream, WhatAServerSaysInThePlaceOfAReplyIsTold) {
  struct Said {
    const char* event;
    const char* data;
    ErrorCode code;
    const char* words;
  };
  const Said cases[] = {
      {"", R"([{"error": {"code": 429, "message": "slow down"}}])", ErrorCode::rate_limited, "slow down"},
      {"", R"({"choices": [], "usage": null, "reasons": ["busy"]})", ErrorCode::server_failed, "busy"},
      {"", R"({"detail": "upstream is gone"})", ErrorCode::server_failed, "upstream is gone"},
      {"", R"({"errors": [{"message": "upstream is gone"}]})", ErrorCode::server_failed, "upstream is gone"},
      {"", R"({"success": false, "msg": "busy"})", ErrorCode::server_failed, "busy"},
      {"", R"({"object": "error", "message": "busy", "code": 503})", ErrorCode::server_failed, "busy"},
      {"", R"({"msg": "Invalid API key"})", ErrorCode::permission, "Invalid API key"},
      {"error", "upstream timed out", ErrorCode::server_failed, "upstream timed out"},
      {"error", R"({"message": "busy"})", ErrorCode::server_failed, "busy"},
      {"error", R"({"type": "error", "message": "busy"})", ErrorCode::server_failed, "busy"},
      {"error", "", ErrorCode::server_failed, "no reason given"},
      {"", R"({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})",
       ErrorCode::server_failed, "busy"},
      {"", R"({"error": {"code": "rate_limit_exceeded", "message": "slow"}})", ErrorCode::rate_limited,
       "slow"},
      {"", R"({"error": {"code": 401, "message": "no such key"}})", ErrorCode::permission, "no such key"},
  };
  for (const Protocol protocol : kAllProtocols)
    for (const Said& said : cases) {
      const auto decoder = make_stream_decoder(protocol);
      for (const std::string& event :
           {std::string("ping"), std::string(R"({"choices": []})"), events_of(protocol)[0]})
        ASSERT_TRUE(decoder->take("", event));
      const auto taken = decoder->take(said.event, said.data);
      const CallFailure failure = taken ? decoder->finish().error() : taken.error();
      EXPECT_EQ(failure.error.code, said.code) << name_of(protocol) << ": " << said.data;
      EXPECT_NE(failure.error.message.find(said.words), std::string::npos) << failure.error.message;
    }
}

TEST(Stream, ATextInThePlaceOfAReplyIsTold) {
  const std::pair<const char*, ErrorCode> cases[] = {{"upstream timed out", ErrorCode::bad_reply},
                                                     {"the context window is full", ErrorCode::too_long}};
  for (const Protocol protocol : kAllProtocols)
    for (const auto& [text, code] : cases) {
      const auto reply = streamed(protocol, {events_of(protocol)[0], text});
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().error.code, code);
      EXPECT_NE(reply.error().error.message.find(text), std::string::npos) << reply.error().error.message;
    }
}

TEST(Chat, AMessageInThePlaceOfADeltaIsTaken) {
  const auto reply_of = [](const std::vector<std::string>& pieces) {
    std::vector<std::string> events;
    for (const std::string& piece : pieces) events.push_back(R"({"choices": [{)" + piece + "}]}");
    return streamed(Protocol::chat_completions, events);
  };
  const std::string delta = R"("delta": {"content": ")", message = R"("message": {"content": ")";
  const std::string stop = R"(, "finish_reason": "stop")";
  const std::vector<std::string> cases[] = {
      {message + "hi\"}" + stop},
      {message + "h\"}", message + "i\"}" + stop},
      {message + "h\"}", message + "hi\"}", message + "hi\"}" + stop},
      {R"("delta": {}, )" + message + "hi\"}" + stop},
      {message + "h\"}", R"("delta": {"role": "assistant"}, )" + message + "hi\"}" + stop},
      {delta + "h\"}", delta + "i\"}", R"("delta": {}, )" + message + "hi\"}" + stop},
      {delta + "h\"}", delta + "i\"}", message + "hi \"}" + stop},
  };
  for (const auto& pieces : cases) {
    const auto reply = reply_of(pieces);
    ASSERT_TRUE(reply) << pieces[0];
    EXPECT_EQ(reply->text, "hi") << pieces.back();
  }
  EXPECT_EQ(reply_of({R"("message": {"reasoning": "hm"})" + stop}).value().reasoning, "hm");
  const auto whole = decode_reply(Protocol::chat_completions,
                                  R"({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->text, "hi");
}

TEST(Responses, ReasoningIsKeptWhereverItStands) {
  const auto whole = decode_reply(Protocol::responses, R"({"status": "completed", "output": [
    {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}]})");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->reasoning, "hm");
  const auto reply =
      streamed(Protocol::responses,
               {R"({"type": "response.reasoning_text.delta", "delta": "hm"})",
                R"({"type": "response.function_call_arguments.delta", "delta": "{}"})",
                R"({"type": "response.completed", "response": {"status": "completed", "output": []}})"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "");
  EXPECT_EQ(reply->reasoning, "hm");
}

TEST(Stream, BegunIsTheModelsFirstWord) {
  const auto decoder = make_stream_decoder(Protocol::messages);
  ASSERT_TRUE(decoder->take("ping", R"({"type": "ping"})"));
  EXPECT_FALSE(decoder->begun());
  ASSERT_TRUE(
      decoder->take("", R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "h"}})"));
  EXPECT_TRUE(decoder->begun());
}

/// A reply "h" that ends with `reason` where a stop reason stands: its body, and the last event of a stream.
std::pair<std::string, std::string> half_with(Protocol protocol, const std::string& reason) {
  const std::string quoted = "\"" + reason + "\"";
  switch (protocol) {
    case Protocol::chat_completions: {
      const std::string end = R"(, "finish_reason": )" + quoted + "}]}";
      return {R"({"choices": [{"message": {"content": "h"})" + end, R"({"choices": [{"delta": {})" + end};
    }
    case Protocol::responses: {
      const std::string response =
          R"({"status": "incomplete", "incomplete_details": {"reason": )" + quoted +
          R"(}, "output": [{"type": "message", "content": [{"type": "output_text", "text": "h"}]}]})";
      return {response, R"({"type": "response.incomplete", "response": )" + response + "}"};
    }
    case Protocol::messages:
      break;
  }
  return {R"({"content": [{"type": "text", "text": "h"}], "stop_reason": )" + quoted + "}",
          R"({"type": "message_delta", "delta": {"stop_reason": )" + quoted + "}}"};
}

void expect_failure(const CallFailure& failure, const std::string& words, bool overloaded = false) {
  EXPECT_EQ(failure.error.code, ErrorCode::server_failed) << words;
  EXPECT_NE(failure.error.message.find(words), std::string::npos) << failure.error.message;
  EXPECT_TRUE(failure.transient);
  EXPECT_EQ(failure.overloaded, overloaded) << words;
}

TEST(BrokenOff, AReasonOfTheServersIsAFailure) {
  for (const Protocol protocol : kAllProtocols)
    for (const std::string reason :
         {"abort", "error", "insufficient_system_resource", "cancelled", "ABORT"}) {
      const bool overloaded = reason.starts_with("insufficient");
      const auto [body, last] = half_with(protocol, reason);
      const auto whole = decode_reply(protocol, body);
      ASSERT_FALSE(whole) << body;
      expect_failure(whole.error(), reason, overloaded);
      EXPECT_TRUE(whole.error().begun) << "it may be paid for";
      const auto decoder = make_stream_decoder(protocol);
      ASSERT_TRUE(decoder->take("", events_of(protocol)[0]));
      const auto end = decoder->take("", last);
      ASSERT_FALSE(end) << last;
      expect_failure(end.error(), reason, overloaded);
      EXPECT_TRUE(decoder->begun());
      EXPECT_FALSE(decoder->complete());
    }
}

TEST(BrokenOff, ALimitAndAFilterAreTheReplys) {
  const std::tuple<Protocol, const char*, Finish> cases[] = {
      {Protocol::chat_completions, "length", Finish::length},
      {Protocol::chat_completions, "model_length", Finish::length},
      {Protocol::chat_completions, "max_tokens", Finish::length},
      {Protocol::chat_completions, "content_filter", Finish::declined},
      {Protocol::chat_completions, "tool_calls", Finish::other},
      {Protocol::responses, "max_output_tokens", Finish::length},
      {Protocol::responses, "max_tokens", Finish::length},
      {Protocol::responses, "content_filter", Finish::declined},
      {Protocol::messages, "max_tokens", Finish::length},
      {Protocol::messages, "refusal", Finish::declined},
  };
  for (const auto& [protocol, reason, finish] : cases) {
    const auto reply = decode_reply(protocol, half_with(protocol, reason).first);
    ASSERT_TRUE(reply) << reason;
    EXPECT_EQ(reply->finish, finish) << reason;
  }
  const auto untold = decode_reply(Protocol::responses,
                                   R"({"status": "incomplete", "incomplete_details": null, "output": []})");
  ASSERT_TRUE(untold);
  EXPECT_EQ(untold->finish, Finish::length) << "only a limit is reported as one";
}

TEST(BrokenOff, AnIncompleteResponseWithAnotherReasonIsAFailure) {
  const auto reply = decode_reply(Protocol::responses, half_with(Protocol::responses, "gpu_lost").first);
  ASSERT_FALSE(reply);
  expect_failure(reply.error(), "gpu_lost");
}

TEST(BrokenOff, AFailedResponseNeedsNoError) {
  const auto whole =
      decode_reply(Protocol::responses, R"({"status": "failed", "error": null, "output": []})");
  ASSERT_FALSE(whole);
  expect_failure(whole.error(), "failed");
  const auto decoder = make_stream_decoder(Protocol::responses);
  for (const auto& [error, words] : {std::pair(R"("status": "failed")", "failed"),
                                     {R"("error": {"code": "server_error", "message": "oh"})", "oh"}}) {
    const auto end =
        decoder->take("", R"({"type": "response.failed", "response": {)" + std::string(error) + "}}");
    ASSERT_FALSE(end);
    expect_failure(end.error(), words);
  }
}

TEST(BrokenOff, AnErrorWithinAChoiceIsItsFailure) {
  const std::string error = R"("error": {"code": 502, "message": "provider disconnected"}, )";
  for (const char* reason : {R"("error")", R"("stop")", "null"}) {
    const std::string choice = error + R"("finish_reason": )" + reason;
    const auto whole = decode_reply(Protocol::chat_completions,
                                    R"({"choices": [{"message": {"content": "hal"}, )" + choice + "}]}");
    ASSERT_FALSE(whole) << reason;
    expect_failure(whole.error(), "provider disconnected");
    EXPECT_TRUE(whole.error().begun);
    const auto decoder = make_stream_decoder(Protocol::chat_completions);
    const auto taken = decoder->take("", R"({"choices": [{"delta": {"content": "hal"}, )" + choice + "}]}");
    ASSERT_FALSE(taken) << reason;
    expect_failure(taken.error(), "provider disconnected");
    EXPECT_EQ(decoder->so_far(), "hal");
  }
  EXPECT_TRUE(decode_reply(
      Protocol::chat_completions,
      R"({"choices": [{"error": null, "message": {"content": "hi"}, "finish_reason": "stop"}]})"));
}

TEST(Decode, RefusalsAreNamed) {
  for (const auto& [protocol, body] :
       {std::pair(
            Protocol::chat_completions,
            R"({"choices": [{"message": {"content": null, "refusal": "no"}, "finish_reason": "stop"}]})"),
        {Protocol::responses, R"({"status": "completed", "output": [{"type": "message", "content":
                                 [{"type": "refusal", "refusal": "no"}]}]})"}}) {
    const auto reply = decode_reply(protocol, body);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->finish, Finish::declined);
    EXPECT_EQ(reply->finish_detail, "no");
  }
}

}  // namespace
}  // namespace kernelsmith
