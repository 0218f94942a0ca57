#include "planner/judge_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include <poll.h>
#include <sys/socket.h>

namespace kernelsmith::cuda::planner {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Reads pieces of a message as they come, until a deadline.
class Listening {
 public:
  Listening(int socket, int exit_descriptor, double timeout_s)
      : socket_(socket), exit_(exit_descriptor), timeout_s_(timeout_s) {}

  /// Fills the span; otherwise returns the reason.
  std::optional<PlannerMessage::Kind> fill(std::span<std::byte> place) {
    while (!place.empty()) {
      const auto got = ::recv(socket_, place.data(), place.size(), MSG_DONTWAIT);
      if (got > 0) {
        place = place.subspan(static_cast<std::size_t>(got));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        return PlannerMessage::Kind::ended;
      } else if (const auto failure = wait()) {
        return failure;
      }
    }
    return {};
  }

 private:
  std::optional<PlannerMessage::Kind> wait() {
    const double passed_s = std::chrono::duration<double>(SteadyClock::now() - start_).count();
    const double left_ms = std::max((timeout_s_ - passed_s) * 1e3, 0.0);
    std::array<pollfd, 2> watched{{{socket_, POLLIN, 0}, {exit_, POLLIN, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(std::ceil(left_ms)));
    if (ready < 0 && errno == EINTR) return {};
    if (ready == 0) return PlannerMessage::Kind::nothing;
    if (ready < 0 || (watched[0].revents & POLLIN) == 0) return PlannerMessage::Kind::ended;
    return {};
  }

  int socket_, exit_;
  double timeout_s_;
  SteadyClock::time_point start_ = SteadyClock::now();
};

PlannerMessage forged(const char* what) {
  PlannerMessage message;
  message.kind = PlannerMessage::Kind::forged;
  message.what = what;
  return message;
}

}  // namespace

Result<std::pair<JudgeChannel, Descriptor>> JudgeChannel::create() {
  auto ends = channel_ends(SOCK_STREAM);
  if (!ends) return ends.error();
  return std::pair(JudgeChannel(std::move(ends->first)), std::move(ends->second));
}

bool JudgeChannel::write(Kind kind, std::span<const std::byte> body, int flags) {
  const Header header{kMagic, kind, nonce_, body.size()};
  std::vector<std::byte> message(sizeof header + body.size());
  std::memcpy(message.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), message.begin() + sizeof header);
  std::span<const std::byte> left = message;
  while (!left.empty()) {
    const auto put = ::send(descriptor_.get(), left.data(), left.size(), MSG_NOSIGNAL | flags);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    left = left.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

bool JudgeChannel::send(Kind kind, std::span<const std::byte> body) { return write(kind, body, 0); }

bool JudgeChannel::request(std::span<const std::byte> body) {
  nonce_ = secret_number();
  return write(Kind::request, body, MSG_DONTWAIT);
}

PlannerMessage JudgeChannel::listen(double timeout_s, int exit_descriptor) {
  Listening listening(descriptor_.get(), exit_descriptor, timeout_s);
  Header header;
  PlannerMessage message;
  if (const auto failure = listening.fill(std::as_writable_bytes(std::span(&header, 1)))) {
    message.kind = *failure;
    return message;
  }
  if (header.magic != kMagic || header.nonce != nonce_) return forged("a message that answers no request");
  if (header.bytes > plan::kMaxEncodedCall) return forged("a message beyond the largest call");
  message.said = header.kind;
  message.body.resize(header.bytes);
  const auto failure = listening.fill(message.body);
  message.kind = failure.value_or(PlannerMessage::Kind::message);
  return message;
}

}  // namespace kernelsmith::cuda::planner
