// RunnerChannel: the judge's end of the socket to one runner. Messages may come from an adversary, so the
// judge takes them only as hints of when to look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/channel_ends.hpp>

#include "runner/protocol.hpp"

namespace kernelsmith::cpu {

/// The result of listen().
struct RunnerMessage {
  enum class Kind {
    answer,         ///< a reply to the last request, or ready before the first
    load_failed,    ///< the loader refused the object
    input_written,  ///< the runner reports that it faulted on writing to an input
    forged,         ///< a message that no runner sends; `what` describes it
    ended,          ///< the other end is closed, or the process has ended
    nothing,        ///< no message in time
  };
  Kind kind = Kind::nothing;
  std::string what;
};

/// Not thread-safe. Movable.
class RunnerChannel {
 public:
  /// Makes the judge's end and the runner's end. Errors: io.
  static Result<std::pair<RunnerChannel, Descriptor>> create();

  /// Sends the descriptor of an object to load, once and before any request. False if the other end no longer
  /// reads.
  bool load(int object);

  /// Requests the first `calls` rows of the call table. False if the other end no longer reads.
  bool request(std::size_t calls);

  /// Waits for one message. `exit_descriptor` (or -1) becomes readable when the process has ended.
  Result<RunnerMessage> listen(double timeout_s, int exit_descriptor);

  /// True if another message is waiting; no honest runner sends one unasked.
  bool has_more() const { return kernelsmith::has_more(descriptor_); }

 private:
  explicit RunnerChannel(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  RunnerMessage receive() const;

  Descriptor descriptor_;
  runner::Status awaited_ = runner::Status::ready;
  std::uint64_t nonce_ = 0;  ///< of the last request; 0 before the first
};

}  // namespace kernelsmith::cpu
