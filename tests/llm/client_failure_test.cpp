// The client against a scripted TLS server: each way to fail ends in a right answer after a retry, or in one
// named error. Limits of time stand against servers that stall for ever, so that a slow machine changes
// nothing.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_fixture.hpp"

namespace kernelsmith {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using ClientFailure = ClientFixture;

TEST_F(ClientFailure, WaitsAsTheServerAsks) {
  for (const std::string& answer :
       {http_answer(429, "{}", "Retry-After: 1\r\n"), http_answer(429, "{}", "X-RateLimit-Reset: 1\r\n"),
        http_answer(503, R"([{"error": {"details": [{"retryDelay": "1s"}]}}])")}) {
    expect_right_after(answer);
    EXPECT_THAT(notices_.messages().back(), HasSubstr("again in 1000 ms")) << answer;
  }
}

/// Whether the request asks for a stream.
bool asks_for_stream(const ServerRequest& request) {
  return request.body.find(R"("stream":true)") != std::string::npos;
}

TEST_F(ClientFailure, ThreeRepliesThatCannotBeReadTryTheOtherForm) {
  for (const bool streamed : {true, false}) {
    serve([=](const ServerRequest& request, ServerConnection& connection) {
      const bool stream = asks_for_stream(request);
      const std::string good = stream ? good_stream("right") : http_answer(200, good_body("right"));
      return connection.send(stream == streamed ? http_answer(200, "<html>", "", "text/html") : good);
    });
    const auto asking = patient();
    for (const std::size_t requests : {4u, 5u}) {
      const auto reply = ask(*asking, a_call(streamed));
      ASSERT_TRUE(reply) << describe(reply.error());
      EXPECT_EQ(reply->text, "right");
      EXPECT_EQ(server_->requests(), requests) << "the second call asks for the other form at once";
    }
    const std::string other = streamed ? "plain replies" : "streams";
    EXPECT_THAT(notices_.messages(), testing::Contains(HasSubstr("so the next call asks for " + other)));
    EXPECT_THAT(notices_.messages(), testing::Contains(HasSubstr("but its " + other + " can")));
  }
}

TEST_F(ClientFailure, NothingMoreIsSentToAServerOfWhichNoFormCanBeRead) {
  serve(always(stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"hi\"}}]}\n\n") +
               last_chunk()));
  const auto asking = patient();
  for (int call = 0; call < 2; ++call) {
    const auto reply = ask(*asking);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::bad_reply);
    EXPECT_THAT(reply.error().message, HasSubstr("neither streams nor plain replies"));
    EXPECT_THAT(reply.error().message, HasSubstr("broke off before its end"));
    EXPECT_EQ(server_->requests(), 4u);
  }
}

TEST_F(ClientFailure, AReplyBetweenThemForgetsThoseThatCouldNotBeRead) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    const bool good = request.number % 3 == 2;
    return connection.send(good ? good_stream("right") : http_answer(200, "<html>", "", "text/html"));
  });
  const auto asking = patient();
  for (int call = 0; call < 3; ++call) EXPECT_EQ(ask(*asking).value().text, "right");
  EXPECT_EQ(server_->requests(), 9u);
}

TEST_F(ClientFailure, PausesAndQueuesEndWithTheBudget) {
  serve(always(http_answer(429, R"({"error": {"message": "later"}})", "Retry-After: 500\r\n")));
  std::stop_source ending;
  ClientOptions options{.retry = eager(20), .pacing = {.concurrency = 1}};
  options.notice = [&](const Notice& notice) {
    if (notice.message.find("again in 500") != std::string::npos) ending.request_stop();
  };
  const auto asking = ModelClient::create(endpoint_of(*server_, ca_.file), options).value();
  auto paused = begin_call(*asking, a_call(), {}, {}, ending.get_token());
  auto queued = begin_call(*asking, a_call(), {}, {}, ending.get_token());
  EXPECT_THAT(paused.get().error().message, HasSubstr("later"));
  EXPECT_EQ(queued.get().error().code, ErrorCode::cancelled);
  EXPECT_EQ(begin_call(*asking, a_call(), {}, {}, ending.get_token()).get().error().code,
            ErrorCode::cancelled);
  EXPECT_EQ(server_->requests(), 1u);
}

TEST_F(ClientFailure, BehindTheBudgetOnlyAReplyThatHasBegunIsWaitedForLong) {
  std::stop_source ending;
  serve([&](const ServerRequest& request, ServerConnection& connection) {
    if (request.number > 0) {
      ending.request_stop();
      connection.stall();
      return false;
    }
    connection.send(stream_head() + chunk(R"(data: {"choices": [{"delta": {"content": "right"}}]})"
                                          "\n\n"));
    ending.request_stop();
    return connection.send(chunk(R"(data: {"choices": [{"delta": {}, "finish_reason": "stop"}]})"
                                 "\n\n") +
                           last_chunk());
  });
  const auto ask_with = [&](std::chrono::milliseconds silence) {
    ending = {};
    const CallLimits limits{.first_token = 1h, .silence = silence, .total = 1h};
    return begin_call(*client({.limits = limits, .retry = eager(20)}), a_call(), {}, {}, ending.get_token())
        .get();
  };
  EXPECT_EQ(ask_with(1h).value().text, "right");
  const auto late = ask_with(50ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::timeout);
  EXPECT_EQ(server_->requests(), 2u);
}

