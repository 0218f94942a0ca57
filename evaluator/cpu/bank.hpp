// The bank: secret inputs with their expected outputs, made once per task and run by the reference in a
// runner of its own.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "check.hpp"
#include "compiler.hpp"
#include "judged.hpp"
#include "runner_process.hpp"

namespace kernelsmith {

/// One of the task's shapes.
struct TaskShape {
  std::string name;  ///< describe(sizes)
  std::vector<std::int64_t> sizes;
  std::vector<TensorExtent> extents;
  bool timed = false;

  /// Bytes of all tensors.
  std::size_t bytes() const;
};

/// The timed shapes, then the check shapes.
std::vector<TaskShape> shapes_of(const Task& task);

/// Inputs of one call and what must come of them, by tensor; empty where a tensor is not of that role.
struct InputSet {
  std::vector<Bytes> inputs;
  std::vector<Expected> outputs;
};

/// By shape, as many sets as memory and patience permit.
using Bank = std::vector<std::vector<InputSet>>;

struct BankLimits {
  std::size_t bytes = 0;
  double seconds = 3;
  std::size_t least = 12;  ///< sets of a timed shape
  std::size_t most = 512;
};

/// `oracle` is the reference (or the task's oracle) built in the truth type where the budget needs one, else
/// as declared: see needs_truth(). Errors: refused where the oracle fails or the budget cannot be derived.
Result<Bank> make_bank(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                       const RunnerSettings& settings, const BankLimits& limits);

/// False where outputs are compared bit for bit, so that the reference's own output is what counts.
bool needs_truth(const Task& task);

}  // namespace kernelsmith
