#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith {
namespace {

TEST(FleetServer, UrlsAreTakenApart) {
  const auto plain = parse_fleet_server("nats://gpu-host").value();
  EXPECT_EQ(plain.url, "nats://gpu-host:4222");
  EXPECT_FALSE(plain.has_secret());
  const auto whole = parse_fleet_server("tls://smith:p%40ss%3A@nats.example.org:4333/").value();
  EXPECT_EQ(whole.url, "tls://nats.example.org:4333");
  EXPECT_EQ(whole.user.reveal(), "smith");
  EXPECT_EQ(whole.password.reveal(), "p@ss:");
  EXPECT_TRUE(whole.has_secret());
  EXPECT_EQ(parse_fleet_server("nats://token@h").value().user.reveal(), "token");
  EXPECT_EQ(parse_fleet_server("nats://[::1]").value().url, "nats://[::1]:4222");
  EXPECT_EQ(parse_fleet_server("nats://[::1]:5000").value().url, "nats://[::1]:5000");
}

TEST(FleetServer, WhatIsNoneIsRefusedWithoutQuotingIt) {
  for (const char* const wrong :
       {"", "host:4222", "http://host", "nats://", "nats://secret:secret@", "nats://secret@h:0",
        "nats://secret@h:99999", "nats://:secret@h", "nats://secret@h/path", "nats://secret@a b"}) {
    const auto server = parse_fleet_server(wrong);
    ASSERT_FALSE(server) << wrong;
    EXPECT_EQ(server.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(describe(server.error()).find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace kernelsmith
