// StepStream: the pipe through which a runner gets the inputs of calls that are shown one by one. They are
// copied into a pipe of the judge's own before the clock starts, and handed over as pages after it: neither
// can they be had ahead of it, nor does the clock count how long that copy takes.
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

  /// Gets the inputs of one call ready; false where not all of it fits.
  bool stage(std::span<const iovec> inputs);

  /// Lets the runner read what is staged; false where not all of it fits, since what came before was not
  /// read.
  bool release();

  /// Whether all of it was read.
  bool empty() const;

 private:
  struct Pipe {
    FileDescriptor read_end, write_end;

    static Result<Pipe> create();
    bool make_room(std::size_t bytes) const;
  };

  StepStream(Pipe staging, Pipe shown) : staging_(std::move(staging)), shown_(std::move(shown)) {}

  Pipe staging_;
  Pipe shown_;  ///< both ends kept open: nobody is to be killed by a pipe that broke
  std::size_t staged_ = 0;
};

}  // namespace kernelsmith
