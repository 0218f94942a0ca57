#include "runner/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace kernelsmith::cpu {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Kind = RunnerMessage::Kind;

/// A process that peeks at requests without reading them fills the socket. We do not wait for such a process.
constexpr int kAtOnce = MSG_NOSIGNAL | MSG_DONTWAIT;

}  // namespace

Result<std::pair<RunnerChannel, Descriptor>> RunnerChannel::create() {
  auto ends = channel_ends(SOCK_SEQPACKET);
  if (!ends) return ends.error();
  return std::pair(RunnerChannel(std::move(ends->first)), std::move(ends->second));
}

bool RunnerChannel::load(int object) {
  runner::LoadRequest request;
  iovec bytes{&request, sizeof request};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof object)> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof object);
  std::memcpy(CMSG_DATA(header), &object, sizeof object);
  awaited_ = runner::Status::loaded;
  return ::sendmsg(descriptor_.get(), &message, kAtOnce) == sizeof request;
}

bool RunnerChannel::request(std::size_t calls) {
  nonce_ = secret_number();
  awaited_ = runner::Status::done;
  const runner::Request request{runner::kMagic, static_cast<std::uint32_t>(calls), nonce_};
  return ::send(descriptor_.get(), &request, sizeof request, kAtOnce) == sizeof request;
}

Result<RunnerMessage> RunnerChannel::listen(double timeout_s, int exit_descriptor) {
  const auto start = SteadyClock::now();
  while (true) {
    const double left_ms =
        timeout_s * 1e3 - std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
    std::array<pollfd, 2> watched{{{descriptor_.get(), POLLIN, 0}, {exit_descriptor, POLLIN, 0}}};
    // Polls at least once: a message that came in time counts, even if this thread sees it late.
    const int wait_ms = static_cast<int>(std::ceil(std::max(left_ms, 0.0)));
    const int ready = ::poll(watched.data(), watched.size(), wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail(ErrorCode::io, std::string("poll: ") + std::strerror(errno));
    if (ready == 0) return RunnerMessage{};
    if ((watched[0].revents & POLLIN) == 0) return RunnerMessage{Kind::ended, {}};
    if (RunnerMessage message = receive(); message.kind != Kind::nothing) return message;
  }
}

RunnerMessage RunnerChannel::receive() const {
  runner::Reply reply;
  const auto got = ::recv(descriptor_.get(), &reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got <= 0) return {Kind::ended, {}};
  if (got != sizeof reply || reply.magic != runner::kMagic || reply.nonce != nonce_)
    return {Kind::forged, "a message that answers no request"};
  if (reply.status == awaited_) return {Kind::answer, {}};
  if (reply.status == runner::Status::input_written) return {Kind::input_written, {}};
  if (reply.status == runner::Status::load_failed && awaited_ == runner::Status::loaded)
    return {Kind::load_failed, {}};
  return {Kind::forged, "a wrong status"};
}

}  // namespace kernelsmith::cpu
