// The server over real sockets: what it answers, what it refuses, how it streams and how it stops.
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <kernelsmith/service/http_server.hpp>

#include "raw_client.hpp"

namespace kernelsmith::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kHost = "Host: localhost\r\n";

std::string request_text(const std::string& line, const std::string& headers = "",
                         const std::string& body = "") {
  const std::string length = body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return line + " HTTP/1.1\r\n" + kHost + length + headers + "\r\n" + body;
}

/// Responders that a test answers when it likes.
class Pending {
 public:
  Handler handler() {
    return [this](const Request&, Responder responder) {
      const std::lock_guard lock(mutex_);
      if (waiting_) waiting_->set_value(std::move(responder));
      waiting_.reset();
    };
  }
  /// The responder of the next request. To be called before it is sent.
  std::future<Responder> next() {
    const std::lock_guard lock(mutex_);
    return waiting_.emplace().get_future();
  }

 private:
  std::mutex mutex_;
  std::optional<std::promise<Responder>> waiting_;
};

class HttpServer : public ::testing::Test {
 protected:
  HttpServer() {
    router_.add("GET", "/hello/{name}", answering([](const Request& request) {
                  const auto loud = request.query.find("loud");
                  return Response{.body = "hello " + request.parameters.at("name") +
                                          (loud == request.query.end() ? "" : "!" + loud->second),
                                  .content_type = "text/plain"};
                }));
    router_.add("POST", "/echo",
                answering([](const Request& request) { return Response{.body = request.body}; }));
    router_.add("GET", "/throws",
                [](const Request&, const Responder&) { throw std::runtime_error("on purpose"); });
    router_.add("GET", "/drops", [](const Request&, const Responder&) {});
    router_.add("GET", "/pending", pending_.handler());
    router_.add("GET", "/open", answering([](const Request&) { return Response{.body = "open"}; }),
                Access::open);
  }

  void start() { server_ = Server::start(router_, options_).value(); }
  RawClient connect() const { return RawClient(server_->port()); }
  std::string ask(const std::string& text) const {
    RawClient client = connect();
    client.send(text);
    return client.read_response();
  }

