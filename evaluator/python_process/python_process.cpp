#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/evaluator/python_process/python_process.hpp>
#include <kernelsmith/sandbox/channel_ends.hpp>

namespace kernelsmith::python_process {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kHeadBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::uint64_t kMostJson = 16ULL << 20, kMostBlob = 256ULL << 20;
/// The size of one read; a false length must not cost more memory than the actual data.
constexpr std::size_t kPiece = std::size_t{1} << 20;
/// Time for a process to end after its channel is closed; then it is killed.
constexpr auto kGrace = std::chrono::seconds(2);
/// A stop request is noticed within this time.
constexpr int kLookMs = 50;
constexpr int kDeepest = 64;              // of a JSON text
constexpr std::size_t kMostWords = 2000;  // limit of its last output

enum class Ready { yes, ended, late, stopped };

/// Waits for the channel until the deadline, a stop request, or the program's end.
class Waiting {
 public:
  Waiting(int channel, int exit_descriptor, double timeout_s, const std::stop_token& stop)
      : channel_(channel), exit_(exit_descriptor), timeout_s_(timeout_s), stop_(stop) {}

  Ready wait_for(short event) {
    while (true) {
      if (stop_.stop_requested()) return Ready::stopped;
      const double passed_s = std::chrono::duration<double>(SteadyClock::now() - start_).count();
      if (passed_s >= timeout_s_) return Ready::late;
      const double left_ms = std::ceil((timeout_s_ - passed_s) * 1e3);
      std::array<pollfd, 2> watched{{{channel_, event, 0}, {exit_, POLLIN, 0}}};
      const int ready = ::poll(watched.data(), watched.size(),
                               static_cast<int>(std::min(left_ms, static_cast<double>(kLookMs))));
      if (ready <= 0) continue;
      // What the program wrote before its end must still be read.
      if ((watched[0].revents & (event | POLLHUP | POLLERR)) != 0) return Ready::yes;
      if (watched[1].revents != 0) return Ready::ended;
    }
  }

