// The description of the backend `cpu`.
#include <vector>

#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/task_templates.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "signature.hpp"

namespace kernelsmith {
namespace cpu {
namespace {

/// Time to make sets of a bank. It is short, because a check measures nothing.
constexpr double kBankSeconds = 0.2;

std::vector<Dtype> dtypes_with_a_type() {
  std::vector<Dtype> dtypes;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2,
                            Dtype::i64, Dtype::i32, Dtype::i8, Dtype::u8, Dtype::boolean})
    if (!cpp_type(dtype).empty()) dtypes.push_back(dtype);
  return dtypes;
}

MachineCheck check_compiler(bool sandboxed) {
  const auto compiler = find_tool("g++");
  if (!compiler) return {"compiler", CheckStatus::missing, "no g++ on the PATH", "apt-get install g++", true};
  const auto scratch = ScratchFolder::create();
  if (!scratch) return failed_check("compiler", scratch.error(), kCheckTemporaries);
  const Status written = scratch->write("probe.cpp", "#include <cstdint>\nextern \"C\" void probe() {}\n");
  if (!written) return failed_check("compiler", written.error(), kCheckTemporaries);
  const auto fault = fault_of(
      try_tool({*compiler, "-shared", "-fPIC", "-o", "probe.so", "probe.cpp"}, scratch->path(), sandboxed));
  if (!fault.empty()) {
    const bool full = fault.find("No space left") != fault.npos;
    return {"compiler", CheckStatus::missing, *compiler + " does not compile: " + fault,
            full ? kCheckTemporaries : "apt-get install --reinstall g++", true};
  }
  const auto version = try_tool({*compiler, "--version"}, scratch->path(), sandboxed);
  return {"compiler", CheckStatus::ok, version ? version->out.substr(0, version->out.find('\n')) : *compiler,
          "", true};
}

std::vector<MachineCheck> try_task(const Task& task) {
  CpuOptions options;
  options.bank_seconds = kBankSeconds;
  const auto evaluator = make_cpu_evaluator(task, options);
  return {task_check(task, evaluator ? Status{} : Status(evaluator.error()))};
}

}  // namespace
}  // namespace cpu

BackendDescription describe_cpu_backend() {
  BackendDescription description;
  description.name = "cpu";
  description.summary = "a C++ kernel, compiled, checked and timed";
  description.template_files = cpu::task_template();
  description.language = "C++";
  description.suffix = ".cpp";
  description.form = TaskForm::kernel;
  description.shared_device = true;
  description.dtypes = cpu::dtypes_with_a_type();
  description.interface_files = [](const Task& task) {
    return std::vector<SourceFile>{{"task.hpp", cpu_task_header(task)}};
  };
  description.hardware = cpu_hardware;
  description.examine_machine = [](bool sandboxed) { return std::vector{cpu::check_compiler(sandboxed)}; };
  description.examine_task = cpu::try_task;
  description.examine_precision = [](const Task& task) {
    return precision_checks(check_cpu_precision(task));
  };
  return description;
}

}  // namespace kernelsmith
