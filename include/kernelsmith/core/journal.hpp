// The Journal seam: the append-only history of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <kernelsmith/core/event.hpp>

namespace kernelsmith {

/// An append-only sequence of events, numbered from 1.
///
/// Not thread-safe: the engine's committer is its only writer. Readers of a stored run open a Journal of
/// their own.
class Journal {
 public:
  virtual ~Journal() = default;

  /// Appends all events or none. Once append() has returned, they survive the end of the process.
  virtual Status append(std::span<const Event> events) = 0;

  /// Checks that the journal is still in its place: returns `io` if it was moved or deleted. This is cheap,
  /// and is called again and again while a run waits.
  virtual Status check() const { return {}; }

  /// Visits the events after position `after`, in order; stops at the visitor's first error and returns it.
  virtual Status replay(
      std::uint64_t after,
      const std::function<Status(std::uint64_t position, const Event& event)>& visit) const = 0;
};

}  // namespace kernelsmith
