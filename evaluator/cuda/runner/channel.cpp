#include "runner/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/sandbox/channel_ends.hpp>

namespace kernelsmith::cuda {
namespace {

constexpr std::uint32_t kMagic = 0x6b736372;  // "kscr"
/// A plan, and room for the data around it.
constexpr std::uint64_t kMaxPayload = plan::kMaxEncodedBytes + 4096;

struct Header {
  std::uint32_t magic = kMagic;
  MessageKind kind = MessageKind::done;
  std::uint64_t length = 0;
};

using Control = std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)>;

Error io_error(const char* what) {
  return fail(ErrorCode::io, std::string(what) + ": " + std::strerror(errno));
}

void attach(msghdr& message, Control& control, std::span<const int> descriptors) {
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

void collect(msghdr& message, std::vector<Descriptor>& descriptors) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
      descriptors.emplace_back(descriptor);
    }
  }
}

/// Waits until the socket can be read.
Status wait_for(int socket, std::optional<Channel::Clock::time_point> deadline, int wake) {
  while (true) {
    int wait_ms = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Channel::Clock::now());
      wait_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
    }
    std::array<pollfd, 2> watched{{{socket, POLLIN, 0}, {wake, POLLIN, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return io_error("poll");
    if (watched[0].revents != 0) return {};
    if (ready > 0) return fail(ErrorCode::cancelled, "stopped on request");
    if (deadline && Channel::Clock::now() >= *deadline) return fail(ErrorCode::timeout, "no answer in time");
  }
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::create() {
  auto ends = channel_ends(SOCK_STREAM);
  if (!ends) return ends.error();
  return std::pair(Channel(std::move(ends->first)), Channel(std::move(ends->second)));
}

Status Channel::send(MessageKind kind, std::span<const std::byte> payload, std::span<const int> descriptors) {
  if (payload.size() > kMaxPayload || descriptors.size() > kMaxDescriptors)
    return fail(ErrorCode::invalid_argument, "a message of " + std::to_string(payload.size()) +
                                                 " bytes and " + std::to_string(descriptors.size()) +
                                                 " descriptors is too large");
  Header header;
  header.kind = kind;
  header.length = payload.size();
  std::array<iovec, 2> parts{
      {{&header, sizeof header}, {const_cast<std::byte*>(payload.data()), payload.size()}}};
  alignas(cmsghdr) Control control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (!descriptors.empty()) attach(message, control, descriptors);
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return io_error("sendmsg");
    message.msg_control = nullptr;  // the descriptors were sent with the first bytes
    message.msg_controllen = 0;
    auto left = static_cast<std::size_t>(sent);
    for (iovec& part : parts) {
      const std::size_t taken = std::min(left, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      left -= taken;
    }
  }
  return {};
}

Status Channel::read(std::span<std::byte> into, std::vector<Descriptor>& descriptors,
                     std::optional<Clock::time_point> deadline, int wake) {
  while (!into.empty()) {
    if (auto ready = wait_for(socket_.get(), deadline, wake); !ready) return ready;
    alignas(cmsghdr) Control control{};
    iovec part{into.data(), into.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return io_error("recvmsg");
    collect(message, descriptors);
    if (got == 0) return fail(ErrorCode::io, "the other end of the channel is closed");
    if ((message.msg_flags & MSG_CTRUNC) != 0)
      return fail(ErrorCode::io, "descriptors were lost: this process may open no more files");
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<Message> Channel::receive(std::optional<Clock::time_point> deadline, int wake) {
  Header header;
  Message message;
  if (auto got = read(std::as_writable_bytes(std::span(&header, 1)), message.descriptors, deadline, wake);
      !got)
    return got.error();
  if (header.magic != kMagic || header.length > kMaxPayload || header.kind < MessageKind::done ||
      header.kind > MessageKind::replay)
    return fail(ErrorCode::io, "the channel carries something that is not a message");
  message.kind = header.kind;
  message.payload.resize(static_cast<std::size_t>(header.length));
  if (auto got = read(message.payload, message.descriptors, deadline, wake); !got) return got.error();
  return message;
}

}  // namespace kernelsmith::cuda
