// Roofline: how long it takes this machine, at best, to do what every kernel of a task must do: read each
// input and write each output once. Measured by kernels that do nothing else, in the same process, memory
// and clock as a candidate.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "loaded_object.hpp"

namespace kernelsmith {

/// Builds a source of kernelsmith's own.
using TrustedBuilder = std::function<Result<CpuBinaryPtr>(const Source&)>;

/// What the bound says about one shape.
struct LeastTime {
  double us = 0;          ///< no call can be faster, all margins taken off
  std::size_t bytes = 0;  ///< that must be moved for it
};

/// Reads the inputs, every word or one of each cache line; or fills the outputs, through the caches or past
/// them.
enum class AccessPattern { read, touch, fill, stream };

/// Not thread-safe.
class Roofline {
 public:
  Roofline(const Task& task, const std::vector<TaskShape>& shapes, TrustedBuilder build);

  /// Whether a call of so many microseconds is fast enough to be worth the measurement.
  bool worth_measuring(std::size_t shape, double call_us) const;

  /// The bound by what was measured so far; infinite where nothing was.
  LeastTime known(std::size_t shape) const;

  /// Measures at `shape`, over `arena`; what was measured before counts too, so that a machine that was busy
  /// then gives no bound that is too high. The objects are built at the first call.
  Result<LeastTime> measure(std::size_t shape, const LoadedObjectSetup& setup, const Bank& bank,
                            Arena& arena);

 private:
  /// A pattern of access, with the least time seen at each shape.
  struct Pattern {
    AccessPattern kind;
    CpuBinaryPtr binary;
    std::vector<double> least_us;
  };

  std::size_t all_read_bytes(std::size_t shape) const;
  std::size_t compulsory_read_bytes(std::size_t shape) const;
  std::size_t written_bytes(std::size_t shape) const;
  double least_us(AccessPattern one, AccessPattern other, std::size_t shape) const;

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  TrustedBuilder build_;
  std::vector<Pattern> patterns_;
};

}  // namespace kernelsmith
