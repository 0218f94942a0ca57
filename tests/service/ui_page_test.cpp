// The page over HTTP: what is served, to whom, and under which rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/service/http_server.hpp>
#include <kernelsmith/service/ui.hpp>
#include <kernelsmith/session/session.hpp>

#include "raw_client.hpp"
#include "temporary_folder.hpp"
#include "toy_task.hpp"

namespace kernelsmith::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

std::string ask(const std::string& url, const std::string& target, const std::string& more = "",
                const std::string& method = "GET") {
  RawClient client(port_of(url));
  client.send(method + " " + target + " HTTP/1.1\r\n" + (more.empty() ? "Host: localhost\r\n" : more) +
              "\r\n");
  return client.read_response();
}

class PageTest : public ::testing::Test {
 protected:
  PageTest() {
    const TaskFolder task = toy::task_in(folder_.path());
    Session::create(task, folder_ / "a.run", toy::config_for(task, "budgets: {iterations: 5}\n"))
        .value()
        .run()
        .value();
    page_ = Page::of_run(folder_ / "a.run", toy::registry(), 0).value();
  }
  std::string get(const std::string& target, const std::string& more = "") const {
    return ask(page_->url(), target, more);
  }

  TemporaryFolder folder_;
  std::unique_ptr<Page> page_;
};

TEST_F(PageTest, FilesComeWithAStrictPolicy) {
  for (const char* target : {"/", "/index.html", "/page.js", "/data.js", "/page.css"})
    EXPECT_THAT(get(target),
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("default-src 'none'; script-src 'self'"),
                      HasSubstr("nosniff"), HasSubstr("no-store")))
        << target;
  EXPECT_THAT(get("/"), HasSubstr("Content-Type: text/html; charset=utf-8"));
  EXPECT_THAT(get("/page.js"), HasSubstr("Content-Type: text/javascript"));
  EXPECT_THAT(get("/page_files.hpp"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/../ui.hpp"), ::testing::Not(StartsWith("HTTP/1.1 200")));
}

TEST_F(PageTest, NoScriptAndNoStyleStandsInThePage) {
  const std::string page = get("/");
  EXPECT_THAT(page, ::testing::Not(HasSubstr("<style")));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("style=")));
  EXPECT_EQ(page.find("<script"), page.rfind("<script"));
  EXPECT_THAT(page, HasSubstr("<script type=\"module\" src=\"/page.js\"></script>"));
}

TEST_F(PageTest, TheRunIsToldAsJson) {
  EXPECT_THAT(get("/api/run"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: application/json"),
                                     HasSubstr("\"name\":\"a.run\"")));
  EXPECT_THAT(get("/api/programs/0"), HasSubstr("\"origin\":\"seed\""));
  EXPECT_THAT(get("/api/programs/77"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/api/programs/a"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(get("/api/programs/18446744073709551616"), StartsWith("HTTP/1.1 400"));
}

TEST_F(PageTest, EventsBeginWithTheSummary) {
  RawClient client(port_of(page_->url()));
  client.send("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_THAT(client.read_until("event: summary"), HasSubstr("text/event-stream"));
  EXPECT_THAT(client.read_until("\n\n"), HasSubstr("data: {\"kind\":\"run\""));
}

TEST_F(PageTest, OnlyThisMachineMayAskAndOnlyToRead) {
  EXPECT_THAT(get("/api/run", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(get("/api/run", "Host: localhost\r\nOrigin: http://evil.example\r\n"),
              StartsWith("HTTP/1.1 403"));
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH"})
    EXPECT_THAT(ask(page_->url(), "/api/run", "Host: localhost\r\nContent-Length: 0\r\n", method),
                StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(page_->url(), StartsWith("http://127.0.0.1:"));
}

/// Answers as a service does that has three requests waiting.
class FakeService {
 public:
  explicit FakeService(std::string token,
                       std::string health = R"({"status": "healthy", "queue_status": {"pending": 3}})") {
    http::Router router;
    const auto serve = [&router](const char* path, std::string body) {
      router.add("GET", path, http::answering([body = std::move(body)](const http::Request&) {
                   return http::Response{.body = body};
                 }));
    };
    serve("/health", std::move(health));
    serve("/workers/status", R"({"workers": [], "total": 0})");
    serve("/metrics", "kernelsmith_requests_finished_total{state=\"completed\"} 7\n");
    http::ServerOptions options;
    if (!token.empty()) options.guard = http::bearer_guard(Secret(std::move(token)));
    server_ = http::Server::start(std::move(router), std::move(options)).value();
  }
  std::string url() const { return server_->url(); }

 private:
  std::unique_ptr<http::Server> server_;
};

TEST(ServicePage, ItIsFetchedWithTheTokenAndPassedOnWithoutIt) {
  const FakeService service("secret-token");
  const auto page = Page::of_service({service.url() + "/", Secret("secret-token")}, 0).value();
  const std::string summary = ask(page->url(), "/api/service");
  EXPECT_THAT(summary, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"kind\":\"service\""),
                             HasSubstr("\"pending\":3"), HasSubstr("\"completed\":7")));
  EXPECT_THAT(summary, ::testing::Not(HasSubstr("secret-token")));
  EXPECT_THAT(ask(page->url(), "/api/run"), StartsWith("HTTP/1.1 404"));
}

TEST(ServicePage, WithoutItsTokenItSaysSo) {
  const FakeService service("secret-token");
  for (const char* token : {"", "another"}) {
    const auto page = Page::of_service({service.url(), Secret(token)}, 0);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::permission);
    EXPECT_THAT(page.error().hint, HasSubstr("KERNELSMITH_SERVICE_TOKEN"));
  }
}

TEST(ServicePage, WhatIsNoServiceIsRefused) {
  const auto code_of = [](const std::string& url, const std::string& token = "") {
    return Page::of_service({url, Secret(token)}, 0).error().code;
  };
  std::string gone;
  {
    const FakeService service("");
    gone = service.url();
  }
  EXPECT_EQ(code_of(gone), ErrorCode::network);
  EXPECT_EQ(code_of("http://"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("http://user:word@127.0.0.1"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("http://127.0.0.1/a b"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("http://127.0.0.1:1", "two\nlines"), ErrorCode::invalid_argument);
  const auto other = http::Server::start(http::Router(), {}).value();
  EXPECT_EQ(code_of(other->url()), ErrorCode::bad_reply);
}

TEST(ServicePage, AnAnswerThatIsNestedTooDeepIsRefused) {
  for (const std::size_t depth : {std::size_t{65}, std::size_t{200'000}}) {
    const FakeService service("", R"({"status": )" + std::string(depth, '[') + std::string(depth, ']') + "}");
    const auto page = Page::of_service({service.url(), Secret("")}, 0);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::bad_reply);
    EXPECT_THAT(page.error().message, HasSubstr("64 levels"));
  }
}

}  // namespace
}  // namespace kernelsmith::ui
