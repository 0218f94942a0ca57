// The fleet's server over TLS, with certificates made for the test.
#include <openssl/bio.h>
#include <openssl/pem.h>

#include "bus.hpp"
#include "certificates.hpp"
#include "fleet_fixture.hpp"

// libnats takes a closed connection apart on a thread of its own, which a process that ends does not wait
// for, and libcrypto is compiled without ThreadSanitizer. (nats_CloseAndWait() would wait, and frees what
// OpenSSL 3 frees again.)
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libcrypto.so\n"; }

namespace kernelsmith {
namespace {

using namespace testing;

std::string pem_of(const Identity& identity) {
  BIO* const memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(memory, identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return text;
}

/// A server whose certificate is for `name`.
class FleetTls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  }

  void start(const CertificateWish& wish) {
    const Identity ca = make_ca("fleet"), own = make_certificate(ca, wish);
    folder_.write("ca.pem", ca.pem());
    folder_.write("server.pem", own.pem());
    folder_.write("server.key", pem_of(own));
    server_.emplace(std::vector<std::string>{"--tls", "--tlscert", (folder_ / "server.pem").string(),
                                             "--tlskey", (folder_ / "server.key").string()});
  }

  Result<std::shared_ptr<fleet::Bus>> connect(const std::string& scheme, const std::string& host,
                                              bool with_ca) {
    FleetServer server = parse_fleet_server(scheme + "://" + host + ":" + server_->port()).value();
    if (with_ca) server.ca = folder_ / "ca.pem";
    return fleet::connect({.server = server, .name = "test"}, {});
  }

 private:
  TemporaryFolder folder_;
  std::optional<NatsServer> server_;
};

TEST_F(FleetTls, ServersAreTrustedByTheirCaAndTheirName) {
  const struct {
    const char* what;
    CertificateWish wish;
    const char* host;
    bool with_ca, trusted;
  } cases[] = {
      {"a known CA", {.name = "127.0.0.1"}, "127.0.0.1", true, true},
      {"a name", {.name = "localhost"}, "localhost", true, true},
      {"an unknown CA", {.name = "127.0.0.1"}, "127.0.0.1", false, false},
      {"another name", {.name = "elsewhere.example.org"}, "localhost", true, false},
      {"another address", {.name = "127.0.0.2"}, "127.0.0.1", true, false},
      {"an expired certificate", {.name = "localhost", .expired = true}, "localhost", true, false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    start(one.wish);
    const auto bus = connect("tls", one.host, one.with_ca);
    EXPECT_EQ(bool(bus), one.trusted);
    if (!bus && !one.wish.expired) {
      EXPECT_EQ(bus.error().code, ErrorCode::untrusted);
    }
  }
}

TEST_F(FleetTls, AFileThatIsNotThereIsSaid) {
  start({.name = "localhost"});
  FleetServer server = parse_fleet_server("tls://localhost:1").value();
  server.ca = "/no/such/file.pem";
  EXPECT_EQ(fleet::connect({.server = server, .name = "test"}, {}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace kernelsmith
