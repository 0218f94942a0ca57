// RunnerChannel: the judge's end of the socket to one runner. What arrives is an adversary's; it is never
// more than a hint when to look.
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

/// What listen() has received.
struct RunnerMessage {
  enum class Kind {
    answer,         ///< to what was asked last; that it is ready if nothing was
    load_failed,    ///< the loader refused the object
    input_written,  ///< the runner faulted on writing to an input, as it says itself
    forged,         ///< `what`: no runner writes that
    ended,          ///< the other end is closed, or the process has ended
    nothing,        ///< within the time
  };
  Kind kind = Kind::nothing;
  std::string what;
};

/// Not thread-safe. Movable.
class RunnerChannel {
 public:
  /// The judge's end and the runner's. Errors: io.
  static Result<std::pair<RunnerChannel, Descriptor>> create();

  /// Has an object loaded, which is read from the descriptor. Once, before any request. False if nobody
  /// reads any more.
  bool load(int object);

  /// Has the first `calls` rows of the call table done. False if nobody reads any more.
  bool request(std::size_t calls);

  /// Waits for one message. `exit_descriptor` (or -1) becomes readable when the process has ended.
  Result<RunnerMessage> listen(double timeout_s, int exit_descriptor);

  /// True if another message waits, which no runner sends unasked.
  bool has_more() const { return kernelsmith::has_more(descriptor_); }

 private:
  explicit RunnerChannel(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  RunnerMessage receive() const;

  Descriptor descriptor_;
  runner::Status awaited_ = runner::Status::ready;
  std::uint64_t nonce_ = 0;  ///< of the last request; 0 before the first
};

}  // namespace kernelsmith::cpu