/// The beginning of a streamed reply.
std::string first_piece() {
  return stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"wro\"}}]}\n\n");
}

TEST_F(ClientFailure, EachLimitOfTimeIsNamedAndAnotherAttemptMade) {
  struct Case {
    CallLimits limits;
    bool begins, pings;
    const char* name;
  };
  const Case cases[] = {{{.first_token = 50ms}, false, false, "first_token_s"},
                        {{.first_token = 50ms}, false, true, "first_token_s"},
                        {{.silence = 50ms}, true, false, "silence_s"},
                        {{.total = 50ms}, true, false, "total_s"}};
  for (const Case& c : cases) {
    serve([&](const ServerRequest&, ServerConnection& connection) {
      if (c.begins) connection.send(first_piece());
      if (c.pings) connection.send(stream_head());
      while (c.pings && connection.send(chunk(": ping\n\n"))) std::this_thread::sleep_for(1ms);
      connection.stall();
      return false;
    });
    const auto reply = ask(*client({.limits = c.limits, .retry = eager(2)}));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::timeout);
    EXPECT_THAT(reply.error().message, HasSubstr(c.name));
    EXPECT_THAT(reply.error().message, HasSubstr("2 attempts"));
  }
}

TEST_F(ClientFailure, TheLimitToConnectHoldsForAHandshakeThatNobodyAnswers) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  Endpoint silent;
  silent.base_url = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const auto reply =
      ask(*ModelClient::create(silent, {.limits = {.connect = 50ms}, .retry = eager(1)}).value());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::timeout);
  EXPECT_THAT(reply.error().message, HasSubstr("no connection in time"));
  close(listener);
}

TEST_F(ClientFailure, RetriesAfterAResetInMidStream) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    if (request.number > 0) return connection.send(good_stream("right"));
    connection.send(first_piece());
    connection.reset();
    return false;
  });
  EXPECT_EQ(ask(*patient()).value().text, "right");
}

