// The client against a scripted TLS server: what it asks and takes, and how many calls share it.
#include <atomic>
#include <condition_variable>

#include <gmock/gmock.h>

#include "client_fixture.hpp"

namespace kernelsmith {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

using Client = ClientFixture;

TEST_F(Client, AsksInEachProtocol) {
  struct Case {
    Protocol protocol;
    const char *path, *header;
    std::vector<std::string> events;
  };
  const Case cases[] = {
      {Protocol::chat_completions,
       "POST /v1/chat/completions ",
       "Authorization: Bearer ",
       {R"({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})",
        R"({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})"}},
      {Protocol::responses,
       "POST /v1/responses ",
       "Authorization: Bearer ",
       {R"({"type": "response.output_text.delta", "delta": "hi"})",
        R"({"type": "response.completed", "response": {"usage": {"input_tokens": 3, "output_tokens": 2}}})"}},
      {Protocol::messages,
       "POST /v1/messages ",
       "x-api-key: ",
       {R"({"type": "message_start", "message": {"usage": {"input_tokens": 3}}})",
        R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}})",
        R"({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}})"}},
  };
  for (const Case& c : cases) {
    ServerRequest asked;
    serve([&](const ServerRequest& request, ServerConnection& connection) {
      asked = request;
      std::string answer = stream_head();
      for (const std::string& event : c.events) answer += chunk("data: " + event + "\n\n");
      return connection.send(answer + last_chunk());
    });
    const auto reply = ask(*client({.retry = eager(20)}, c.protocol));
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->text, "hi");
    EXPECT_EQ(reply->finish, Finish::stop);
    EXPECT_EQ(reply->usage, (Usage{.input_tokens = 3, .output_tokens = 2}));
    server_.reset();  // its threads have ended
    EXPECT_THAT(asked.head, HasSubstr(c.path));
    EXPECT_THAT(asked.head, HasSubstr(std::string(c.header) + kTestKey + "\r\n"));
    const bool bearer = c.protocol != Protocol::messages;
    EXPECT_EQ(asked.head.find("Authorization") != std::string::npos, bearer);
    EXPECT_THAT(asked.body, HasSubstr("\"hello\""));
  }
}

TEST_F(Client, AWholeReplyIsTakenHoweverItComes) {
  const std::string events =
      "data: {\"choices\": [{\"delta\": {\"content\": \"events\"}, \"finish_reason\": \"stop\"}]}\n\n";
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string in_pieces = chunked;
  for (const char c : "\n" + events) in_pieces += chunk({&c, 1});
  const std::string body = good_body("body");
  const std::pair<std::string, std::string> cases[] = {
      {http_answer(200, events, "", "Text/Event-Stream; charset=utf-8"), "events"},
      {http_answer(200, events), "events"},
      {http_answer(200, "\xEF\xBB\xBF: hello\nevent: x\n" + events, "", "text/plain"), "events"},
      {in_pieces + last_chunk(), "events"},
      {stream_head() + chunk(events) + "0\r\nContent-Type: text/plain\r\n\r\n", "events"},
      {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events.substr(0, events.size() - 2),
       "events"},
      {http_answer(200, "\n " + body, "", "text/event-stream"), "body"},
      {http_answer(200, " [" + body + "]", "", "text/event-stream"), "body"},
      {http_answer(200, body, "", "text/plain"), "body"},
      {http_answer(201, body), "body"},
      {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size() + 1) + "\r\n\r\n" + body, "body"},
  };
  for (const auto& [answer, text] : cases)
    for (const bool stream : {true, false}) {
      serve(always(answer));
      const auto reply = ask(*client({.retry = eager(1)}), a_call(stream));
      ASSERT_TRUE(reply) << answer << describe(reply.error());
      EXPECT_EQ(reply->text, text);
    }
}

/// A file of RFC 1952, with the bytes stored as they are.
std::string gzip(const std::string& bytes) {
  const auto little = [](std::uint32_t number, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += static_cast<char>(number >> (8 * i));
    return text;
  };
  std::uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
  }
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + '\x01' + little(size, 2) + little(~size, 2) +
         bytes + little(~crc, 4) + little(size, 4);
}

TEST_F(Client, TakesGzip) {
  std::string head;
  serve([&](const ServerRequest& request, ServerConnection& connection) {
    head = request.head;
    return connection.send(http_answer(200, gzip(good_body("packed")), "Content-Encoding: gzip\r\n"));
  });
  EXPECT_EQ(ask(*patient()).value().text, "packed");
  server_.reset();
  EXPECT_THAT(head, HasSubstr("Accept-Encoding: gzip\r\n"));
  expect_right_after(http_answer(200, "this is no gzip", "Content-Encoding: gzip\r\n"));
}

