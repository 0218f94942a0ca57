// Replayer: executes the judge's requests in the runner's program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "device/context.hpp"
#include "runner/address_space.hpp"
#include "runner/launch_clock.hpp"
#include "runner/runner.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// Not thread-safe. Makes its context current in the thread permanently; released with the process.
class Replayer {
 public:
  /// Errors: unsupported, tool_failed.
  static Result<std::unique_ptr<Replayer>> create(const RunnerSettings& settings);

  plan::Workspace workspace() const;
  Result<std::vector<std::uint64_t>> map(std::span<const std::uint64_t> bytes,
                                         std::span<const Descriptor> memory);
  Status unmap(std::span<const std::uint64_t> addresses);
  /// Errors: bad_input if it is not a plan or check() refuses it.
  Result<std::uint32_t> keep(std::span<const std::byte> encoded);
  void forget(std::uint32_t number) { plans_.erase(number); }

  Judged<ReplayTime> replay(std::uint32_t number, const Replay& how);

  /// Whether the context is lost after a failure: a fault, or work that never ended.
  bool lost(const Failure& failure) const;

 private:
  explicit Replayer(std::shared_ptr<const DeviceContext> context);
  Status prepare(const std::filesystem::path& kernels);
  Judged<void> provide_workspace(const plan::Plan& plan, std::size_t calls);
  Judged<void> fit(Region& region, std::uint64_t need, std::uint64_t most);
  Judged<ReplayTime> replay(const plan::Plan& plan, const Replay& how);

  std::shared_ptr<const DeviceContext> context_;
  const Driver& driver_;
  DeviceContext::Current current_;
  std::unique_ptr<ClockReader> clocks_;  ///< null if the clocks are unknown
  std::unique_ptr<AddressSpace> addresses_;
  std::unique_ptr<LaunchClock> clock_;
  Region* kept_ = nullptr;
  Region* call_ = nullptr;
  std::map<std::uint32_t, plan::Plan> plans_;
  std::uint32_t next_number_ = 1;
};

/// 32 random bits that are NaN as f64, f32, and twice as f16 and bf16.
std::uint32_t poison_word(const RandomBelow& below);

}  // namespace kernelsmith::cuda
