// CpuSession: an object loaded into a runner, its calls laid out in an arena.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

#include "runner/arena.hpp"
#include "runner/runner_pool.hpp"
#include "toolchain/compiler.hpp"

namespace kernelsmith::cpu {

/// The data that all sessions of a host share. It outlives them.
struct SessionSetup {
  const Task& task;
  const std::vector<TaskShape>& shapes;
  RunnerPool& runners;
  double empty_request_us = 0;      ///< the cost of an empty request to a trusted runner
  std::vector<double>& fastest_us;  ///< for each shape the fastest call of all sessions
};

class CpuSession final : public KernelSession {
 public:
  /// Wipes the arena for a candidate, takes a runner and loads the object.
  static Judged<std::unique_ptr<CpuSession>> open(const SessionSetup& setup, Arena& arena,
                                                  const CpuBinary& binary, Trust trust, std::stop_token stop);
  ~CpuSession() override;

  Judged<double> run(const Batch& batch) override;
  Findings compare() override;
  Digest outputs() override;

  /// The time in microseconds of a request without calls; nothing is discounted.
  Judged<double> empty_request();
  /// Returns true if the process is stopped and timed through a cgroup.
  bool full_tier() const { return process_.full_tier(); }

 private:
  CpuSession(const SessionSetup& setup, Arena& arena, RunnerProcess process, Trust trust,
             std::stop_token stop);
  void lay_out(std::size_t call, std::size_t lane, std::size_t lanes) const;
  void fill_margins(std::size_t call, std::size_t tensor) const;
  Judged<double> request(std::size_t calls, double timeout_s);
  std::span<const std::byte> output(std::size_t call, std::size_t tensor) const;
  void conclude_output(std::size_t call, std::size_t tensor, const std::vector<PartFindings>& parts,
                       Findings& findings) const;

  SessionSetup setup_;
  Arena& arena_;
  RunnerProcess process_;
  Trust trust_;
  std::stop_token stop_;
  SecretStream random_;
  std::vector<std::size_t> written_;  ///< tensors that are outputs
  std::uint32_t poison_ = 0;
  Batch batch_;  ///< the last one
};

}  // namespace kernelsmith::cpu