TEST_F(Client, SpeaksHttp2WhereTheServerDoes) {
  serve(
      [](const ServerRequest& request, ServerConnection& connection) {
        EXPECT_THAT(request.body, HasSubstr("hello"));
        return connection.send(http_answer(request.number == 0 ? 503 : 200, good_body("two")));
      },
      true);
  EXPECT_EQ(ask(*patient()).value().text, "two");
  EXPECT_EQ(server_->requests(), 2u);
}

TEST_F(Client, TheKeyIsInNoErrorNoNoticeAndNoReply) {
  const std::string said = std::string("you sent ") + kTestKey;
  serve(always(good_stream(said)));
  EXPECT_EQ(ask(*patient()).value().text, "you sent [key]");
  const Error error = error_of(http_answer(500, R"({"error": {"message": ")" + said + "\"}}"));
  EXPECT_THAT(describe(error), HasSubstr("you sent [key]"));
  EXPECT_EQ(notices_.messages().size(), 1u);
  EXPECT_THAT(notices_.messages(), Each(HasSubstr("you sent [key]")));
  const Error cut = error_of(http_answer(401, std::string(370, 'x') + kTestKey));
  EXPECT_THAT(describe(cut), Not(HasSubstr("sk-planted")));
}

TEST_F(Client, AnAnswerThatIsOnlyReasoningIsTold) {
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

TEST_F(Client, WhatWasBrokenOffMayBeBilled) {
  serve(always(
      http_answer(200, R"({"choices": [{"message": {"content": "hal"}, "finish_reason": "abort"}]})")));
  const auto asking = client({.limits = {}, .retry = eager(1)});
  int lost = 0;
  auto answer = begin_call(*asking, a_call(false), {}, [&](const LostCall&) { ++lost; });
  EXPECT_EQ(answer.get().error().code, ErrorCode::server_failed);
  EXPECT_EQ(lost, 1);
}

TEST_F(Client, AStopEndsACallSoon) {
  std::promise<void> arrived;
  serve([&](const ServerRequest&, ServerConnection& connection) {
    arrived.set_value();
    connection.stall();
    return false;
  });
  const auto calls = client();
  std::stop_source stop;
  auto answer = begin_call(*calls, a_call(), stop.get_token());
  arrived.get_future().wait();
  stop.request_stop();
  const auto reply = answer.get();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::cancelled);
}

TEST_F(Client, WhatIsBrokenOffIsLostUnlessTheServerRefusesEveryCall) {
  for (const bool refuses : {true, false}) {
    std::promise<void> arrived;
    serve([&](const ServerRequest& request, ServerConnection& connection) {
      if (request.number > 0)
        return connection.send(refuses ? http_answer(401, R"({"error": {"message": "no"}})")
                                       : good_stream("hi"));
      arrived.set_value();
      connection.stall();
      return false;
    });
    const auto asking = client({.limits = {}, .retry = eager(1)});
    std::stop_source stop;
    std::atomic<int> lost = 0;
    auto answer = begin_call(*asking, a_call(), stop.get_token(), [&](const LostCall&) { ++lost; });
    arrived.get_future().wait();
    EXPECT_EQ(ask(*asking).has_value(), !refuses);
    stop.request_stop();
    EXPECT_EQ(answer.get().error().code, ErrorCode::cancelled);
    EXPECT_EQ(lost, refuses ? 0 : 1);
  }
}

TEST_F(Client, RateLimitsThatAreUsedUpForLongTurnCallsAway) {
  serve(always(http_answer(200, good_body("last"),
                           "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 24h\r\n")));
  const auto asking = client();
  EXPECT_EQ(ask(*asking).value().text, "last");
  std::stop_source stop;
  auto next = begin_call(*asking, a_call(), stop.get_token());
  EXPECT_EQ(next.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  stop.request_stop();
  const auto reply = next.get();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::rate_limited);
  EXPECT_THAT(reply.error().message, HasSubstr("for another 86"));
  EXPECT_EQ(server_->requests(), 1u);
}

TEST_F(Client, WhatIsStoppedBeforehandIsNotSent) {
  serve(always(good_stream("paid for nothing")));
  const auto calls = client();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(begin_call(*calls, a_call(), stop.get_token()).get().error().code, ErrorCode::cancelled);
  EXPECT_EQ(server_->requests(), 0u);
}

