#include "nats_server.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace kernelsmith::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

/// Something that becomes so by itself, in another process.
template <class Condition>
void await(const Condition& condition, const std::string& what) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("waited in vain for " + what);
    std::this_thread::sleep_for(5ms);
  }
}

bool takes_connections(int port) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool taken = ::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(connection);
  return taken;
}

/// From the file that the server writes: {"nats":["nats://127.0.0.1:44851"]}.
std::string port_in(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".ports") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto colon = text.find("127.0.0.1:");
    const auto end = text.find('"', colon);
    if (colon != text.npos && end != text.npos) return text.substr(colon + 10, end - colon - 10);
  }
  return "";
}

}  // namespace

bool NatsServer::is_installed() {
  for (const char* const folder : {"/usr/sbin", "/usr/bin", "/usr/local/bin"})
    if (::access((fs::path(folder) / "nats-server").c_str(), X_OK) == 0) return true;
  return false;
}

NatsServer::NatsServer(std::vector<std::string> arguments) : arguments_(std::move(arguments)) { start("-1"); }

NatsServer::~NatsServer() { kill(); }

void NatsServer::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void NatsServer::start_again(bool forget) {
  if (forget) fs::remove_all(folder_ / "store");
  start(port());
}

void NatsServer::reload() const { ::kill(process_, SIGHUP); }

fs::path NatsServer::messages_of(const std::string& stream) const {
  return folder_ / "store" / "jetstream" / "$G" / "streams" / stream / "msgs";
}

void NatsServer::start(const std::string& port) {
  std::vector<std::string> words = {"nats-server",          "-a", "127.0.0.1", "-p", port, "--ports_file_dir",
                                    folder_.path().string()};
  if (std::ranges::find(arguments_, "-c") == arguments_.end())
    words.insert(words.end(), {"-js", "-sd", (folder_ / "store").string()});
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = (folder_ / "log").string();
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  ::setenv("PATH", (std::string(::getenv("PATH")) + ":/usr/sbin").c_str(), 1);
  const int failed = ::posix_spawnp(&process_, "nats-server", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("nats-server cannot be started");
  if (port == "-1") {
    std::string found;
    await([&] { return !(found = port_in(folder_.path())).empty(); }, "the port of nats-server");
    url_ = "nats://127.0.0.1:" + found;
  }
  await([&] { return takes_connections(std::stoi(this->port())); }, "nats-server");
}

}  // namespace kernelsmith::testing
