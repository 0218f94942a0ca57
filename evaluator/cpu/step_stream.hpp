// StepStream: the pipe through which a runner gets the inputs of calls that are shown one by one. The kernel
// copies them when the candidate asks for them, all at once and not before they are all there, so that none
// of it overlaps with a call.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <sys/uio.h>

#include <kernelsmith/core/result.hpp>

#include "descriptor.hpp"

namespace kernelsmith {

/// Not thread-safe. Movable.
class StepStream {
 public:
  /// The judge's side, and the end that the runner reads, without ever waiting. Errors: io.
  static Result<std::pair<StepStream, FileDescriptor>> create();

  /// Makes room for that much. False where the system does not grant it.
  bool make_room(std::size_t bytes);

  /// Writes the inputs of one call; false where not all of it fits, since what came before was not read.
  bool write(std::span<const iovec> inputs);

  /// Whether all of it was read.
  bool empty() const;

 private:
  StepStream(FileDescriptor mine, FileDescriptor theirs)
      : write_end_(std::move(mine)), read_end_(std::move(theirs)) {}

  FileDescriptor write_end_;
  FileDescriptor read_end_;  ///< kept open: nobody is to be killed by a pipe that broke
};

}  // namespace kernelsmith
