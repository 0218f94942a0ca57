// Runs the task's reference and its generator of inputs, each in a process of its own.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/oracle.hpp>

#include "runner/arena.hpp"
#include "runner/runner_process.hpp"
#include "toolchain/compiler.hpp"

namespace kernelsmith::cpu {

class CpuOracle final : public Oracle {
 public:
  /// Loads the object that was built in `precision`. Task and shapes must outlive it. Errors: refused if it
  /// cannot be loaded; cancelled, here or from any answer, after a stop request.
  static Result<std::unique_ptr<CpuOracle>> create(const Task& task, const std::vector<TaskShape>& shapes,
                                                   const CpuBinary& binary, OraclePrecision precision,
                                                   const RunnerSettings& settings, std::stop_token stop = {});

  OraclePrecision precision() const override { return precision_; }
  std::span<std::byte> input(std::size_t shape, std::size_t tensor) override { return memory(shape, tensor); }
  Status answer(std::size_t shape) override;
  std::span<const std::byte> output(std::size_t shape, std::size_t tensor) override {
    return memory(shape, tensor);
  }
  double elsewhere_us() const override { return cpu_us_; }

 private:
  CpuOracle(const Task& task, const std::vector<TaskShape>& shapes, OraclePrecision precision, Arena arena,
            RunnerProcess runner, std::stop_token stop);
  std::span<std::byte> memory(std::size_t shape, std::size_t tensor) const;

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  const OraclePrecision precision_;
  Arena arena_;
  RunnerProcess runner_;
  const std::stop_token stop_;
  double cpu_us_ = 0;
};

class CpuInputGenerator final : public InputGenerator {
 public:
  /// Like CpuOracle::create(), but without a precision.
  static Result<std::unique_ptr<CpuInputGenerator>> create(const Task& task,
                                                           const std::vector<TaskShape>& shapes,
                                                           const CpuBinary& binary,
                                                           const RunnerSettings& settings,
                                                           std::stop_token stop = {});

  Status generate(std::size_t shape, std::uint64_t seed, Inputs& inputs) override;
  double elsewhere_us() const override { return cpu_us_; }

 private:
  CpuInputGenerator(const Task& task, const std::vector<TaskShape>& shapes, Arena arena, RunnerProcess runner,
                    std::stop_token stop);

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  Arena arena_;  ///< all tensors except those that are only written, then a tensor with the seed
  RunnerProcess runner_;
  const std::stop_token stop_;
  double cpu_us_ = 0;
};

}  // namespace kernelsmith::cpu
