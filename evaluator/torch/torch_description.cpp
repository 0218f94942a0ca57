// The description of the backend `torch`.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/evaluator/call_limit.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "extension/extension_compiler.hpp"
#include "python_program.hpp"
#include "wire.hpp"

namespace kernelsmith {
namespace torch {
namespace {

constexpr double kQuickS = 30;
constexpr const char* kNeeds =
    "name a Python that has both: evaluator.python, or KERNELSMITH_TORCH_PYTHON (pip install torch triton)";

/// PyTorch itself is not imported, because that takes seconds. The driver lists the GPUs.
constexpr const char* kLookScript = R"(
import ctypes, importlib.metadata, json, platform
def version(package):
    try: return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError: return ""
def gpus():
    try: cuda = ctypes.CDLL("libcuda.so.1")
    except OSError: return []
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)): return []
    names = []
    for device in range(count.value):
        name = ctypes.create_string_buffer(256)
        cuda.cuDeviceGetName(name, 256, device)
        names.append(name.value.decode(errors="replace"))
    return names
print(json.dumps({"python": platform.python_version(), "torch": version("torch"), "triton": version("triton"),
                  "gpus": gpus()}))
)";

/// The Python's packages; never null. Errors: tool_missing.
Result<std::shared_ptr<const Json>> look() {
  const auto python = find_python({});
  if (!python) return python.error();
  SandboxSpec spec = trusted_program(*python, "");
  spec.argv = {python->program.string(), "-c", kLookScript};
  spec.limits.wall_s = kQuickS;
  const auto ran = run_sandboxed(spec);
  if (const std::string fault = fault_of(ran); !fault.empty())
    return fail(ErrorCode::tool_missing, "Python does not run: " + fault, python->program.string(), kNeeds);
  auto found = std::make_shared<const Json>(Json::parse(ran->out, nullptr, false));
  if (!found->is_object())
    return fail(ErrorCode::tool_missing, "Python gives no answer", python->program.string(), kNeeds);
  return found;
}

/// A package is not required, because other backends do not need it.
MachineCheck check_of_package(const Json& found, const char* package) {
  const std::string version = text_at(found, package);
  if (!version.empty()) return {package, CheckStatus::ok, version, "", false};
  return {package, CheckStatus::limited, "Python " + text_at(found, "python") + " has no " + package, kNeeds,
          false};
}

MachineCheck check_of_extensions() {
  const auto python = find_python({});
  if (!python) return {"torch extensions", CheckStatus::limited, python.error().message, kNeeds, false};
  const auto compiler = make_library_compiler(python->extensions, false);
  if (compiler) return {"torch extensions", CheckStatus::ok, (*compiler)->description(), "", false};
  return {"torch extensions",
          CheckStatus::limited,
          "C++ extensions of candidates cannot be built: " + compiler.error().message,
          compiler.error().hint,
          false,
          true};
}

std::vector<MachineCheck> examine_torch(bool) {
  const auto found = look();
  if (!found) return {{"torch", CheckStatus::limited, found.error().message, found.error().hint, false}};
  std::vector<MachineCheck> checks = {check_of_package(**found, "torch"), check_of_package(**found, "triton"),
                                      check_of_extensions()};
  const bool plans = !text_at(**found, "torch").empty() && !text_at(**found, "triton").empty();
  if (plans && member(**found, "gpus").empty())
    checks.push_back({"torch gpu", CheckStatus::limited, "CUDA shows no GPU",
                      "modules are planned here, and need a machine with an NVIDIA GPU to be timed", false});
  return checks;
}

/// "decode: batch = 1; prefill: batch = 512, with weight 2". A name with " = " says its arguments itself, as
/// arenas' do.
std::string text_of(const std::vector<TorchWorkload>& workloads, bool check) {
  std::string text;
  for (const TorchWorkload& one : workloads) {
    if (one.check != check) continue;
    text += (text.empty() ? "" : "; ") + one.name;
    if (one.name.find(" = ") == std::string::npos) {
      const Json arguments = Json::parse(one.arguments);
      const char* before = ": ";
      for (const auto& [name, value] : arguments.items())
        text += std::exchange(before, ", ") + name + " = " + value.dump();
    }
    if (one.weight != 1) text += ", with weight " + number_text(one.weight);
  }
  return text;
}

PromptFacts prompt_facts(const Task& task) {
  const TorchSettings torch = torch_settings(task).value();
  return {.texts = {{"torch_precision", torch.precision},
                    {"timed", text_of(torch.workloads, false)},
                    {"check", text_of(torch.workloads, true)}},
          .conditions = {{"strict_fp32", torch.precision == "fp32"},
                         {"short_types", torch.precision != "fp32"},
                         {"own_kernels", torch.policy == "own_kernels"}}};
}

std::vector<MachineCheck> try_task(const Task& task) {
  const auto backend = make_torch_backend(std::make_shared<const Task>(task));
  if (!backend) return {task_check(task, backend.error())};
  if (torch_hardware() == kNoGpu) return {without_gpu()};
  std::vector<MachineCheck> checks = {task_check(task, {})};
  if (const std::string needs = (*backend)->needs(); !needs.empty()) checks.front().detail += "; " + needs;
  for (const std::string& output : (*backend)->degenerate()) checks.push_back(degenerate_check(output, ""));
  return checks;
}

/// The levels of the preset `behaviour`. Memory: none shared, within 16 KiB, the limit without opt-in, more.
/// Parallelism: how many threads a multiprocessor of 65,536 registers holds. Fusion: launches of a call.
std::vector<BehaviourLevels> behaviour() {
  constexpr double kSmall = 16385, kWithoutAsking = 49153, kMost = 233472;
  return {{"shared_bytes", {0, 1, kSmall, kWithoutAsking, kMost}},
          {"registers", {0, 33, 65, 129, 256}},
          {"own_kernels", {0, 2, 3, 5, 9}}};
}

}  // namespace
}  // namespace torch

std::string torch_hardware() {
  const auto found = torch::look();
  if (!found) return std::string(kNoGpu);
  const torch::Json& gpus = torch::member(**found, "gpus");
  return gpus.empty() || !gpus.front().is_string() ? std::string(kNoGpu) : gpus.front().get<std::string>();
}

BackendDescription describe_torch_backend() {
  BackendDescription description;
  description.name = "torch";
  description.summary = "a PyTorch module with Triton or CUDA kernels, planned, replayed and timed on a GPU";
  description.language = "Python (PyTorch)";
  description.suffix = ".py";
  description.form = TaskForm::module;
  description.timeout_s = kGpuTimeoutS;
  description.settings = torch_task_settings();
  description.behaviour = torch::behaviour();
  description.prompt_facts = torch::prompt_facts;
  description.hardware = torch_hardware;
  description.examine_machine = torch::examine_torch;
  description.examine_task = torch::try_task;
  return description;
}

}  // namespace kernelsmith