TEST_F(ClientFailure, NothingBehindAWholeReplyLosesIt) {
  const std::string usage =
      chunk("data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 2}}\n\n");
  for (const std::string& behind : {
           usage,
           chunk("data: {garbage\n\n") + usage + last_chunk(),
           chunk("data: {\"error\": {\"message\": \"late\"}}\n\n") + usage + last_chunk(),
           usage + chunk(": " + std::string(20'000, 'x') + "\n\n") + last_chunk(),
       }) {
    serve(always(
        stream_head() +
        chunk("data: {\"choices\": [{\"delta\": {\"content\": \"paid\"}, \"finish_reason\": \"stop\"}]}"
              "\n\n") +
        behind));
    const auto reply = ask(*client({.limits = {.reply_bytes = 10'000}, .retry = eager(2)}));
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->text, "paid");
    EXPECT_EQ(reply->usage, (Usage{.input_tokens = 3, .output_tokens = 2})) << behind.substr(0, 100);
    EXPECT_EQ(server_->requests(), 1u);
  }
}

/// A Chat Completions answer without the end of its exchange: `events` of it.
std::string unended_stream(std::string_view last) {
  return stream_head() + chunk("data: {\"choices\": [{\"delta\": {\"content\": \"hi\"}}]}\n\n") +
         chunk("data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n") + chunk(last);
}

TEST_F(ClientFailure, AReplyEndsWithItsLastEventThoughTheServerKeepsTheExchangeOpen) {
  serve([](const ServerRequest&, ServerConnection& connection) {
    connection.send(unended_stream("data: [DONE]\n\n"));
    connection.stall();
    return false;
  });
  const auto asking = client({.limits = {.silence = std::chrono::hours(1)}, .retry = eager(1)});
  auto answer = begin_call(*asking, a_call());
  ASSERT_EQ(answer.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(answer.get().value().text, "hi");
}

TEST_F(ClientFailure, ARequestOnAKeptConnectionIsNotSentAgainBehindTheClientsBack) {
  serve([](const ServerRequest& request, ServerConnection& connection) {
    return request.number == 0 && connection.send(good_stream("first"));
  });
  const auto asking = client({.retry = eager(1)});
  ASSERT_TRUE(ask(*asking));
  int lost = 0;
  const auto reply = begin_call(*asking, a_call(), {}, [&](const LostCall&) { ++lost; }).get();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::network);
  EXPECT_EQ(server_->requests(), 2u);
  EXPECT_EQ(lost, 1);
}

TEST_F(ClientFailure, AStopTakesAReplyThatIsWhole) {
  std::promise<void> sent;
  serve([&](const ServerRequest& request, ServerConnection& connection) {
    if (request.number > 0) return connection.send(good_stream("another"));
    connection.send(unended_stream(": nothing more for now\n\n"));
    sent.set_value();
    connection.stall();
    return false;
  });
  const auto asking = client({.limits = {.silence = std::chrono::hours(1)}, .retry = eager(1)});
  std::stop_source stop;
  auto answer = begin_call(*asking, a_call(), stop.get_token());
  sent.get_future().wait();
  ASSERT_TRUE(ask(*asking));  // what was sent before is read by then
  stop.request_stop();
  const auto reply = answer.get();
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "hi");
}

TEST_F(ClientFailure, BlanksBeforeAReplyAreLookedAtOnce) {
  constexpr int kBlanks = 500'000;
  serve([&](const ServerRequest&, ServerConnection& connection) {
    std::string blanks;
    for (int i = 0; i < kBlanks; ++i) blanks += chunk(i % 100 == 0 ? "\n" : " ");
    connection.send(stream_head() + chunk("\xEF\xBB") + chunk("\xBF") + blanks + chunk(good_body("hi")) +
                    last_chunk());
    return true;
  });
  // Each of them looked at whenever one comes, they would take minutes.
  const auto reply =
      ask(*client({.limits = {.total = std::chrono::seconds(30)}, .retry = eager(1)}), a_call(false));
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->text, "hi");
}

TEST_F(ClientFailure, ATextInThePlaceOfAnAnswerIsShownAndNotPaidFor) {
  const std::string key = kTestKey, page = "<html><title>Hello " + key + "</title>";
  const auto error_for = [&](const std::string& text, const char* type) {
    serve(always(http_answer(200, text, "", type)));
    const auto asking = client({.retry = eager(1)});
    bool lost = false;
    const auto reply = begin_call(*asking, a_call(), {}, [&](const LostCall&) { lost = true; }).get();
    EXPECT_FALSE(reply || lost);
    return reply ? Error{} : reply.error();
  };
  const Error shown = error_for(page, "text/html; charset=utf-8");
  EXPECT_EQ(shown.code, ErrorCode::bad_reply);
  EXPECT_THAT(shown.message, HasSubstr("text/html; charset=utf-8: <html><title>Hello [key]</title>"));
  EXPECT_THAT(shown.hint, HasSubstr("ends in /v1"));
  const Error refused = error_for("[ERROR] Invalid API key " + key, "text/plain");
  EXPECT_EQ(refused.code, ErrorCode::permission);
  EXPECT_THAT(refused.message, HasSubstr("[ERROR] Invalid API key [key]"));
}

TEST_F(ClientFailure, RetriesTruncatedAnswers) {
  std::string short_body = http_answer(200, good_body("wrong"));
  short_body.resize(short_body.size() - 10);  // less than its Content-Length
  for (const std::string& bad :
       {short_body, first_piece() + last_chunk(), stream_head() + chunk("data: {\"choi"), std::string()})
    expect_right_after(bad);
}

TEST_F(ClientFailure, WhatIsNoHttpIsABadReply) {
  EXPECT_EQ(error_of("welcome to the machine\r\n\r\n").code, ErrorCode::bad_reply);
}

TEST_F(ClientFailure, FollowsNoRedirect) {
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

TEST_F(ClientFailure, TrustsOnlyTheRightCertificate) {
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

TEST_F(ClientFailure, ACaFileWithoutACertificateIsNamed) {
  serve(always(good_stream("x")));
  const std::string empty = (ca_.folder.path() / "empty.pem").string();
  std::ofstream(empty) << "nothing";
  const auto made = ModelClient::create(endpoint_of(*server_, empty));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(made.error().where, empty);
}

TEST_F(ClientFailure, ARefusalWithoutAKeySaysWhichVariableIsNotSet) {
  serve(always(http_answer(401, R"({"error": {"message": "Incorrect API key provided: None"}})")));
  Endpoint endpoint = endpoint_of(*server_, ca_.file);
  endpoint.key = Secret();
  const auto reply = ask(*ModelClient::create(endpoint, {.retry = eager(2)}).value());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::permission);
  EXPECT_THAT(reply.error().message, HasSubstr("OPENAI_API_KEY is not set"));
}

TEST_F(ClientFailure, AServerThatIsNotThereIsNamed) {
  serve(always(""));
  const Endpoint gone = endpoint_of(*server_, ca_.file);
  server_.reset();
  const auto reply = ask(*ModelClient::create(gone, {.retry = eager(3)}).value());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::network);
  EXPECT_THAT(reply.error().message, HasSubstr("3 attempts"));
}

TEST_F(ClientFailure, ABodyOfAGigabyteIsCutOff) {
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

TEST_F(ClientFailure, AnErrorsEndlessBodyIsCutOffAndTheErrorKept) {
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

TEST_F(ClientFailure, AnEndlessHeadIsCutOff) {
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

}  // namespace
}  // namespace kernelsmith
