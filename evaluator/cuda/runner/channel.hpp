// Channel: messages with descriptors over a stream socket, between the judge and its runner.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

enum class MessageKind : std::uint32_t {
  // The runner's answers.
  done = 1,  ///< after any request, with a payload after map, keep, replay and the start (the first message)
  refused,
  // The judge's requests.
  map,
  unmap,
  keep,
  forget,
  replay,
};

struct Message {
  MessageKind kind = MessageKind::done;
  std::vector<std::byte> payload;
  std::vector<Descriptor> descriptors;
};

/// The most descriptors in one message; the kernel's own limit is 253.
inline constexpr std::size_t kMaxDescriptors = 60;

/// One end. Movable; one thread uses it.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both ends, closed on exec. Errors: io.
  static Result<std::pair<Channel, Channel>> create();
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  void close() { socket_.reset(); }

  /// Errors: io (the other end does not read any more), invalid_argument (too large).
  Status send(MessageKind kind, std::span<const std::byte> payload, std::span<const int> descriptors = {});

  /// The next message. Errors: io (the other end is closed or sends invalid data), timeout, cancelled (when
  /// `wake` becomes readable; -1: none).
  Result<Message> receive(std::optional<Clock::time_point> deadline = {}, int wake = -1);

 private:
  Status read(std::span<std::byte> into, std::vector<Descriptor>& descriptors,
              std::optional<Clock::time_point> deadline, int wake);

  Descriptor socket_;
};

}  // namespace kernelsmith::cuda
