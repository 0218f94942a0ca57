// What was paid for is not bought twice, what was broken off is, and what a server says arrives: the client
// against a scripted TLS server.
#include <gmock/gmock.h>

#include "client_fixture.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;
using testing::Not;

using ClientPaid = ClientFixture;

struct Events {
  Protocol protocol;
  std::vector<std::string> events;
};

const Events kRight[] = {
    {Protocol::chat_completions,
     {R"({"choices": [{"delta": {"content": "ri"}}]})", R"({"choices": [{"delta": {"content": "ght"}}]})",
      R"({"choices": [{"delta": {}, "finish_reason": "stop"}]})"}},
    {Protocol::responses,
     {R"({"type": "response.output_text.delta", "delta": "ri"})",
      R"({"type": "response.output_text.delta", "delta": "ght"})",
      R"({"type": "response.completed", "response": {"status": "completed"}})"}},
    {Protocol::messages,
     {R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ri"}})",
      R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ght"}})",
      R"({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})", R"({"type": "message_stop"})"}},
};

TEST_F(ClientPaid, AStreamWithEmptyEventsIsBoughtOnce) {
  for (const auto& [protocol, events] : kRight)
    for (const char* nothing :
         {"data:\n\n", "data: \n\n", "event: keepalive\ndata:  \n\n", "data: ping\n\n"}) {
      std::string stream = stream_head();
      for (const std::string& event : events) stream += chunk(nothing) + chunk("data: " + event + " \n\n");
      serve(always(stream + chunk(nothing) + chunk("data: [DONE] \n\n") + last_chunk()));
      const auto reply = ask(*client({.limits = {}, .retry = eager(2)}, protocol));
      ASSERT_TRUE(reply) << name_of(protocol) << ": " << describe(reply.error());
      EXPECT_EQ(reply->text, "right");
      EXPECT_EQ(server_->requests(), 1u) << name_of(protocol);
    }
}

TEST_F(ClientPaid, ADoneWithBlanksEndsAnExchangeThatStaysOpen) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    std::string stream = stream_head();
    for (const std::string& event : kRight[0].events) stream += chunk("data: " + event + "\n\n");
    connection.send(stream + chunk("data: [DONE] \n\n"));
    connection.stall();
    return false;
  });
  const CallLimits limits{.silence = std::chrono::hours(1), .total = std::chrono::seconds(60)};
  const auto reply = ask(*client({.limits = limits, .retry = eager(1)}));
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "right");
}

TEST_F(ClientPaid, WhatTheServerBrokeOffIsAskedAgain) {
  for (const char* reason : {"abort", "error", "insufficient_system_resource"}) {
    const std::string end = std::string(R"("finish_reason": ")") + reason + "\"}]}";
    expect_right_after(stream_head() +
                       chunk("data: {\"choices\": [{\"delta\": {\"content\": \"hal\"}, " + end + "\n\n") +
                       last_chunk());
    expect_right_after(http_answer(200, R"({"choices": [{"message": {"content": "hal"}, )" + end));
  }
  expect_right_after(http_answer(
      200,
      R"({"choices": [{"message": {"content": "hal"}, "error": {"message": "gone"}, "finish_reason": "stop"}]})"));
}

TEST_F(ClientPaid, WhatWasBrokenOffMayBeBilled) {
  serve(always(
      http_answer(200, R"({"choices": [{"message": {"content": "hal"}, "finish_reason": "abort"}]})")));
  const auto asking = client({.limits = {}, .retry = eager(1)});
  int lost = 0;
  auto answer = begin_call(*asking, a_call(false), {}, [&](const LostCall&) { ++lost; });
  EXPECT_EQ(answer.get().error().code, ErrorCode::server_failed);
  EXPECT_EQ(lost, 1);
}

TEST_F(ClientPaid, WhatIsInAListIsRead) {
  serve(always(http_answer(200, "[" + good_body("right") + "]")));
  EXPECT_EQ(ask(*client({.retry = eager(1)})).value().text, "right");
  for (const char* type : {"application/json", "text/event-stream"}) {
    const Error error =
        error_of(http_answer(200, R"( [ {"error": {"code": 401, "message": "no such key"}}])", "", type), 20);
    EXPECT_EQ(error.code, ErrorCode::permission) << type;
    EXPECT_THAT(error.message, HasSubstr("no such key"));
    EXPECT_EQ(server_->requests(), 1u);
  }
}

TEST_F(ClientPaid, MoneyIsNotAskedForAgain) {
  const Error error = error_of(http_answer(402, R"({"error": {"message": "add credits"}})"), 20);
  EXPECT_EQ(error.code, ErrorCode::rate_limited);
  EXPECT_THAT(error.message, HasSubstr("money"));
  EXPECT_THAT(error.message, HasSubstr("add credits"));
  EXPECT_EQ(server_->requests(), 1u);
}

TEST_F(ClientPaid, ATextInThePlaceOfAReplyTellsWhatItIs) {
  const std::string key = kTestKey;
  const Error refused = error_of(http_answer(200, "[ERROR] Invalid API key " + key, "", "text/plain"), 20);
  EXPECT_EQ(refused.code, ErrorCode::permission);
  EXPECT_THAT(refused.message, HasSubstr("[ERROR] Invalid API key [key]"));
  EXPECT_EQ(server_->requests(), 1u);
  const Error shown = error_of(http_answer(200, R"({"weather": "fine, )" + key + "\"}"), 1);
  EXPECT_EQ(shown.code, ErrorCode::bad_reply);
  EXPECT_THAT(shown.message, HasSubstr("weather: fine, [key]"));
}

TEST_F(ClientPaid, AnAnswerThatIsOnlyReasoningIsTold) {
  serve(always(http_answer(
      200,
      R"({"choices": [{"message": {"content": "", "reasoning_content": "hm"}, "finish_reason": "stop"}]})")));
  const auto reply = ask(*client({.retry = eager(1)}));
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->reasoning, "hm");
  ASSERT_EQ(notices_.messages().size(), 1u);
  EXPECT_THAT(notices_.messages()[0], HasSubstr("reasoning"));
  EXPECT_THAT(notices_.messages()[0], Not(HasSubstr(kTestKey)));
}

}  // namespace
}  // namespace kernelsmith