TEST_F(Client, AStopEndsAPause) {
  serve(always(http_answer(429, "{}", "Retry-After: 500\r\n")));
  std::promise<void> waiting;
  ClientOptions options;
  options.notice = [&](const Notice&) { waiting.set_value(); };
  const auto calls = ModelClient::create(endpoint_of(*server_, ca_.file), options).value();
  std::stop_source stop;
  auto answer = begin_call(*calls, a_call(), stop.get_token());
  waiting.get_future().wait();
  stop.request_stop();
  EXPECT_EQ(answer.get().error().code, ErrorCode::cancelled);
}

TEST_F(Client, NoMoreCallsInFlightThanAllowed) {
  std::atomic<int> now = 0, most = 0;
  serve([&](const ServerRequest&, ServerConnection& connection) {
    const int here = ++now;
    for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
    }
    std::this_thread::yield();
    --now;
    return connection.send(good_stream("hi"));
  });
  const auto calls = client({.retry = eager(20), .pacing = {.concurrency = 3}});
  std::vector<std::future<Result<ModelReply>>> answers;
  for (int i = 0; i < 60; ++i) answers.push_back(begin_call(*calls, a_call()));
  for (auto& answer : answers) EXPECT_TRUE(answer.get());
  EXPECT_LE(most, 3);
}

TEST_F(Client, ConnectionsAreKeptForLaterCalls) {
  constexpr std::size_t kCalls = 20;
  std::mutex mutex;
  std::condition_variable all;
  std::size_t arrived = 0;
  serve([&](const ServerRequest&, ServerConnection& connection) {  // in rounds: all together, then all end
    {
      std::unique_lock lock(mutex);
      const std::size_t round_end = (arrived++ / kCalls + 1) * kCalls;
      all.notify_all();
      all.wait(lock, [&] { return arrived >= round_end; });
    }
    return connection.send(good_stream("hi"));
  });
  const auto calls = client({.pacing = {.concurrency = kCalls}});
  for (int round = 0; round < 2; ++round) {
    std::vector<std::future<Result<ModelReply>>> answers;
    for (std::size_t i = 0; i < kCalls; ++i) answers.push_back(begin_call(*calls, a_call()));
    for (auto& answer : answers) EXPECT_TRUE(answer.get());
  }
  EXPECT_EQ(server_->connections(), kCalls);
}

TEST_F(Client, ANewConnectionResumesTheTlsSessionOfAnOlderOne) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send(closing(good_stream("hi")));
    return false;
  });
  const auto calls = client();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(*calls));
  EXPECT_EQ(server_->connections(), 3u);
  EXPECT_EQ(server_->resumed(), 2u);
}

TEST_F(Client, RecordsThatArriveTogetherAreAllRead) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    // Each send() is a TLS record; the last ones come together, and nothing behind them wakes the client.
    bool open = connection.send(stream_head());
    for (int i = 0; i < 500; ++i) {
      const std::string piece = chunk(R"(data: {"choices": [{"delta": {"content": "x"}}]})"
                                      "\n\n");
      open = open && connection.send(piece.substr(0, 3)) && connection.send(piece.substr(3));
    }
    return open && connection.send(good_stream("end").substr(stream_head().size()));
  });
  // What ends one call also has others read, whose sockets do not signal them.
  const auto calls = client({.limits = {.silence = std::chrono::seconds{10}}, .retry = eager(1)});
  std::string whole(500, 'x');
  whole += "end";
  std::vector<std::future<Result<ModelReply>>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(begin_call(*calls, a_call()));
  for (auto& answer : answers) EXPECT_EQ(answer.get().value().text, whole);
}

TEST_F(Client, OfManyCallsWithManyFailuresNoneIsLost) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    switch (request.number % 5) {
      case 0:
        return connection.send(http_answer(503, "{}"));
      case 1:
        connection.send(stream_head() + chunk("data: {\"choices\""));
        connection.reset();
        return false;
      case 2:
        return connection.send(http_answer(200, R"({"choices": []})"));
      default:
        return connection.send(good_stream("hi"));
    }
  });
  const auto calls = client({.retry = eager(100), .pacing = {.concurrency = 16}});
  std::vector<std::future<Result<ModelReply>>> answers;
  for (int i = 0; i < 200; ++i) answers.push_back(begin_call(*calls, a_call()));
  for (auto& answer : answers) {
    const auto reply = answer.get();
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->text, "hi");
  }
}

}  // namespace
}  // namespace kernelsmith
