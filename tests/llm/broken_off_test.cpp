// Replies that the server broke off, and says so in the reason to end: failures that another attempt may
// mend.
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {
namespace {

/// Half a reply, and an end with `reason` where a stop reason stands: as a body and as a stream.
struct Half {
  Protocol protocol;
  std::string body, piece, end;
};

Half half_with(Protocol protocol, const std::string& reason) {
  const std::string quoted = "\"" + reason + "\"";
  switch (protocol) {
    case Protocol::chat_completions:
      return {protocol, R"({"choices": [{"message": {"content": "hal"}, "finish_reason": )" + quoted + "}]}",
              R"({"choices": [{"delta": {"content": "hal"}}]})",
              R"({"choices": [{"delta": {}, "finish_reason": )" + quoted + "}]}"};
    case Protocol::responses: {
      const std::string response =
          R"({"status": "incomplete", "incomplete_details": {"reason": )" + quoted +
          R"(}, "output": [{"type": "message", "content": [{"type": "output_text", "text": "hal"}]}]})";
      return {protocol, response, R"({"type": "response.output_text.delta", "delta": "hal"})",
              R"({"type": "response.incomplete", "response": )" + response + "}"};
    }
    case Protocol::messages:
      break;
  }
  return {protocol, R"({"content": [{"type": "text", "text": "hal"}], "stop_reason": )" + quoted + "}",
          R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hal"}})",
          R"({"type": "message_delta", "delta": {"stop_reason": )" + quoted + "}}"};
}

void expect_failure(const CallFailure& failure, const std::string& words, bool overloaded = false) {
  EXPECT_EQ(failure.error.code, ErrorCode::server_failed) << words;
  EXPECT_NE(failure.error.message.find(words), std::string::npos) << failure.error.message;
  EXPECT_TRUE(failure.transient);
  EXPECT_EQ(failure.overloaded, overloaded) << words;
}

constexpr Protocol kAll[] = {Protocol::chat_completions, Protocol::responses, Protocol::messages};

TEST(BrokenOff, AReasonOfTheServersIsAFailure) {
  for (const Protocol protocol : kAll)
    for (const std::string reason :
         {"abort", "error", "insufficient_system_resource", "cancelled", "ABORT"}) {
      const bool overloaded = reason.starts_with("insufficient");
      const Half half = half_with(protocol, reason);
      const auto whole = decode_reply(protocol, half.body);
      ASSERT_FALSE(whole) << half.body;
      expect_failure(whole.error(), reason, overloaded);
      EXPECT_TRUE(whole.error().begun) << "it may be paid for";
      const auto decoder = make_stream_decoder(protocol);
      ASSERT_TRUE(decoder->take("", half.piece));
      const auto end = decoder->take("", half.end);
      ASSERT_FALSE(end) << half.end;
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
    const auto reply = decode_reply(protocol, half_with(protocol, reason).body);
    ASSERT_TRUE(reply) << reason;
    EXPECT_EQ(reply->finish, finish) << reason;
  }
  const auto untold = decode_reply(Protocol::responses,
                                   R"({"status": "incomplete", "incomplete_details": null, "output": []})");
  ASSERT_TRUE(untold);
  EXPECT_EQ(untold->finish, Finish::length) << "only a limit is reported as one";
}

TEST(BrokenOff, AnIncompleteResponseWithAnotherReasonIsAFailure) {
  const auto reply = decode_reply(Protocol::responses, half_with(Protocol::responses, "gpu_lost").body);
  ASSERT_FALSE(reply);
  expect_failure(reply.error(), "gpu_lost");
}

TEST(BrokenOff, AFailedResponseNeedsNoError) {
  const auto whole =
      decode_reply(Protocol::responses, R"({"status": "failed", "error": null, "output": []})");
  ASSERT_FALSE(whole);
  expect_failure(whole.error(), "failed");
  const auto decoder = make_stream_decoder(Protocol::responses);
  const auto end = decoder->take("", R"({"type": "response.failed", "response": {"status": "failed"}})");
  ASSERT_FALSE(end);
  expect_failure(end.error(), "failed");
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

}  // namespace
}  // namespace kernelsmith
