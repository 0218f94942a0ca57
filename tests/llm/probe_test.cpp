// The probe against the scripted server: what it tells, and that it costs nothing and gives no key away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/llm/probe.hpp>

#include "client_support.hpp"

namespace kernelsmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kList = R"({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"name": "no id"}]})";

class ProbeTest : public testing::Test {
 protected:
  using Answer = std::function<std::string(bool has_key)>;

  Result<ServerProbe> probe(const Answer& answer, Protocol protocol = Protocol::chat_completions,
                            const Identity* other_ca = nullptr) {
    TlsServer server(make_certificate(other_ca ? *other_ca : ca_.identity, {}),
                     [&](const ServerRequest& request, ServerConnection& connection) {
                       heads_.push_back(request.head);
                       connection.send(answer(request.head.find(kTestKey) != std::string::npos));
                       return false;
                     });
    return probe_server(endpoint_of(server, ca_.file, protocol));
  }

  TestCa ca_;
  std::vector<std::string> heads_;
};

std::string list_for_the_key(bool has_key) {
  return has_key ? http_answer(200, kList) : http_answer(401, R"({"error": {"message": "no key"}})");
}

TEST_F(ProbeTest, AStopEndsItWhileTheServerIsSilent) {
  std::stop_source stop;
  TlsServer server(make_certificate(ca_.identity, {}),
                   [&](const ServerRequest&, ServerConnection& connection) {
                     stop.request_stop();
                     connection.stall();
                     return false;
                   });
  const auto probed = probe_server(endpoint_of(server, ca_.file), {}, stop.get_token());
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, ErrorCode::cancelled);
}

TEST_F(ProbeTest, ListsTheModelsAndTellsThatTheKeyWasTaken) {
  const auto found = probe(list_for_the_key);
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_THAT(found->models.value(), ElementsAre("a", "b"));
  EXPECT_TRUE(found->key_checked);
  ASSERT_EQ(heads_.size(), 2u);
  for (const std::string& head : heads_) EXPECT_THAT(head, StartsWith("GET /v1/models HTTP/1.1\r\n"));
  EXPECT_THAT(heads_[0], HasSubstr("Authorization: Bearer "));
}

TEST_F(ProbeTest, MessagesHaveAHeaderOfTheirOwn) {
  ASSERT_TRUE(probe(list_for_the_key, Protocol::messages));
  EXPECT_THAT(heads_[0], HasSubstr("x-api-key: "));
  EXPECT_THAT(heads_[0], HasSubstr("anthropic-version: "));
}

TEST_F(ProbeTest, AListForAnybodySaysNothingAboutTheKey) {
  const auto found = probe([](bool) { return http_answer(200, kList); });
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->key_checked);
}

TEST_F(ProbeTest, AServerWithoutAListWasReachedAllTheSame) {
  for (const std::string& answer :
       {http_answer(404, "not here"), http_answer(200, "<html></html>"), http_answer(200, R"({"data": 7})"),
        http_answer(200, R"({"error": "Unexpected endpoint or method"})")}) {
    const auto found = probe([&](bool) { return answer; });
    ASSERT_TRUE(found) << describe(found.error());
    EXPECT_FALSE(found->models);
    EXPECT_FALSE(found->key_checked);
  }
}

TEST_F(ProbeTest, WhatIsWrongHasAName) {
  const auto code_of = [](const Result<ServerProbe>& found) {
    EXPECT_FALSE(found);
    if (!found) {
      EXPECT_THAT(describe(found.error()), Not(HasSubstr(kTestKey)));
    }
    return found ? ErrorCode::internal : found.error().code;
  };
  const std::string key_quoted =
      std::string(R"({"error": {"message": "bad key )").append(kTestKey).append(R"("}})");
  EXPECT_EQ(code_of(probe([&](bool) { return http_answer(401, key_quoted); })), ErrorCode::permission);
  EXPECT_EQ(code_of(probe(
                [](bool) { return http_answer(400, R"([{"error": {"message": "API key not valid"}}])"); })),
            ErrorCode::permission);
  EXPECT_EQ(code_of(probe(
                [](bool) { return http_answer(200, R"({"success": false, "msg": "Invalid API key"})"); })),
            ErrorCode::permission);
  EXPECT_EQ(code_of(probe([](bool) { return http_answer(402, ""); })), ErrorCode::rate_limited);
  EXPECT_EQ(code_of(probe([](bool) { return http_answer(500, ""); })), ErrorCode::server_failed);
  EXPECT_EQ(code_of(probe([](bool) { return http_answer(302, "", "Location: https://example.com/\r\n"); })),
            ErrorCode::bad_reply);
  EXPECT_EQ(code_of(probe([](bool) { return std::string(); })), ErrorCode::network);
  const Identity other = make_ca("another CA");
  EXPECT_EQ(code_of(probe(list_for_the_key, Protocol::chat_completions, &other)), ErrorCode::untrusted);
  EXPECT_EQ(
      code_of(probe_server({Protocol::chat_completions, "http://example.com/v1", Secret(kTestKey), ""})),
      ErrorCode::invalid_argument);
}

TEST_F(ProbeTest, DoesNotWaitForEver) {
  TlsServer server(make_certificate(ca_.identity, {}),
                   [](const ServerRequest&, ServerConnection& connection) {
                     connection.stall();
                     return false;
                   });
  CallLimits limits;
  limits.connect = limits.first_token = std::chrono::milliseconds(100);
  const auto found = probe_server(endpoint_of(server, ca_.file), limits);
  ASSERT_FALSE(found);
  // On a busy machine TLS itself may take longer than that.
  EXPECT_EQ(found.error().code, ErrorCode::timeout);
}

}  // namespace
}  // namespace kernelsmith
