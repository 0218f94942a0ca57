// A thousand streams at once over TLS: what one client costs in processor time and memory.
//
//   llm_streams [STREAMS] [EVENTS]
//
// The server is a process of its own and lets nobody finish before all have begun, so that all are open at
// the same time. The first round opens its connections, the second one uses them again. What OpenSSL alone
// needs for a handshake is measured beside them and is not the client's overhead. Ends with 1 if a call is
// lost or a bar of docs/llm.md is missed.
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <latch>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client_support.hpp"

using namespace kernelsmith;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double kMostKibibytes = 128;   // a stream beyond its body
constexpr double kMostMilliseconds = 1;  // of processor time a call
constexpr std::size_t kPromptBytes = 8 * 1024;

/// Lets `size` callers through together, again and again.
class Gate {
 public:
  explicit Gate(std::size_t size) : size_(size) {}
  void pass() {
    std::unique_lock lock(mutex_);
    const std::size_t round = arrived_++ / size_;
    if (arrived_ % size_ == 0) all_.notify_all();
    all_.wait(lock, [&] { return arrived_ >= (round + 1) * size_; });
  }

 private:
  std::size_t size_, arrived_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

/// Runs the server in a child, which ends with this process; the URL comes through a pipe.
std::string start_server(const Identity& ca, std::size_t streams, int events) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::abort();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    Gate gate(streams);
    const std::string word = chunk(
        "data: "
        "{\"id\":\"chatcmpl-0123456789\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,"
        "\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n");
    TlsServer server(make_certificate(ca, {}), [&](const ServerRequest&, ServerConnection& connection) {
      connection.send(stream_head() + word);
      gate.pass();
      for (int i = 1; i < events; ++i) connection.send(word);
      return connection.send(chunk("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n") +
                             chunk("data: [DONE]\n\n") + last_chunk());
    });
    const std::string url = server.url();
    if (write(pipe_ends[1], url.data(), url.size()) < 0) std::abort();
    close(pipe_ends[1]);
    for (;;) pause();
  }
  close(pipe_ends[1]);
  char url[64] = {};
  if (read(pipe_ends[0], url, sizeof url - 1) <= 0) std::abort();
  close(pipe_ends[0]);
  return url;
}

/// Milliseconds of processor time that OpenSSL needs for a verified handshake, without any client around it.
double bare_handshake_ms(const std::string& url, const std::string& ca_file) {
  constexpr int kTimes = 200;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1)));
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr) != 1) std::abort();
  const auto now_ms = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
  };
  const double begin = now_ms();
  for (int i = 0; i < kTimes; ++i) {
    const int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, socket_);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        SSL_connect(ssl) != 1)
      std::abort();
    SSL_free(ssl);
    close(socket_);
  }
  const double spent = now_ms() - begin;
  SSL_CTX_free(context);
  return spent / kTimes;
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_kib() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

double peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss);
}

struct Round {
  std::size_t lost = 0;
  double cpu_ms = 0, wall_s = 0, cores = 0;
};

Round run_round(ModelClient& client, std::size_t streams, std::size_t reply_bytes) {
  std::atomic<std::size_t> good = 0;
  std::latch left(static_cast<std::ptrdiff_t>(streams));
  ModelCall call = a_call();
  call.messages[0].text = std::string(kPromptBytes, 'p');
  const double cpu = cpu_s();
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < streams; ++i)
    client.start(call, {}, [&](const Result<ModelReply>& reply) {
      if (reply && reply->text.size() == reply_bytes) ++good;
      if (!reply) std::fprintf(stderr, "lost: %s\n", describe(reply.error()).c_str());
      left.count_down();
    });
  left.wait();
  Round round;
  round.lost = streams - good;
  round.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  round.cpu_ms = 1e3 * (cpu_s() - cpu) / static_cast<double>(streams);
  round.cores = (cpu_s() - cpu) / round.wall_s;
  return round;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t streams = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const int events = argc > 2 ? std::atoi(argv[2]) : 100;
  const TestCa ca;
  const std::string url = start_server(ca.identity, streams, events);
  ClientOptions options;
  options.pacing.concurrency = static_cast<unsigned>(streams);
  options.retry.attempts = 1;
  const double before = resident_kib();
  bool good = true;
  {
    const auto client =
        ModelClient::create({Protocol::chat_completions, url + "/v1", Secret(kTestKey), ca.file}, options)
            .value();
    std::printf("%-12s %8s %8s %14s %12s %8s %8s\n", "round", "streams", "lost", "CPU ms a call",
                "TLS's of it", "cores", "wall s");
    double tls_ms = bare_handshake_ms(url, ca.file);
    for (const char* name : {"handshakes", "kept alive"}) {
      const Round round = run_round(*client, streams, static_cast<std::size_t>(events) * 5);
      std::printf("%-12s %8zu %8zu %14.3f %12.3f %8.2f %8.2f\n", name, streams, round.lost, round.cpu_ms,
                  tls_ms, round.cores, round.wall_s);
      good = good && round.lost == 0 && round.cpu_ms - tls_ms <= kMostMilliseconds && round.cores <= 1;
      tls_ms = 0;
    }
  }
  const double body_kib = static_cast<double>(kPromptBytes + static_cast<std::size_t>(events) * 5) / 1024;
  const double each = (peak_kib() - before) / static_cast<double>(streams) - body_kib;
  std::printf("memory: %.1f KiB a stream beyond its body\n", each);
  good = good && each <= kMostKibibytes;
  std::puts(good ? "within the bars" : "NOT within the bars");
  return good ? 0 : 1;
}
