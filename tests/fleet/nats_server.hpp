// A nats-server of a test's own, on a free port of this machine, with JetStream in a folder of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "temporary_folder.hpp"

namespace kernelsmith::testing {

class NatsServer {
 public:
  /// Whether there is a nats-server to start.
  static bool is_installed();

  /// Returns when it takes connections. `arguments` are further ones of its command line;
  /// with -c FILE JetStream is the file's: what it does not name is off after a reload.
  explicit NatsServer(std::vector<std::string> arguments = {});
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  /// nats://127.0.0.1:PORT
  const std::string& url() const { return url_; }
  std::string port() const { return url_.substr(url_.rfind(':') + 1); }

  /// SIGKILL; what it has on its disk stays.
  void kill();
  /// On the same port. `forget`: with an empty disk.
  void start_again(bool forget = false);
  /// Its configuration file has changed (SIGHUP).
  void reload() const;
  /// What it has on its disk of a stream.
  std::filesystem::path messages_of(const std::string& stream) const;

 private:
  void start(const std::string& port);

  TemporaryFolder folder_;
  std::vector<std::string> arguments_;
  std::string url_;
  pid_t process_ = -1;
};

}  // namespace kernelsmith::testing
