// The `torch` backend: PyTorch modules with Triton kernels, planned in a sandbox without a GPU, replayed and
// timed by trusted code (docs/backend-torch.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/devices.hpp>
#include <kernelsmith/evaluator/plain_verdict.hpp>

namespace kernelsmith {

namespace torch {
class WorkerSupply;
}

/// Settings of the backend `torch`.
struct TorchOptions {
  std::filesystem::path python;  ///< a program or its path; empty: $KERNELSMITH_TORCH_PYTHON, else python3
  DeviceRange devices;           ///< GPUs of one kind, as CUDA counts them: each run has one for itself
  /// A GPU of another maker that is planned for, by its compiler's name ("gfx942"): nothing is run then.
  /// Empty: the GPU that is here.
  std::string arch;
  std::size_t bank_bytes = std::size_t{4} << 30;  ///< device memory for inputs and expected outputs
  bool unsandboxed = false;                       ///< only when asked for by name; recorded in the tier
  /// Shared with the evaluators of other tasks; null: each starts its own.
  std::shared_ptr<torch::WorkerSupply> supply;
  /// Told for whom the task waits. Called on any thread; may be empty.
  std::function<void(const std::string&)> tell;
  /// Requested while the task is being prepared: it is given up (`cancelled`).
  std::stop_token stop = {};
};

/// What several evaluators, one after another, need to start once only (TorchOptions::supply). Thread-safe.
std::shared_ptr<torch::WorkerSupply> make_torch_worker_supply();

/// Prepares the task: starts the planner, plans the seed, and has the reference tried and timed on the GPU.
/// Takes some seconds, most of them PyTorch's. Without a GPU it plans, and every candidate that passes that
/// far ends with `unsupported`. Errors: `tool_missing` (Python, PyTorch, Triton, bubblewrap), `refused` (a
/// reference or seed that fails), `unsupported` for another backend's task.
Result<std::shared_ptr<Evaluator>> make_torch_evaluator(Task task, const TorchOptions& options = {});

/// The same without queues, for an evaluator of several tasks.
Result<std::shared_ptr<Backend>> make_torch_backend(const std::shared_ptr<const Task>& task,
                                                    const TorchOptions& options = {});

/// What a call of the candidate does, as text for a person. Needs no GPU. A candidate that cannot be planned
/// is an Error (refused) with its diagnostics.
Result<std::string> describe_torch_plan(const Task& task, const Source& source,
                                        const TorchOptions& options = {});

/// Runs the candidate in plain PyTorch, as KernelBench's harness does, on the first GPU of the options: its
/// extensions are built by PyTorch, and its code has this process's rights. Errors: `tool_missing`, `refused`
/// for a reference that fails, `unsupported` without a GPU or for another backend's task, `timeout` after 20
/// minutes, `cancelled`.
Result<PlainVerdict> verify_in_plain_torch(const Task& task, const Source& source,
                                           const TorchOptions& options = {});

/// The GPU that this machine measures on, as reports name it; "no GPU" if there is none.
std::string torch_hardware();

/// What a GPU can do at most, from its maker's data sheet: memory in GB/s, dense products in Tflop/s.
struct GpuPeaks {
  const char* name;  ///< part of the name that its driver gives
  double memory, fp32, tf32, half;
  int fastest_of = 0;  ///< the architecture (ten times major plus minor) whose fastest GPU it is; 0: of none
};
std::span<const GpuPeaks> gpu_peaks();

BackendDescription describe_torch_backend();

}  // namespace kernelsmith