  Pending pending_;
  Router router_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(HttpServer, AHandlerSeesParametersAndQuery) {
  start();
  EXPECT_THAT(ask(request_text("GET /hello/a%20b?loud=1")),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Type: text/plain"),
                    HasSubstr("hello a b!1")));
  EXPECT_EQ(server_->url(), "http://127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(HttpServer, AConnectionIsKeptForTheNextRequest) {
  start();
  RawClient client = connect();
  client.send(request_text("POST /echo", "", "one") + request_text("POST /echo", "", "two"));  // pipelined
  EXPECT_THAT(client.read_response(), HasSubstr("\r\n\r\none"));
  EXPECT_THAT(client.read_response(), HasSubstr("\r\n\r\ntwo"));
  client.send(request_text("POST /echo", "Connection: close\r\n", "three"));
  EXPECT_THAT(client.read_all(), AllOf(HasSubstr("Connection: close"), HasSubstr("three")));
}

TEST_F(HttpServer, AClientOfHttp10IsServedAndClosed) {
  start();
  RawClient client = connect();
  client.send("GET /hello/you HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.read_all(), AllOf(StartsWith("HTTP/1.0 200"), HasSubstr("hello you")));
}

TEST_F(HttpServer, HeadHasTheLengthAndNoBody) {
  start();
  RawClient client = connect();
  client.send(request_text("HEAD /hello/you") + request_text("GET /hello/me", "Connection: close\r\n"));
  EXPECT_THAT(client.read_all(),
              AllOf(HasSubstr("Content-Length: 9\r\n"), Not(HasSubstr("hello you")), HasSubstr("hello me")));
}

TEST_F(HttpServer, UnknownPathsAndMethodsAreToldApart) {
  start();
  EXPECT_THAT(ask(request_text("GET /nowhere")),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr(R"({"detail":"there is nothing at /nowhere")")));
  EXPECT_THAT(ask(request_text("DELETE /echo")),
              AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: POST\r\n")));
  EXPECT_THAT(ask(request_text("PURGE /hello/x")), HasSubstr("Allow: GET, HEAD\r\n"));
}

TEST_F(HttpServer, WhatIsNoRequestIsAnswered400) {
  start();
  for (const char* text : {"rubbish\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/9\r\n\r\n",
                           "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n"})
    EXPECT_THAT(ask(text), StartsWith("HTTP/1.1 400")) << text;
}

TEST_F(HttpServer, LimitsOfBodyAndHeader) {
  options_.max_body_bytes = 100;
  options_.max_header_bytes = 1000;
  start();
  EXPECT_THAT(ask(request_text("POST /echo", "", std::string(100, 'x'))), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(request_text("POST /echo", "", std::string(101, 'x'))),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("100 bytes")));
  EXPECT_THAT(ask(request_text("POST /echo", "", std::string(std::size_t{8} << 20, 'x'))),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask(request_text("POST /echo", "Transfer-Encoding: chunked\r\n") + "80\r\n" +
                  std::string(128, 'x') + "\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask(request_text("GET /open", "X: " + std::string(1000, 'x') + "\r\n")),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(HttpServer, ChunkExtensionsAndTrailersAreBounded) {
  start();
  const std::string chunked = "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string much(std::size_t{1} << 20, 'a');
  EXPECT_THAT(ask(chunked + "1;a=" + much), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask(chunked + "0\r\nA: " + much), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask(chunked + "2;a=b\r\nok\r\n0\r\nA: b\r\n\r\n"), HasSubstr("\r\n\r\nok"));
}

TEST_F(HttpServer, ABodyWithoutAMeaningIsSmall) {
  start();
  EXPECT_THAT(ask(request_text("GET /open", "", std::string(4096, 'x'))), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(request_text("GET /open", "", std::string(4097, 'x'))),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("4096 bytes")));
  EXPECT_THAT(ask(request_text("GET /open", "Transfer-Encoding: chunked\r\n") + "1001\r\n" +
                  std::string(4097, 'x') + "\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServer, WhatCouldBeReadInTwoWaysIsRefused) {
  start();
  for (const char* encoding : {"gzip", "identity", "xchunked", "chunked, identity", "gzip, chunked"}) {
    RawClient client = connect();
    client.send(request_text("GET /open", "Transfer-Encoding: " + std::string(encoding) + "\r\n") +
                request_text("GET /hello/smuggled"));
    EXPECT_THAT(client.read_all(), AllOf(StartsWith("HTTP/1.1 501"), Not(HasSubstr("smuggled")))) << encoding;
  }
  EXPECT_THAT(ask("GET /open HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask(request_text("GET /open", kHost)), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask(request_text("GET /open", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n")),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("POST /echo HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              HasSubstr("400"));
}

TEST_F(HttpServer, AFieldThatGoesOnInAnotherLineIsRefused) {
  start();
  for (const char* folded : {"X: a\r\n b\r\n", "X: a\r\n\tb\r\n", "X:\r\n a\r\n", "X: a\r\n \r\n",
                             "X:\r\n \r\n", "X: a\r\n b\r\nY: c\r\n", "Content-Length:\r\n 0\r\n"})
    EXPECT_THAT(ask(request_text("GET /open", folded)),
                AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("goes on in another line")))
        << folded;
  for (const char* whole : {"X:\r\n", "X: \t\r\nY:c\r\n", "X: \t a b \r\n"})
    EXPECT_THAT(ask(request_text("GET /open", whole)), StartsWith("HTTP/1.1 200")) << whole;
}

TEST_F(HttpServer, AClientMayAskWhetherToGoOn) {
  options_.max_body_bytes = 10;
  start();
  RawClient client = connect();
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  EXPECT_THAT(client.read_response(), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("body")));
  EXPECT_THAT(
      ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n"),
      StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServer, AHandlerThatThrowsOrForgetsIsAnswered500) {
  start();
  EXPECT_THAT(ask(request_text("GET /throws")), AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("on purpose")));
  EXPECT_THAT(ask(request_text("GET /drops")),
              AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("without an answer")));
}

TEST_F(HttpServer, AnAnswerMayComeLaterAndOnlyOnce) {
  start();
  auto asked = pending_.next();
  RawClient client = connect();
  client.send(request_text("GET /pending"));
  const Responder responder = asked.get();
  EXPECT_THAT(ask(request_text("GET /hello/others")), HasSubstr("hello others"));
  EXPECT_TRUE(responder.send({.body = "late"}));
  EXPECT_FALSE(responder.send({.body = "twice"}));
  EXPECT_TRUE(responder.stream().closed());
  EXPECT_THAT(client.read_response(), HasSubstr("late"));
}

TEST_F(HttpServer, WhoLeavesBeforeTheAnswerGivesItsPlaceFree) {
  options_.max_connections = 1;
  start();
  auto asked = pending_.next();
  std::optional<Responder> responder;
  {
    RawClient client = connect();
    client.send(request_text("GET /hello/first"));
    EXPECT_THAT(client.read_response(), HasSubstr("hello first"));
    client.send(request_text("GET /pending"));
    responder = asked.get();
  }
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200")) answer = ask(request_text("GET /hello/next"));
  EXPECT_FALSE(responder->send({.body = "nobody reads it"}));
}

TEST_F(HttpServer, ARequestSentAheadIsNoEndOfTheClient) {
  start();
  RawClient client = connect();
  for (int i = 0; i < 3; ++i) {
    auto asked = pending_.next();
    client.send(request_text("GET /pending"));
    const Responder responder = asked.get();
    client.send(request_text("GET /hello/ahead"));
    EXPECT_TRUE(responder.send({.body = "late"}));
    EXPECT_THAT(client.read_response(), HasSubstr("late"));
    EXPECT_THAT(client.read_response(), HasSubstr("hello ahead"));
  }
}

TEST_F(HttpServer, AnAnswerMayComeAfterTheServer) {
  options_.stop_grace = 0ms;
  start();
  auto asked = pending_.next();
  RawClient client = connect();
  client.send(request_text("GET /pending"));
  const Responder responder = asked.get();
  server_.reset();
  EXPECT_FALSE(responder.send({.body = "too late"}));
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(HttpServer, OnlyWhoHasTheTokenIsServed) {
  options_.guard = bearer_guard(Secret("t0ken"));
  start();
  EXPECT_THAT(
      ask(request_text("GET /hello/x")),
      AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("WWW-Authenticate: Bearer"), HasSubstr("no token")));
  EXPECT_THAT(ask(request_text("GET /nowhere")), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ask(request_text("POST /echo", "Authorization: Bearer wrong\r\n", "x")),
              StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ask(request_text("GET /hello/x", "Authorization: Bearer t0ken\r\n")),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(request_text("GET /open")), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServer, AnotherSitesPageIsTurnedAway) {
  options_.allowed_hosts = {"gate.example"};
  start();
  EXPECT_THAT(ask("GET /open HTTP/1.1\r\nHost: evil.example\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask("GET /open HTTP/1.1\r\nHost: gate.example\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(request_text("POST /echo", "Origin: http://evil.example\r\n", "x")),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(HttpServer, EventsArriveInOrderUntilTheStreamEnds) {
  start();
  auto asked = pending_.next();
  RawClient client = connect();
  client.send(request_text("GET /pending"));
  {
    const EventStream stream = asked.get().stream();
    EXPECT_TRUE(stream.send("score", "1\n2", "7"));
    EXPECT_THAT(client.read_until("\n\n\r\n"), AllOf(HasSubstr("Content-Type: text/event-stream"),
                                                     HasSubstr("event: score\nid: 7\ndata: 1\ndata: 2\n\n")));
    EXPECT_TRUE(stream.send("", "plain"));
    EXPECT_THAT(client.read_until("\n\n\r\n"), HasSubstr("\r\ndata: plain\n\n"));
    EXPECT_FALSE(stream.closed());
  }
  EXPECT_EQ(client.read_all(), "0\r\n\r\n");
}

TEST_F(HttpServer, AStreamFindsOutThatItsClientIsGone) {
  options_.heartbeat = 10ms;
  start();
  auto asked = pending_.next();
  std::optional<EventStream> stream;
  {
    RawClient client = connect();
    client.send(request_text("GET /pending"));
    stream = asked.get().stream();
    EXPECT_THAT(client.read_until(":\n\n"), HasSubstr("200 OK"));
  }
  while (!stream->closed()) std::this_thread::yield();
  EXPECT_FALSE(stream->send("", "nobody reads it"));
}

TEST_F(HttpServer, AStreamThatNobodyReadsEnds) {
  start();
  auto asked = pending_.next();
  RawClient client = connect();
  client.send(request_text("GET /pending"));
  const EventStream stream = asked.get().stream();
  const std::string much(std::size_t{1} << 20, 'x');
  int sent = 0;
  while (stream.send("", much)) ASSERT_LT(++sent, 1000);
  EXPECT_TRUE(stream.closed());
}

TEST_F(HttpServer, TooManyConnectionsAreTold) {
  options_.max_connections = 1;
  start();
  auto first = std::make_optional<RawClient>(server_->port());
  first->send(request_text("GET /hello/first"));
  EXPECT_THAT(first->read_response(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(
      ask(request_text("GET /hello/second")),
      AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After: 1\r\n"), HasSubstr("RESOURCE_ERROR")));
  first.reset();
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200")) answer = ask(request_text("GET /hello/third"));
}

TEST_F(HttpServer, WhoIsSilentIsClosed) {
  options_.idle_timeout = options_.request_timeout = 20ms;
  start();
  EXPECT_EQ(connect().read_all(), "");
  RawClient half = connect();
  half.send("GET /hello/x HTT");
  EXPECT_EQ(half.read_all(), "");
}

TEST_F(HttpServer, StoppingWaitsForAnswersAndEndsTheRest) {
  start();
  RawClient idle = connect();
  auto streamed = pending_.next();
  RawClient reader = connect();
  reader.send(request_text("GET /pending"));
  const EventStream stream = streamed.get().stream();
  auto asked = pending_.next();
  RawClient client = connect();
  client.send(request_text("GET /pending"));
  auto responder = std::make_optional(asked.get());

  std::thread stopping([&] { server_->stop(); });
  EXPECT_THAT(reader.read_all(), HasSubstr("0\r\n\r\n"));
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_TRUE(stream.closed());
  responder->send({.body = "still answered"});
  EXPECT_THAT(client.read_all(), HasSubstr("still answered"));
  stopping.join();
  EXPECT_THROW(connect(), std::runtime_error);
  server_->stop();
}

TEST_F(HttpServer, WhatWasServedIsCounted) {
  const auto told = std::make_shared<std::promise<Served>>();
  options_.on_served = [told](const Served& served) { told->set_value(served); };
  start();
  ask(request_text("GET /hello/x"));
  const Served served = told->get_future().get();
  EXPECT_EQ(served.method + " " + served.route, "GET /hello/{name}");
  EXPECT_EQ(served.status, 200);
  EXPECT_GE(served.seconds, 0);
}

TEST_F(HttpServer, APortInUseAndAnAddressElsewhereAreErrors) {
  start();
  ServerOptions options;
  options.port = server_->port();
  EXPECT_EQ(Server::start(router_, options).error().code, ErrorCode::busy);
  options.host = "192.0.2.1";
  EXPECT_EQ(Server::start(router_, options).error().code, ErrorCode::invalid_argument);
  options.host = "no such host";
  EXPECT_EQ(Server::start(router_, options).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith::http
