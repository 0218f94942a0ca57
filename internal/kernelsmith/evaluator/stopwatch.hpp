// Measures the wall time of an evaluation's steps, for Report::spent_ms.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

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

/// Step of the time before a task's first evaluation, in which the task was prepared.
inline constexpr const char* kPrepareStep = "prepare";
/// Step of the time that no other step explains.
inline constexpr const char* kOtherStep = "other";

/// Whether the step "A: B" is a part of other steps: of A, or if A is a player, of checking and timing.
inline bool is_part(const std::string& step) { return step.find(": ") != std::string::npos; }

/// Adds what no step of `spent_ms` explains of the evaluation's `whole_ms`, so that the steps that are no
/// parts add up to it. Preparing the task was before.
inline void explain_rest(std::map<std::string, double>& spent_ms, double whole_ms) {
  double known_ms = 0;
  for (const auto& [step, ms] : spent_ms)
    if (!is_part(step) && step != kPrepareStep) known_ms += ms;
  spent_ms[kOtherStep] += std::max(0.0, whole_ms - known_ms);
}

}  // namespace kernelsmith
