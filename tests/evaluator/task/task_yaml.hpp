// A task.yaml of a row-wise softmax, and changes to it.
#pragma once

#include <kernelsmith/evaluator/task_file.hpp>

#include "testing.hpp"

namespace kernelsmith {

inline const std::string kSoftmax = R"(version: 1
name: softmax_cpu
backend: cpu
entry: softmax
files: {reference: reference.cpp, seed: seed.cpp}
sizes: {rows: 64, cols: 32}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [rows, cols], init: normal}
  - {name: y, role: out, dtype: f32, shape: [rows, cols]}
timed: [{}, {rows: 10}]
check: [{rows: 3, cols: 1}]
tolerance: {policy: auto, allow: [reassociate]}
declared: {bytes: "8*rows*cols", operations: "5*rows*cols"}
flags: [-ffast-math]
timeout_s: 2.5
)";

/// Two backends: one takes kernels of some dtypes, the other runs a command.
inline const Backends& backends() {
  static const Backends known = [] {
    BackendDescription cpu;
    cpu.name = "cpu";
    cpu.form = TaskForm::kernel;
    cpu.dtypes = {Dtype::f64, Dtype::f32, Dtype::i64, Dtype::i32, Dtype::i8, Dtype::u8};
    BackendDescription command;
    command.name = "command";
    return Backends{{"cpu", cpu}, {"command", command}};
  }();
  return known;
}

inline Result<std::string> serve(const std::string& path) {
  const std::map<std::string, std::string> files = {
      {"reference.cpp", "reference text"}, {"seed.cpp", "seed text"}, {"inputs.cpp", "generator text"}};
  const auto found = files.find(path);
  if (found == files.end()) return fail(ErrorCode::not_found, "the file '" + path + "' does not exist");
  return found->second;
}

inline Result<Task> parse(const std::string& yaml) {
  return parse_task(yaml, "task.yaml", serve, backends());
}

/// kSoftmax with one passage replaced.
inline std::string with(const std::string& from, const std::string& to) {
  std::string yaml = kSoftmax;
  const auto at = yaml.find(from);
  EXPECT_NE(at, yaml.npos) << from;
  return yaml.replace(at, from.size(), to);
}

inline std::string error_of(const std::string& yaml) {
  const auto task = parse(yaml);
  EXPECT_FALSE(task) << yaml;
  return task ? "" : describe(task.error());
}

/// The task, which must be good.
inline Task good(const std::string& yaml) { return parse(yaml).value(); }

}  // namespace kernelsmith
