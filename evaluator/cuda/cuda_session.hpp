// CudaSession: a planned kernel on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/kernel_host.hpp>

#include "cuda_host.hpp"

namespace kernelsmith::cuda {

/// Batches are independent: modules are loaded again, all memory that calls can reach is filled, and inputs
/// are written. Outputs are moved into this session's memory before another kernel runs.
class CudaSession final : public KernelSession {
 public:
  CudaSession(CudaHost& host, PlannedBinaryPtr planned, Trust trust, std::stop_token stop);

  Judged<double> run(const Batch& batch) override;
  Findings compare() override;
  Digest outputs() override;

 private:
  /// An output of a call after the batch, in the judge's memory, with its margins.
  struct Withdrawn {
    std::size_t call = 0, tensor = 0;
    std::uint64_t address = 0;  ///< where the margin before the output begins
    std::size_t before = 0, size = 0, after = 0;

    std::uint64_t output() const { return address + before; }
    std::size_t bytes() const { return before + size + after; }
  };

  /// A place in an output slot that no call of the batch uses.
  struct Decoy {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };

  Judged<ReplayTime> undisturbed_batch();
  Judged<ReplayTime> batch();
  Result<Runner*> runner_with_plan();
  Status lay_out();
  void draw_decoys();
  Judged<ReplayTime> replay(Runner& runner);
  Judged<void> check_untouched();
  Status withdraw();
  Status wipe();
  Result<Bytes> downloaded(const Withdrawn& output) const;
  Result<std::vector<Look>> looks_at(const Withdrawn& output) const;
  std::vector<std::size_t> outputs_of_task() const;
  Result<CompareResult> examine(const Withdrawn& output, const LookResult& seen) const;
  Findings broken(const Error& error);

  CudaHost& host_;
  PlannedBinaryPtr planned_;
  const Trust trust_;
  const std::stop_token stop_;
  SecretStream random_;
  Batch batch_;
  std::uint32_t poison_ = 0;
  std::vector<Decoy> decoys_;
  PrivateMemory staging_;
  std::vector<Withdrawn> withdrawn_;
  std::optional<Error> broken_;  ///< why the device could not compare
};

}  // namespace kernelsmith::cuda
