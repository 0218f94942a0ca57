// The client against a scripted TLS server: each way to fail ends in a right answer after a retry, or in one
// named error. Limits of time stand against servers that stall for ever, so that a slow machine changes
// nothing.
#include <condition_variable>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "client_support.hpp"

namespace kernelsmith {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// Retries at once, so that tests do not wait.
RetryPolicy eager(unsigned attempts) {
  return {.attempts = attempts, .first_pause = 1ms, .longest_pause = 1ms};
}

class Client : public testing::Test {
 protected:
  /// A server that gives `bad` for the first request and then a right answer.
  static TlsServer::Handler first(std::string bad) {
    return [bad = std::move(bad)](const ServerRequest& request, ServerConnection& connection) {
      const bool keep = connection.send(request.number == 0 ? bad : good_stream("right"));
      return keep && request.number != 0;  // some of the bad answers have no end but the connection's
    };
  }

  static TlsServer::Handler always(std::string answer) {
    return [answer = std::move(answer)](const ServerRequest&, ServerConnection& connection) {
      connection.send(answer);
      return false;
    };
  }

  void serve(TlsServer::Handler handler, bool http2 = false) {
    server_ = std::make_unique<TlsServer>(make_certificate(ca_.identity, {}), std::move(handler), http2);
  }

  std::shared_ptr<ModelClient> client(ClientOptions options = {},
                                      Protocol protocol = Protocol::chat_completions) {
    options.notice = [this](const Notice& notice) { notices_(notice); };
    auto made = ModelClient::create(endpoint_of(*server_, ca_.file, protocol), options);
    EXPECT_TRUE(made);
    return made.value();
  }

  std::shared_ptr<ModelClient> patient() { return client({.limits = {}, .retry = eager(20)}); }

  /// What the first bad answer leads to: the right one, from the second request.
  void expect_right_after(const std::string& bad) {
    serve(first(bad));
    const auto reply = ask(*patient());
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->text, "right");
    EXPECT_EQ(server_->requests(), 2u);
  }

  Error error_of(const std::string& answer, unsigned attempts = 2, CallLimits limits = {}) {
    serve(always(answer));
    const auto reply = ask(*client({.limits = limits, .retry = eager(attempts)}));
    EXPECT_FALSE(reply);
    return reply ? Error{} : reply.error();
  }

  TestCa ca_;
  NoticeLog notices_;
  std::unique_ptr<TlsServer> server_;
};

TEST_F(Client, AsksAndDecodesChatCompletions) {
  std::string head, body;
  serve([&](const ServerRequest& request, ServerConnection& connection) {
    head = request.head;
    body = request.body;
    return connection.send(good_stream("hi"));
  });
  const auto reply = ask(*patient());
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->finish, Finish::stop);
  EXPECT_EQ(reply->usage, (Usage{.input_tokens = 3, .output_tokens = 2}));
  server_.reset();  // its threads have ended
  EXPECT_THAT(head, HasSubstr("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr(std::string("Authorization: Bearer ") + kTestKey + "\r\n"));
  EXPECT_THAT(body, HasSubstr("\"hello\""));
}

TEST_F(Client, AsksAndDecodesResponses) {
  const std::string event =
      R"(data: {"type": "response.completed", "response": {"status": "completed", "output": [{"type": "message",
"content": [{"type": "output_text", "text": "hi"}]}]}})";
  std::string one_line = event;
  std::erase(one_line, '\n');
  serve(always(stream_head() + chunk(one_line + "\n\n") + last_chunk()));
  const auto reply = ask(*client({}, Protocol::responses));
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "hi");
}

TEST_F(Client, AsksAndDecodesMessages) {
  std::string head;
  serve([&](const ServerRequest& request, ServerConnection& connection) {
    head = request.head;
    return connection.send(
        stream_head() +
        chunk("event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"delta\": {\"type\": "
              "\"text_delta\", \"text\": \"hi\"}}\n\n") +
        chunk("event: message_delta\ndata: {\"type\": \"message_delta\", \"delta\": {\"stop_reason\": "
              "\"end_turn\"}}\n\n") +
        last_chunk());
  });
  const auto reply = ask(*client({}, Protocol::messages));
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "hi");
  server_.reset();
  EXPECT_THAT(head, HasSubstr("POST /v1/messages "));
  EXPECT_THAT(head, HasSubstr(std::string("x-api-key: ") + kTestKey + "\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Authorization")));
}

