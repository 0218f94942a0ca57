// JudgeChannel: the judge's end of the socket to one planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/channel_ends.hpp>

#include "planner/protocol.hpp"

namespace kernelsmith::cuda::planner {

/// The result of listen().
struct PlannerMessage {
  enum class Kind {
    message,  ///< `said` with `body`, for the latest request
    forged,   ///< a message that no planner sends: `what`
    ended,    ///< the other end is closed, or the process has ended
    nothing,  ///< no message in time
  };
  Kind kind = Kind::nothing;
  planner::Kind said = planner::Kind::ready;
  std::vector<std::byte> body;
  std::string what;
};

/// Not thread-safe. Movable.
class JudgeChannel {
 public:
  /// The judge's end and the planner's. Errors: io.
  static Result<std::pair<JudgeChannel, Descriptor>> create();

  /// Sends before the candidate is loaded; may block. False if the other end does not read any more.
  bool send(Kind kind, std::span<const std::byte> body);
  /// Sends a request with a new secret number. False if the other end does not read any more, or reads too
  /// slowly.
  bool request(std::span<const std::byte> body);

  /// Waits for one message. `exit_descriptor` becomes readable when the process has ended.
  PlannerMessage listen(double timeout_s, int exit_descriptor);

  /// True if another message is waiting; no honest planner sends one unasked.
  bool has_more() const { return kernelsmith::has_more(descriptor_); }

 private:
  explicit JudgeChannel(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  bool write(Kind kind, std::span<const std::byte> body, int flags);

  Descriptor descriptor_;
  std::uint64_t nonce_ = 0;  ///< of the last request; 0 before the first
};

}  // namespace kernelsmith::cuda::planner
