// Roofline: the shortest time in which this machine can read each input of a task and write each output once,
// as every kernel of the task must. A kernel that does only this is timed with a candidate's sandbox, memory
// and clock.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "cpu_session.hpp"

namespace kernelsmith::cpu {

/// Builds one of kernelsmith's own sources.
using TrustedBuilder = std::function<Result<CpuBinaryPtr>(const Source&)>;

/// Not thread-safe.
class Roofline {
 public:
  Roofline(const Task& task, const std::vector<TaskShape>& shapes, TrustedBuilder build)
      : task_(task), shapes_(shapes), build_(std::move(build)) {}

  /// Whether a call of this many microseconds is fast enough to justify the measurement.
  bool worth_measuring(std::size_t shape, double call_us) const;

  /// The shortest possible time of a call at a timed shape in microseconds, with a safety margin. `set` is
  /// used repeatedly. The first call builds the kernels.
  Result<double> measure(std::size_t shape, const InputSet& set, const SessionSetup& setup, Arena& arena);

 private:
  std::size_t read_bytes(std::size_t shape) const;
  std::size_t compulsory_read_bytes(std::size_t shape) const;
  std::size_t written_bytes(std::size_t shape) const;
  Source kernel() const;

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  TrustedBuilder build_;
  CpuBinaryPtr binary_;
};

}  // namespace kernelsmith::cpu