TEST_F(Client, TakesAPlainBodyWhereItAskedForAStreamAndTheOtherWayRound) {
  serve(always(http_answer(200, good_body("plain"))));
  EXPECT_EQ(ask(*patient(), a_call(true)).value().text, "plain");
  EXPECT_EQ(ask(*patient(), a_call(false)).value().text, "plain");
  serve(always(good_stream("stream")));
  EXPECT_EQ(ask(*patient(), a_call(false)).value().text, "stream");
}

TEST_F(Client, RetriesWhatServersFailWith) {
  for (const int status : {408, 429, 500, 502, 503, 504, 529})
    expect_right_after(http_answer(status, R"({"error": {"message": "later"}})"));
}

TEST_F(Client, WaitsForRetryAfterInSeconds) {
  expect_right_after(http_answer(429, "{}", "Retry-After: 1\r\n"));
  ASSERT_EQ(notices_.messages().size(), 1u);
  EXPECT_THAT(notices_.messages()[0], HasSubstr("again in 1000 ms"));
}

TEST_F(Client, WaitsForRetryAfterAsADate) {
  expect_right_after(http_answer(429, "{}",
                                 "Date: Wed, 04 Mar 2026 05:06:07 GMT\r\n"
                                 "Retry-After: Wed, 04 Mar 2026 05:06:08 GMT\r\n"));
  ASSERT_EQ(notices_.messages().size(), 1u);
  EXPECT_THAT(notices_.messages()[0], HasSubstr("again in 1000 ms"));
}

TEST_F(Client, ALongerPauseThanItWaitsEndsTheCall) {
  const Error error = error_of(http_answer(429, "{}", "Retry-After: 3600\r\n"), 20);
  EXPECT_EQ(error.code, ErrorCode::rate_limited);
  EXPECT_THAT(error.message, HasSubstr("3600 s"));
  EXPECT_EQ(server_->requests(), 1u);
}

TEST_F(Client, RetriesAfterAStallBeforeTheFirstToken) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    if (request.number > 0) return connection.send(good_stream("right"));
    connection.stall();
    return false;
  });
  EXPECT_EQ(ask(*client({.limits = {.first_token = 1s}, .retry = eager(50)})).value().text, "right");
}

TEST_F(Client, AServerThatSendsOnlyPingsIsNotAnsweringEither) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send(stream_head());
    while (connection.send(chunk(": ping\n\n"))) std::this_thread::sleep_for(1ms);
    return false;
  });
  const auto reply = ask(*client({.limits = {.first_token = 200ms}, .retry = eager(2)}));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::timeout);
  EXPECT_THAT(reply.error().message, HasSubstr("first_token"));
}

TEST_F(Client, RetriesAfterAStallInMidStream) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    if (request.number > 0) return connection.send(good_stream("right"));
    connection.send(stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"wro\"}}]}\n\n"));
    connection.stall();
    return false;
  });
  EXPECT_EQ(ask(*client({.limits = {.silence = 1s}, .retry = eager(50)})).value().text, "right");
}

TEST_F(Client, EachLimitOfTimeIsNamed) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send(stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"wro\"}}]}\n\n"));
    connection.stall();
    return false;
  });
  const auto silent = ask(*client({.limits = {.silence = 50ms}, .retry = eager(1)}));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::timeout);
  EXPECT_THAT(silent.error().message, HasSubstr("silence_s"));
  const auto total = ask(*client({.limits = {.total = 50ms}, .retry = eager(1)}));
  ASSERT_FALSE(total);
  EXPECT_EQ(total.error().code, ErrorCode::timeout);
  EXPECT_THAT(total.error().message, HasSubstr("total_s"));
}

TEST_F(Client, RetriesAfterAResetInMidStream) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    if (request.number > 0) return connection.send(good_stream("right"));
    connection.send(stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"wro\"}}]}\n\n"));
    connection.reset();
    return false;
  });
  EXPECT_EQ(ask(*patient()).value().text, "right");
}

TEST_F(Client, AnAnswerThatWasCompleteBeforeTheConnectionBrokeIsKept) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send(
        stream_head() +
        chunk(
            "data: {\"choices\": [{\"delta\": {\"content\": \"paid\"}, \"finish_reason\": \"stop\"}]}\n\n"));
    return false;
  });
  const auto reply = ask(*patient());
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "paid");
  EXPECT_EQ(server_->requests(), 1u);
}

TEST_F(Client, RetriesTruncatedAnswers) {
  const std::string body = good_body("wrong");
  expect_right_after(http_answer(200, body.substr(0, body.size() / 2)));
  std::string short_body = http_answer(200, body);
  short_body.resize(short_body.size() - 10);  // less than its Content-Length
  expect_right_after(short_body);
  expect_right_after(stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"wro\"}}]}\n\n") +
                     last_chunk());
  expect_right_after(stream_head() + chunk("data: {\"choices\": [{\"delta\"\n\n") + last_chunk());
  expect_right_after(stream_head() + chunk("data: {\"choi"));
  expect_right_after("");
}