 private:
  int channel_, exit_;
  double timeout_s_;
  const std::stop_token& stop_;
  SteadyClock::time_point start_ = SteadyClock::now();
};

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Sends a part of the bytes. The descriptors go with its first byte.
ssize_t send_some(int channel, std::string_view bytes, std::span<const int> passed) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(PythonProcess::kMostPassed * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!passed.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(passed.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(passed.size_bytes());
    std::memcpy(CMSG_DATA(rights), passed.data(), passed.size_bytes());
  }
  return ::sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Ready send_all(int channel, std::string_view bytes, Waiting& waiting, std::span<const int> passed = {}) {
  while (!bytes.empty()) {
    const auto put = send_some(channel, bytes, passed);
    if (put > 0) {
      passed = {};
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (!would_block()) {
      return Ready::ended;
    } else if (const Ready ready = waiting.wait_for(POLLOUT); ready != Ready::yes) {
      return ready;
    }
  }
  return Ready::yes;
}

Ready receive(int channel, std::uint64_t size, std::string& out, Waiting& waiting) {
  out.clear();
  while (out.size() < size) {
    const std::size_t before = out.size();
    out.resize(std::min<std::size_t>(size, before + kPiece));
    const auto got = ::recv(channel, out.data() + before, out.size() - before, MSG_DONTWAIT);
    const int error = errno;
    out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    errno = error;
    if (got > 0) continue;
    if (got == 0 || !would_block()) return Ready::ended;
    if (const Ready ready = waiting.wait_for(POLLIN); ready != Ready::yes) return ready;
  }
  return Ready::yes;
}

std::string head_of(const Message& message) {
  std::string head;
  const auto add = [&head](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) head += static_cast<char>(value >> (8 * i) & 0xff);
  };
  add(message.json.size(), sizeof(std::uint32_t));
  add(message.blob.size(), sizeof(std::uint64_t));
  return head;
}

std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Answer::Kind kind_of(Ready ready) {
  switch (ready) {
    case Ready::late:
      return Answer::Kind::late;
    case Ready::stopped:
      return Answer::Kind::stopped;
    default:
      return Answer::Kind::ended;
  }
}

}  // namespace

Result<PythonProcess> PythonProcess::start(SandboxSpec spec) {
  auto ends = channel_ends(SOCK_STREAM);
  if (!ends) return ends.error();
  const Descriptor theirs = std::move(ends->second);
  spec.descriptors.push_back({theirs.get(), kChannel});
  // The shell moves the channel to the descriptors that the program expects, because a sandbox's own streams
  // are pipes.
  const std::vector<std::string> shell = {"/bin/sh", "-c", R"(exec "$0" "$@" <&3 >&3 3>&-)"};
  if (!spec.forker) spec.argv.insert(spec.argv.begin(), shell.begin(), shell.end());
  auto process = SandboxedProcess::start(spec);
  if (!process) return process.error();
  return PythonProcess(std::move(*process), std::move(ends->first));
}

Answer PythonProcess::ask(const Message& request, double timeout_s, const std::stop_token& stop,
                          std::span<const int> passed) {
  if (!process_) return {Answer::Kind::ended, {}, "it had ended before"};
  if (request.json.size() > kMostJson || request.blob.size() > kMostBlob)
    return dead(Answer::Kind::garbage, "a request beyond the limits of a message");
  // Unexpected data answers an earlier request, and must not be taken for this one's reply.
  if (has_more(channel_)) return dead(Answer::Kind::ended);
  Waiting waiting(channel_.get(), process_->exit_descriptor(), timeout_s, stop);
  std::string head = head_of(request);
  if (const Ready sent = send_all(channel_.get(), head, waiting, passed); sent != Ready::yes)
    return dead(kind_of(sent));
  for (const std::string* const part : {&request.json, &request.blob})
    if (const Ready sent = send_all(channel_.get(), *part, waiting); sent != Ready::yes)
      return dead(kind_of(sent));
  Answer answer;
  if (const Ready got = receive(channel_.get(), kHeadBytes, head, waiting); got != Ready::yes)
    return dead(kind_of(got));
  const std::uint64_t json = number_in(std::string_view(head).substr(0, sizeof(std::uint32_t)));
  const std::uint64_t blob = number_in(std::string_view(head).substr(sizeof(std::uint32_t)));
  if (json > kMostJson || blob > kMostBlob)
    return dead(Answer::Kind::garbage,
                "a reply of " + std::to_string(json) + " and " + std::to_string(blob) + " bytes");
  if (const Ready got = receive(channel_.get(), json, answer.message.json, waiting); got != Ready::yes)
    return dead(kind_of(got));
  if (const Ready got = receive(channel_.get(), blob, answer.message.blob, waiting); got != Ready::yes)
    return dead(kind_of(got));
  if (has_more(channel_)) return dead(Answer::Kind::garbage, "more than one reply");
  return answer;
}

Answer PythonProcess::dead(Answer::Kind kind, std::string words) {
  if (kind == Answer::Kind::ended) words = how_it_ended();
  kill();
  return {kind, {}, std::move(words)};
}

void PythonProcess::kill() {
  channel_.reset();
  if (process_ && grace_s_ > 0)
    process_->wait_for(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(grace_s_)));
  process_.reset();
}

std::string PythonProcess::how_it_ended() {
  channel_.reset();
  auto ended = process_->wait_for(kGrace);
  if (!ended) {
    process_->kill();
    ended = process_->wait();
  }
  if (!*ended) return describe(ended->error());
  const SandboxResult& result = **ended;
  std::string_view said = result.err;
  if (said.size() > kMostWords) said.remove_prefix(said.size() - kMostWords);
  std::string words = describe(result);
  if (!said.empty()) words += "\n" + escape_controls(said);
  return words;
}

bool nests_too_deep(std::string_view json) {
  int depth = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') {
      for (++i; i < json.size() && json[i] != '"'; ++i)
        if (json[i] == '\\') ++i;
    } else if (json[i] == '[' || json[i] == '{') {
      if (++depth > kDeepest) return true;
    } else if (json[i] == ']' || json[i] == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace kernelsmith::python_process
