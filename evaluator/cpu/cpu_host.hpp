// CpuHost: this machine's processor, with the task's memory and the kernels' sandboxes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/kernel_host.hpp>

#include "cpu_session.hpp"
#include "roofline.hpp"

namespace kernelsmith::cpu {

/// Not thread-safe, except for expect_evaluation().
class CpuHost final : public KernelHost {
 public:
  /// Makes two places and measures the cost of an empty request, with `trusted` loaded. `build` makes the
  /// roofline's kernels. Errors: io, tool_failed, refused if `trusted` fails, cancelled.
  static Result<std::shared_ptr<CpuHost>> create(std::shared_ptr<const Task> task, RunnerSettings settings,
                                                 const CpuBinary& trusted, TrustedBuilder build,
                                                 const std::stop_token& stop = {});

  HostTraits traits() const override { return traits_; }
  std::size_t capacity(std::size_t shape) const override { return slots_of(shape); }
  Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                              const std::stop_token& stop) override;
  void rest() override { runners_.rest(); }
  Result<double> least_us(std::size_t shape, const InputSet& set) override;

  /// Starts sandboxes in the background, or after the rest if the host rests. Thread-safe.
  void expect_evaluation() { runners_.prepare({arenas_[0].get(), arenas_[1].get()}); }
  /// Ends the rest: destroys closed sessions and prepares for expected evaluations.
  void evaluation_is_over() { runners_.wake(); }

 private:
  /// Candidate, yardstick and rival.
  static constexpr std::size_t kPlaces = 3;

  CpuHost(std::shared_ptr<const Task> task, RunnerSettings settings, TrustedBuilder build);
  std::size_t slots_of(std::size_t shape) const;
  /// An arena with room for calls at all shapes, or at one only.
  Result<std::unique_ptr<Arena>> make_arena(std::optional<std::size_t> only = std::nullopt) const;
  Status measure_empty_request(const CpuBinary& trusted, const std::stop_token& stop);
  SessionSetup setup() { return {*task_, shapes_, runners_, empty_request_us_, fastest_us_}; }

  const std::shared_ptr<const Task> task_;
  const std::vector<TaskShape> shapes_;
  const bool unsandboxed_;
  std::array<std::unique_ptr<Arena>, kPlaces> arenas_;  ///< the third is made when it is first needed
  RunnerPool runners_;                                  ///< uses the arenas
  Roofline roofline_;
  double empty_request_us_ = 0;
  HostTraits traits_;
  std::vector<double> fastest_us_;
  std::vector<std::optional<double>> least_us_;  ///< by shape, if it was measured
};

}  // namespace kernelsmith::cpu
