#include "http/admission.hpp"

#include <gtest/gtest.h>

#include <kernelsmith/service/http_server.hpp>

namespace kernelsmith::http {
namespace {

Request with(Fields headers) {
  Request request;
  request.headers = std::move(headers);
  return request;
}

TEST(Admission, HostsOfThisMachineAreKnownWithAndWithoutPort) {
  for (const char* host : {"localhost", "LOCALHOST:80", "127.0.0.1:10907", "127.1.2.3", "[::1]:5", "[::1]"})
    EXPECT_FALSE(is_cross_site(with({{"host", host}}), true, {})) << host;
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "[", "10.0.0.1"})
    EXPECT_TRUE(is_cross_site(with({{"host", host}}), true, {})) << host;
}

TEST(Admission, FurtherHostsAreAllowedByName) {
  EXPECT_FALSE(is_cross_site(with({{"host", "gate.example:80"}}), true, {"Gate.example"}));
  EXPECT_FALSE(is_cross_site(with({{"host", "any.example"}}), false, {}));
}

TEST(Admission, APageOfAnotherSiteIsTurnedAway) {
  EXPECT_FALSE(is_cross_site(with({{"host", "localhost:1"}, {"origin", "http://localhost:1"}}), true, {}));
  EXPECT_TRUE(is_cross_site(with({{"host", "localhost:1"}, {"origin", "http://localhost:2"}}), true, {}));
  EXPECT_TRUE(is_cross_site(with({{"host", "a.example"}, {"origin", "http://b.example"}}), false, {}));
  EXPECT_TRUE(is_cross_site(with({{"host", "localhost"}, {"origin", "null"}}), true, {}));
}

TEST(Admission, OnlyTheWholeTokenIsAdmitted) {
  const Guard guard = bearer_guard(Secret("secret"));
  EXPECT_TRUE(guard(with({{"authorization", "Bearer secret"}})));
  EXPECT_TRUE(guard(with({{"authorization", "bearer secret"}})));
  for (const char* header :
       {"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secret ", "Basic secret"})
    EXPECT_FALSE(guard(with({{"authorization", header}}))) << header;
  EXPECT_FALSE(guard(with({})));
}

TEST(Admission, ATokenMayBeThePasswordOfAUrl) {
  const Guard guard = bearer_guard(Secret("secret"));
  EXPECT_TRUE(guard(with({{"authorization", "Basic YW55OnNlY3JldA=="}})));  // any:secret
  EXPECT_TRUE(guard(with({{"authorization", "basic OnNlY3JldA=="}})));      // :secret
  for (const char* credentials :
       {"c2VjcmV0", "YW55OnNlY3JlZA==", "YW55OnNlY3JldA=", "====", "!!!!", "", "=", "A==="})
    EXPECT_FALSE(guard(with({{"authorization", std::string("Basic ") + credentials}}))) << credentials;
}

}  // namespace
}  // namespace kernelsmith::http
