// What others have to know about the backend `cuda`.
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/call_limit.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/sandbox/files.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "device/device.hpp"
#include "inspector/tool.hpp"
#include "task_template.hpp"
#include "toolchain/toolkit.hpp"

namespace kernelsmith {
namespace cuda {
namespace {

/// Enough to see that all passes: nothing is measured.
constexpr double kBankSeconds = 0.2;

/// Nothing here is required: kernels for the CPU can be searched for without it.
MachineCheck optional_check(std::string name, const Error& error) {
  return {std::move(name), CheckStatus::limited, error.message, error.hint, false};
}

MachineCheck check_toolkit() {
  const auto toolkit = find_toolkit();
  if (!toolkit) return optional_check("nvcc", toolkit.error());
  return {"nvcc", CheckStatus::ok, "CUDA " + toolkit->version + " in " + toolkit->root.string(), "", false};
}

std::vector<MachineCheck> check_gpus() {
  std::string why;
  const int count = Device::count(&why);
  if (count == 0)
    return {{"gpu", CheckStatus::limited, "no GPU: " + why,
             "CUDA kernels are compiled and planned here, and need a machine with an NVIDIA GPU to be timed",
             false}};
  std::vector<MachineCheck> checks;
  for (int i = 0; i < count; ++i) {
    const auto device = Device::open(i);
    checks.push_back(
        device ? MachineCheck{"gpu " + std::to_string(i), CheckStatus::ok, (*device)->hardware(), "", false}
               : optional_check("gpu " + std::to_string(i), device.error()));
  }
  return checks;
}

/// Runs the tool once.
MachineCheck check_tool(const std::string& name, const std::string& purpose) {
  const auto toolkit = find_toolkit();
  const auto program = find_cuda_tool(name, toolkit ? toolkit->root : std::filesystem::path());
  if (!program)
    return {name, CheckStatus::limited, "not here: " + purpose, "install it with NVIDIA's CUDA toolkit",
            false};
  const auto scratch = ScratchFolder::create();
  if (!scratch) return optional_check(name, scratch.error());
  const std::string fault = fault_of(try_tool({program->string(), "--version"}, scratch->path(), false));
  if (!fault.empty()) return {name, CheckStatus::limited, fault, "install it again", false};
  return {name, CheckStatus::ok, program->string(), "", false};
}

std::vector<MachineCheck> examine_cuda(bool) {
  std::vector<MachineCheck> checks = {
      check_toolkit(),
      check_tool("compute-sanitizer", "races and bad accesses that give right outputs are not found"),
      check_tool("ncu", "prompts do not say what bounds a kernel")};
  for (MachineCheck& check : check_gpus()) checks.push_back(std::move(check));
  return checks;
}

std::vector<MachineCheck> try_task(const Task& task) {
  CudaOptions options;
  options.bank_seconds = kBankSeconds;
  const auto evaluator = make_cuda_evaluator(task, options);
  if (evaluator && Device::count(nullptr) == 0) return {without_gpu()};
  return {task_check(task, evaluator ? Status{} : Status(evaluator.error()))};
}

/// Memory: none shared, within 16 KiB, what a block has without asking, more. Parallelism: how many threads
/// a multiprocessor of 65,536 registers holds. Compute: without tensor cores, or with them.
std::vector<BehaviourLevels> behaviour() {
  constexpr double kSmall = 16385, kWithoutAsking = 49153, kMost = 233472;
  return {{"shared_bytes", {0, 1, kSmall, kWithoutAsking, kMost}},
          {"registers", {0, 33, 65, 129, 256}},
          {"tensor_cores", {0, 1, 2}}};
}

}  // namespace
}  // namespace cuda

std::string cuda_hardware() {
  if (cuda::Device::count() == 0) return std::string(kNoGpu);
  const auto device = cuda::Device::open(0);
  return device ? (*device)->hardware() : std::string(kNoGpu);
}

BackendDescription describe_cuda_backend() {
  BackendDescription description;
  description.name = "cuda";
  description.summary = "a CUDA C++ kernel with its launches, planned, replayed and timed on a GPU";
  description.template_files = cuda::task_template();
  description.language = "CUDA C++";
  description.suffix = ".cu";
  description.form = TaskForm::kernel;
  description.timeout_s = kGpuTimeoutS;
  description.dtypes = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2,
                        Dtype::i64, Dtype::i32, Dtype::i8,  Dtype::u8,   Dtype::boolean};
  description.behaviour = cuda::behaviour();
  description.interface_files = [](const Task& task) {
    return std::vector<SourceFile>{{"task.cuh", cuda_task_header(task)}};
  };
  description.hardware = cuda_hardware;
  description.examine_machine = cuda::examine_cuda;
  description.examine_task = cuda::try_task;
  description.examine_precision = [](const Task& task) {
    return precision_checks(check_cuda_precision(task));
  };
  return description;
}

}  // namespace kernelsmith