TEST_F(Client, RetriesInvalidUtf8EmptyChoicesAndErrorsWithinTheStream) {
  expect_right_after(http_answer(200, good_body("\xFF\xFE")));
  expect_right_after(stream_head() +
                     chunk("data: {\"choices\": [{\"delta\": {\"content\": \"\xC3\x28\"}}]}\n\n") +
                     last_chunk());
  expect_right_after(http_answer(200, R"({"choices": []})"));
  expect_right_after(stream_head() + chunk("data: {\"error\": {\"type\": \"overloaded_error\"}}\n\n") +
                     last_chunk());
}

TEST_F(Client, WhatNeverBecomesAnAnswerIsABadReply) {
  EXPECT_EQ(error_of(http_answer(200, R"({"choices": []})")).code, ErrorCode::bad_reply);
  EXPECT_EQ(server_->requests(), 2u);
  EXPECT_EQ(error_of(http_answer(200, good_body("\xFF"))).code, ErrorCode::bad_reply);
  EXPECT_EQ(error_of(http_answer(200, "<html>welcome</html>", "", "text/html")).code, ErrorCode::bad_reply);
}

TEST_F(Client, AModelsRefusalAndALengthLimitAreReplies) {
  serve(always(
      http_answer(200, R"({"choices": [{"message": {"refusal": "I cannot"}, "finish_reason": "stop"}]})")));
  const auto refusal = ask(*patient());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->finish, Finish::declined);
  EXPECT_EQ(refusal->finish_detail, "I cannot");
  serve(always(
      http_answer(200, R"({"choices": [{"message": {"content": "cut o"}, "finish_reason": "length"}]})")));
  const auto cut = ask(*patient());
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->finish, Finish::length);
  EXPECT_EQ(cut->text, "cut o");
}

TEST_F(Client, WhatLastsIsNotRetried) {
  const std::pair<std::string, ErrorCode> cases[] = {
      {http_answer(400, R"({"error": {"code": "context_length_exceeded", "message": "too many"}})"),
       ErrorCode::too_long},
      {http_answer(401, R"({"error": {"message": "no"}})"), ErrorCode::permission},
      {http_answer(404, R"({"error": {"message": "no"}})"), ErrorCode::not_found},
      {http_answer(422, R"({"error": {"message": "no"}})"), ErrorCode::invalid_argument},
      {http_answer(429, R"({"error": {"code": "insufficient_quota"}})"), ErrorCode::rate_limited}};
  for (const auto& [answer, code] : cases) {
    EXPECT_EQ(error_of(answer, 20).code, code) << answer;
    EXPECT_EQ(server_->requests(), 1u);
  }
}

TEST_F(Client, FollowsNoRedirect) {
  TlsServer other(make_certificate(ca_.identity, {}), always(good_stream("stolen")));
  for (const int status : {301, 302, 307, 308}) {
    const Error error =
        error_of(http_answer(status, "", "Location: " + other.url() + "/v1/chat/completions\r\n"), 20);
    EXPECT_EQ(error.code, ErrorCode::bad_reply);
    EXPECT_THAT(error.message, HasSubstr("redirect"));
    EXPECT_EQ(server_->requests(), 1u);
  }
  EXPECT_EQ(other.requests(), 0u);
}

TEST_F(Client, TrustsOnlyTheRightCertificate) {
  struct Case {
    const TestCa& signer;
    CertificateWish wish;
    const char* words;
  };
  const TestCa other("another CA"), impostor;  // the impostor has the right name and another key
  const Case cases[] = {{other, {}, "certificate"},
                        {impostor, {}, "signature"},
                        {ca_, {.name = "10.1.2.3"}, "127.0.0.1"},
                        {ca_, {.expired = true}, "expired"}};
  for (const Case& c : cases) {
    server_ = std::make_unique<TlsServer>(make_certificate(c.signer.identity, c.wish),
                                          always(good_stream("wrong")));
    const auto reply = ask(*patient());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::untrusted);
    EXPECT_THAT(reply.error().message, HasSubstr(c.words));
    EXPECT_EQ(server_->requests(), 0u) << "the key was sent to a server that is not trusted";
  }
}

TEST_F(Client, ACaFileWithoutACertificateIsNamed) {
  serve(always(good_stream("x")));
  const std::string empty = (ca_.folder.path() / "empty.pem").string();
  std::ofstream(empty) << "nothing";
  const auto reply = ask(*ModelClient::create(endpoint_of(*server_, empty), {.retry = eager(2)}).value());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::untrusted);
}

