// The `torch` backend: PyTorch modules with Triton kernels. They are planned in a sandbox without a GPU;
// trusted code replays and times the plan (docs/backend-torch.md).
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
  std::filesystem::path python;  ///< a program or its path; if empty, $KERNELSMITH_TORCH_PYTHON, else python3
  DeviceRange devices;           ///< GPUs of one kind, by CUDA's numbers; each run has one GPU for itself
  /// Another vendor's GPU as the target of plans, by the name that its compiler uses ("gfx942"). Then nothing
  /// is run. If empty, the target is this machine's GPU.
  std::string arch;
  std::size_t bank_bytes = std::size_t{4} << 30;  ///< device memory for inputs and expected outputs
  bool unsandboxed = false;                       ///< only on explicit request; recorded in the tier
  bool must_measure = false;  ///< without a GPU fail with `unsupported`, instead of only planning
  /// Processes that the evaluators of several tasks share. If null, each evaluator starts its own.
  std::shared_ptr<torch::WorkerSupply> supply;
  /// Called, on any thread, with the reason when the task waits; may be empty.
  std::function<void(const std::string&)> tell;
  /// A stop request ends the preparation of the task with `cancelled`.
  std::stop_token stop = {};
};

/// Makes processes for several evaluators to share, so that they start only once (TorchOptions::supply).
/// Thread-safe.
std::shared_ptr<torch::WorkerSupply> make_torch_worker_supply();

/// Prepares the task: starts the planner, plans the seed, and runs and times the reference on the GPU. Takes
/// some seconds, mostly to load PyTorch. Without a GPU the evaluator only plans, and every candidate that
/// passes that stage ends with `unsupported`. Errors: `tool_missing` (Python, PyTorch, Triton, bubblewrap),
/// `refused` (a reference or seed that fails), `unsupported` for another backend's task.
Result<std::shared_ptr<Evaluator>> make_torch_evaluator(Task task, const TorchOptions& options = {});

/// The backend without queues, for an evaluator of several tasks.
Result<std::shared_ptr<Backend>> make_torch_backend(const std::shared_ptr<const Task>& task,
                                                    const TorchOptions& options = {});

/// Describes a call of the candidate for people. Needs no GPU. For a candidate that cannot be planned it
/// returns an Error (`refused`) with the diagnostics.
Result<std::string> describe_torch_plan(const Task& task, const Source& source,
                                        const TorchOptions& options = {});

/// Runs the candidate in plain PyTorch, like KernelBench's harness, on the first GPU of the options. PyTorch
/// builds its extensions, and its code has this process's rights. Errors: `tool_missing`, `refused` for a
/// reference that fails, `unsupported` without a GPU or for another backend's task, `timeout` after 20
/// minutes, `cancelled`.
Result<PlainVerdict> verify_in_plain_torch(const Task& task, const Source& source,
                                           const TorchOptions& options = {});

/// The name of this machine's GPU in reports; "no GPU" if there is none.
std::string torch_hardware();

/// A GPU's peak rates from its data sheet: memory in GB/s, dense matrix products in Tflop/s.
struct GpuPeaks {
  const char* name;  ///< part of the name that its driver reports
  double memory, fp32, tf32, half;
  int fastest_of = 0;  ///< if it is the fastest GPU of its architecture: 10 * major + minor version; else 0
};
std::span<const GpuPeaks> gpu_peaks();

BackendDescription describe_torch_backend();

}  // namespace kernelsmith
