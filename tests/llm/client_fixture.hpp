// The client and a scripted TLS server, with a CA of their own.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "client_support.hpp"

namespace kernelsmith {

/// Retries at once, so that tests do not wait.
inline RetryPolicy eager(unsigned attempts) {
  return {.attempts = attempts,
          .first_pause = std::chrono::milliseconds{1},
          .longest_pause = std::chrono::milliseconds{1}};
}

class ClientFixture : public testing::Test {
 protected:
  /// A server that gives `bad` for the first request and then a right answer.
  static TlsServer::Handler first(std::string bad) {
    return [bad = std::move(bad)](const ServerRequest& request, ServerConnection& connection) {
      const bool keep = connection.send(request.number == 0 ? closing(bad) : good_stream("right"));
      return keep && request.number != 0;  // some of the bad answers have no end but the connection's
    };
  }

  static TlsServer::Handler always(std::string answer) {
    return [answer = std::move(answer)](const ServerRequest&, ServerConnection& connection) {
      connection.send(closing(answer));
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

}  // namespace kernelsmith
