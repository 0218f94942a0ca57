// What the tests of the cpu backend's parts build and run objects with: a compiler and the settings of
// runners, for a task without files.
#pragma once

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/sandbox/locate.hpp>

#include "runner/runner_process.hpp"
#include "toolchain/compiler.hpp"
#include "verdicts.hpp"

namespace kernelsmith::cpu {

/// "x" in, "y" out, eight floats each; the entry is `twice`.
inline const std::string kTwice =
    "version: 1\nname: twice\nbackend: cpu\nentry: twice\nfiles: {reference: reference.cpp}\nsizes: {n: 8}\n"
    "tensors:\n  - {name: x, role: in, dtype: f32, shape: [n]}\n"
    "  - {name: y, role: out, dtype: f32, shape: [n]}\n";

inline Task task_of(const std::string& yaml) {
  return parse_task(yaml, "task.yaml", [](const std::string&) -> Result<std::string> { return "//\n"; })
      .value();
}

inline Source one_file(const std::string& text) { return Source::create({{"kernel.cpp", text}}).value(); }

/// A kernel for kTwice.
inline std::string twice(const std::string& body) {
  return "#include \"task.hpp\"\n#include <cstdlib>\n"
         "void twice(const float* x, float* y, std::int64_t n) {\n" +
         body + "}\n";
}
inline const std::string kRight = "for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n";

class Workshop {
 public:
  explicit Workshop(Task given) : task(std::make_shared<const Task>(std::move(given))) {
    shapes = shapes_of(*task);
    compiler = CpuCompiler::create(*task, {}).value();
    const auto linked = compiler->link_all_libraries().value();
    settings.files = RunnerFiles::create(locate_program("kernelsmith-runner", "KERNELSMITH_RUNNER").value(),
                                         linked->object())
                         .value();
  }

  CpuBinaryPtr build(const std::string& text, OraclePrecision precision = OraclePrecision::declared,
                     bool generator = false) const {
    return compiler->build({one_file(text), "reference", precision, generator}).value();
  }

  std::shared_ptr<const Task> task;
  std::vector<TaskShape> shapes;
  std::shared_ptr<const CpuCompiler> compiler;
  RunnerSettings settings;
};

}  // namespace kernelsmith::cpu