TEST_F(Client, AServerThatIsNotThereIsNamed) {
  serve(always(""));
  const Endpoint gone = endpoint_of(*server_, ca_.file);
  server_.reset();
  const auto reply = ask(*ModelClient::create(gone, {.retry = eager(3)}).value());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::network);
  EXPECT_THAT(reply.error().message, HasSubstr("3 attempts"));
}

TEST_F(Client, ABodyOfAGigabyteIsCutOff) {
  [[maybe_unused]] rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (const bool stream : {false, true}) {
    std::size_t sent = 0;
    serve([&](const ServerRequest&, ServerConnection& connection) {
      const std::string piece = chunk(std::string(1 << 16, 'x'));
      const std::string head = stream ? stream_head()
                                      : "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                        "Transfer-Encoding: chunked\r\n\r\n";
      connection.send(head);
      for (sent = 0; sent < std::size_t{1} << 30 && connection.send(piece);) sent += piece.size();
      return false;
    });
    const auto reply = ask(*client({.limits = {.reply_bytes = 1 << 20}, .retry = eager(20)}));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::bad_reply);
    EXPECT_THAT(reply.error().message, HasSubstr("larger than 1048576 bytes"));
    EXPECT_EQ(server_->requests(), 1u) << "paid once is enough";
    server_.reset();
    EXPECT_LT(sent, std::size_t{1} << 29);
  }
#ifndef KERNELSMITH_SANITIZED  // which keeps freed memory
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200 * 1024) << "KiB";
#endif
}

TEST_F(Client, AnErrorsEndlessBodyIsCutOffAndTheErrorKept) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (connection.send(chunk(std::string(1 << 16, 'x')))) {
    }
    return false;
  });
  const auto reply = ask(*client({.retry = eager(2)}));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::server_failed);
  EXPECT_LT(reply.error().message.size(), 1000u);
}

TEST_F(Client, AnEndlessHeadIsCutOff) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send("HTTP/1.1 200 OK\r\n");
    while (connection.send("X: " + std::string(1000, 'x') + "\r\n")) {
    }
    return false;
  });
  const auto reply = ask(*client({.retry = eager(2)}));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::bad_reply);
}

/// Of RFC 1952, with the bytes stored as they are.
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

TEST(Endpoints, ThatWouldBetrayTheKeyAreRefused) {
  const auto check = [](std::string url, std::string key = kTestKey) {
    return check_endpoint({Protocol::chat_completions, std::move(url), Secret(std::move(key)), ""});
  };
  EXPECT_TRUE(check("https://api.example.com/v1"));
  EXPECT_TRUE(check("http://localhost:8000/v1"));
  EXPECT_TRUE(check("http://127.0.0.1:8000/v1"));
  EXPECT_TRUE(check("http://[::1]:8000/v1"));
  EXPECT_TRUE(check("http://gpu-box:8000/v1", ""));
  for (const char* url :
       {"http://gpu-box:8000/v1", "ftp://host/v1", "https://me:secret@host/v1", "https://h/v1?a=b",
        "https://h/v1#f", "", "not a url", "http://127.example.com/v1"}) {
    const Status status = check(url);
    ASSERT_FALSE(status) << url;
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(describe(status.error()), Not(AnyOf(HasSubstr(kTestKey), HasSubstr("secret"))));
  }
  EXPECT_FALSE(check("https://h/v1", "two\r\nX-Evil: lines"));
}

TEST(Endpoints, AreFilledInFromTheEnvironment) {
  setenv("OPENAI_BASE_URL", "https://gateway/v1/", 1);
  setenv("OPENAI_API_KEY", "from-env", 1);
  setenv("ANTHROPIC_BASE_URL", "https://gateway", 1);
  unsetenv("ANTHROPIC_API_KEY");
  const Endpoint chat = with_environment({});
  EXPECT_EQ(chat.base_url, "https://gateway/v1");
  EXPECT_EQ(chat.key.reveal(), "from-env");
  const Endpoint messages = with_environment({Protocol::messages, "", {}, ""});
  EXPECT_EQ(messages.base_url, "https://gateway/v1");
  EXPECT_TRUE(messages.key.empty());
  unsetenv("OPENAI_BASE_URL");
  unsetenv("ANTHROPIC_BASE_URL");
  EXPECT_EQ(with_environment({}).base_url, "https://api.openai.com/v1");
  EXPECT_EQ(with_environment({Protocol::chat_completions, "https://mine", Secret("k"), ""}).key.reveal(),
            "k");
}

}  // namespace
}  // namespace kernelsmith
