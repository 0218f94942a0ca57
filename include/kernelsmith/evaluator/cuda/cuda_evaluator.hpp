// The `cuda` backend: CUDA C++ kernels with their own launches, planned in a sandbox without a GPU, replayed
// and timed by trusted code (docs/backend-cuda.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/devices.hpp>
#include <kernelsmith/evaluator/gpu_profile.hpp>
#include <kernelsmith/evaluator/precision.hpp>

namespace kernelsmith {

namespace cuda {
struct GpuVendor;
}

/// Settings of the backend `cuda` and of those for other vendors.
struct CudaOptions {
  const cuda::GpuVendor* vendor = nullptr;  ///< the GPUs' vendor; null: NVIDIA
  std::filesystem::path toolkit;            ///< empty: $CUDA_HOME, nvcc on the PATH, /usr/local/cuda
  std::string arch;                         ///< such as "sm_90a"; empty: the device's, or sm_90a without one
  std::vector<std::string> flags = {"-O3", "-std=c++17",
                                    "--expt-relaxed-constexpr"};  ///< flags of nvcc; Task::flags follow them
  DeviceRange devices;       ///< GPUs of one kind, by CUDA's numbers: each run has one for itself
  bool unsandboxed = false;  ///< only on explicit request; recorded in the tier
  std::size_t bank_bytes = std::size_t{2} << 30;    ///< host memory for inputs and expected outputs
  std::size_t buffer_bytes = std::size_t{8} << 30;  ///< device memory for the tensors of a batch
  double bank_seconds = 2;                          ///< as in BankLimits
  bool inspect = true;  ///< run possible bests under compute-sanitizer and ncu, if installed
  /// Called when the task waits, with the reason. Called on any thread; may be empty.
  std::function<void(const std::string&)> tell = {};
  /// A stop request ends the preparation of the task with `cancelled`.
  std::stop_token stop = {};
};

/// Prepares the task: compiles and plans its kernels, makes the secret bank of inputs with expected outputs,
/// and times the baseline. Takes seconds. Without a GPU it only compiles and plans: every candidate that
/// passes these stages ends with `unsupported`. Errors: `tool_missing` (nvcc, bubblewrap, our programs),
/// `refused` (a reference that does not compile, a baseline or seed that fails), `unsupported` for another
/// backend's task.
Result<std::shared_ptr<Evaluator>> make_cuda_evaluator(Task task, const CudaOptions& options = {});

/// The backend without queues, for an evaluator of several tasks.
Result<std::shared_ptr<Backend>> make_cuda_backend(std::shared_ptr<const Task> task,
                                                   const CudaOptions& options = {});

/// Finds what a candidate could leave out unnoticed: see check_precision(). Needs a GPU.
Result<std::vector<PrecisionCheck>> check_cuda_precision(const Task& task, const CudaOptions& options = {});

/// The plan of a candidate at the first timed shape, as text for a person. Needs no GPU: addresses are made
/// up. A candidate that cannot be compiled or planned is an Error (refused) with its diagnostics.
Result<std::string> describe_cuda_plan(const Task& task, const Source& source,
                                       const CudaOptions& options = {});

/// The candidate's launches at the first timed shape, and how each fits on the GPU or on the planned target;
/// on a machine with a GPU and ncu also what limits its speed. Errors: those of describe_cuda_plan.
Result<GpuProfile> profile_cuda(const Task& task, const Source& source, CudaOptions options = {});

/// The generated header `task.cuh` with the entry's signature. Candidate, reference and baseline include it.
std::string cuda_task_header(const Task& task);

/// The name of this machine's GPU in reports; "no GPU" if there is none.
std::string cuda_hardware();

BackendDescription describe_cuda_backend();

}  // namespace kernelsmith
