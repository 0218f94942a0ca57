// Measures the wall time of an evaluation's steps, for Report::spent_ms.
#pragma once

#include <chrono>

namespace kernelsmith {

/// Measures the wall time since it was made.
class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds the time of its lifetime to a total.
class AddedTime {
 public:
  explicit AddedTime(double& total_ms) : total_ms_(total_ms) {}
  ~AddedTime() { total_ms_ += watch_.ms(); }
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;

 private:
  double& total_ms_;
  Stopwatch watch_;
};

}  // namespace kernelsmith
