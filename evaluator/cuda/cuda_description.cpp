// The descriptions of the backend `cuda` and of other vendors' backends.
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/call_limit.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/task_templates.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "backend_of_vendor.hpp"
#include "device/device.hpp"
#include "device/driver.hpp"
#include "inspector/tool.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith {
namespace cuda {
namespace {

/// A short time is enough, because a check measures nothing.
constexpr double kBankSeconds = 0.2;

/// A failed check that is not required, because searches for CPU kernels need no GPU.
MachineCheck optional_check(std::string name, const Error& error) {
  return {std::move(name), CheckStatus::limited, error.message, error.hint, false};
}

MachineCheck check_toolkit(const GpuVendor& vendor) {
  const auto toolkit = vendor.toolchain.find({});
  const char* const program = vendor.toolchain.program;
  if (!toolkit) return optional_check(program, toolkit.error());
  return {program, CheckStatus::ok,
          std::string(vendor.api) + " " + toolkit->version + " in " + toolkit->root.string(), "", false};
}

std::string needs_gpu(const GpuVendor& vendor) {
  return std::string(vendor.api) +
         " kernels are compiled and planned here, and need a machine with a GPU of " + vendor.maker +
         " to be timed";
}

std::vector<MachineCheck> check_gpus(const GpuVendor& vendor, const std::string& what) {
  std::string why;
  const int count = Device::count(vendor, &why);
  if (count == 0) return {{what, CheckStatus::limited, "no GPU: " + why, needs_gpu(vendor), false}};
  std::vector<MachineCheck> checks;
  for (int i = 0; i < count; ++i) {
    const auto device = Device::open(vendor, i);
    const std::string name = what + " " + std::to_string(i);
    checks.push_back(device ? MachineCheck{name, CheckStatus::ok, (*device)->hardware(), "", false}
                            : optional_check(name, device.error()));
  }
  return checks;
}

/// Runs the tool once.
MachineCheck check_tool(const std::string& name, const std::string& purpose) {
  const auto toolkit = find_toolkit();
  const auto program = find_cuda_tool(name, toolkit ? toolkit->root : std::filesystem::path());
  if (!program)
    return {
        name, CheckStatus::limited, "not here: " + purpose, "install it with NVIDIA's CUDA toolkit", false,
        true};
  const auto scratch = ScratchFolder::create();
  if (!scratch) return optional_check(name, scratch.error());
  const std::string fault = fault_of(try_tool({program->string(), "--version"}, scratch->path(), false));
  if (!fault.empty()) return {name, CheckStatus::limited, fault, "install it again", false, true};
  return {name, CheckStatus::ok, program->string(), "", false};
}

std::vector<MachineCheck> examine_cuda(bool) {
  std::vector<MachineCheck> checks = {
      check_toolkit(nvidia()),
      check_tool("compute-sanitizer", "races and bad accesses that give right outputs are not found"),
      check_tool("ncu", "prompts do not say what bounds a kernel")};
  for (MachineCheck& check : check_gpus(nvidia(), "gpu")) checks.push_back(std::move(check));
  return checks;
}

MachineCheck check_driver(const GpuVendor& vendor, const Result<const Driver*>& driver) {
  const std::string name = std::string(vendor.backend) + " driver";
  if (!driver) return optional_check(name, driver.error());
  return {name, CheckStatus::ok,
          vendor.driver.version_text((*driver)->version) + " in " + vendor.driver.library, "", false};
}

/// If the driver's library is missing, Linux's device file shows whether there is a GPU.
std::vector<MachineCheck> check_gpus_behind(const GpuVendor& vendor, bool has_driver, bool has_node) {
  const std::string name = std::string(vendor.backend) + " gpu";
  if (has_driver) return check_gpus(vendor, name);
  if (has_node)
    return {{name, CheckStatus::limited,
             std::string("there is ") + vendor.device.node + ", but no driver to use it",
             vendor.driver.how_to_get_it, false}};
  return {{name, CheckStatus::limited, std::string("no GPU: there is no ") + vendor.device.node,
           needs_gpu(vendor), false}};
}

/// Checks compiler, driver and GPUs; returns a single line if the machine has nothing from the vendor.
std::vector<MachineCheck> examine(const GpuVendor& vendor) {
  const auto driver = Driver::get(vendor);
  std::error_code ignored;
  const bool has_node = std::filesystem::exists(vendor.device.node, ignored);
  std::vector<MachineCheck> checks = {check_toolkit(vendor)};
  if (checks.front().status != CheckStatus::ok && !driver && !has_node)
    return {{vendor.backend, CheckStatus::limited,
             std::string("no ") + vendor.api + " compiler (" + vendor.toolchain.program +
                 "), usable driver (" + vendor.driver.library + ") or GPU (" + vendor.device.node +
                 ") is here",
             "for tasks of " + std::string(vendor.backend) + ": " + checks.front().remedy, false}};
  checks.push_back(check_driver(vendor, driver));
  for (MachineCheck& check : check_gpus_behind(vendor, static_cast<bool>(driver), has_node))
    checks.push_back(std::move(check));
  return checks;
}

std::vector<MachineCheck> try_task(const Task& task, const GpuVendor& vendor) {
  CudaOptions options = usual_options(vendor);
  options.bank_seconds = kBankSeconds;
  const auto evaluator = make_cuda_evaluator(task, options);
  if (evaluator && Device::count(vendor) == 0) return {without_gpu(vendor.maker)};
  return {task_check(task, evaluator ? Status{} : Status(evaluator.error()))};
}

std::string hardware_of(const GpuVendor& vendor) {
  if (Device::count(vendor) == 0) return std::string(kNoGpu);
  const auto device = Device::open(vendor, 0);
  return device ? (*device)->hardware() : std::string(kNoGpu);
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

/// The task that `init` makes: CUDA C++ with the vendor's names of runtime functions.
std::vector<SourceFile> template_of(const GpuVendor& vendor) {
  const std::string backend = vendor.backend;
  std::vector<SourceFile> files = task_template();
  for (SourceFile& file : files) {
    file.text = replaced(file.text, "backend: cuda", "backend: " + backend);
    file.text = replaced(file.text, "backend-cuda.md", "backend-" + backend + ".md");
    file.text = replaced(file.text, "CUDA", vendor.api);
    file.text = replaced(file.text, "cudaStream_t", vendor.toolchain.dialect.stream);
  }
  return files;
}

PromptFacts facts_of(const GpuVendor& vendor) {
  return {{{"api", vendor.api},
           {"maker", vendor.maker},
           {"runtime", std::string(vendor.names.prefix)},
           {"libraries", vendor.libraries},
           {"differences", vendor.differences}},
          {}};
}

}  // namespace

BackendDescription describe_backend(const GpuVendor& vendor) {
  BackendDescription description;
  description.name = vendor.backend;
  description.summary =
      "a " + std::string(vendor.language) + " kernel with its launches, planned, replayed and timed on a GPU";
  description.language = vendor.language;
  description.suffix = ".cu";
  description.form = TaskForm::kernel;
  description.timeout_s = kGpuTimeoutS;
  description.dtypes = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16};
  if (*vendor.toolchain.dialect.e4m3 != '\0')
    description.dtypes.insert(description.dtypes.end(), {Dtype::f8e4m3, Dtype::f8e5m2});
  description.dtypes.insert(description.dtypes.end(),
                            {Dtype::i64, Dtype::i32, Dtype::i8, Dtype::u8, Dtype::boolean});
  description.behaviour = vendor.device.behaviour();
  description.template_files = template_of(vendor);
  description.interface_files = [](const Task& task) {
    return std::vector<SourceFile>{{"task.cuh", cuda_task_header(task)}};
  };
  description.prompt_facts = [&vendor](const Task&) { return facts_of(vendor); };
  description.hardware = [&vendor] { return hardware_of(vendor); };
  description.examine_machine = [&vendor](bool) { return examine(vendor); };
  description.examine_task = [&vendor](const Task& task) { return try_task(task, vendor); };
  description.examine_precision = [&vendor](const Task& task) {
    return precision_checks(check_cuda_precision(task, usual_options(vendor)));
  };
  return description;
}

CudaOptions usual_options(const GpuVendor& vendor) {
  CudaOptions options;
  options.vendor = &vendor;
  options.flags = vendor.toolchain.usual_flags();
  options.inspect = vendor.inspected;
  return options;
}

}  // namespace cuda

std::string cuda_hardware() { return cuda::hardware_of(cuda::nvidia()); }

BackendDescription describe_cuda_backend() {
  BackendDescription description = cuda::describe_backend(cuda::nvidia());
  description.examine_machine = cuda::examine_cuda;
  return description;
}

}  // namespace kernelsmith
