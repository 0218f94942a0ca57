#include "signature.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

#include "protocol.hpp"

namespace kernelsmith {
namespace {

constexpr std::array<std::string_view, 24> kFloatFunctions = {
    "exp", "exp2", "expm1", "log",  "log2", "log10", "log1p", "sqrt", "cbrt", "pow", "sin",   "cos",
    "tan", "tanh", "sinh",  "cosh", "erf",  "erfc",  "fabs",  "fmax", "fmin", "fma", "floor", "ceil"};

}  // namespace

std::string parameter_list(const Task& task) {
  std::string list;
  const auto add = [&](const std::string& parameter) { list += (list.empty() ? "" : ", ") + parameter; };
  for (const TensorSpec& tensor : task.tensors) {
    const std::string type(cpp_type(tensor.dtype));
    add((tensor.role == TensorRole::in ? "const " : "") + type + "* __restrict " + tensor.name);
  }
  for (const auto& size : task.sizes) add("std::int64_t " + size.first);
  return list;
}

namespace {

/// The `#include <...>` lines of a source.
std::string system_includes(const Source& source) {
  std::string includes;
  for (const SourceFile& file : source.files()) {
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) {
      const auto hash = line.find_first_not_of(" \t");
      const auto open = line.find('<');
      if (hash != line.npos && line[hash] == '#' && line.find("include") < open && open != line.npos)
        includes += line + "\n";
    }
  }
  return includes;
}

std::string promotion(const Task& task, const Source& user) {
  const std::string type(truth_type(task));
  std::string text = "#include <cfloat>\n#include <cmath>\n#include <limits>\n" + system_includes(user);
  text += "using kernelsmith_real = " + type + ";\n#define float kernelsmith_real\n";
  if (type == "long double") text += "#define double kernelsmith_real\n";
  for (const std::string_view function : kFloatFunctions) {
    const std::string name(function);
    text += "#define " + name + "f " + name + "\n";
  }
  return text + "#undef FLT_MAX\n#define FLT_MAX std::numeric_limits<kernelsmith_real>::max()\n";
}

}  // namespace

std::string_view cpp_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "double";
    case Dtype::f32:
      return "float";
    case Dtype::i64:
      return "std::int64_t";
    case Dtype::i32:
      return "std::int32_t";
    case Dtype::i8:
      return "std::int8_t";
    case Dtype::u8:
      return "std::uint8_t";
    case Dtype::f16:
    case Dtype::bf16:
      break;
  }
  return {};
}

std::string_view truth_type(const Task& task) {
  const auto wide = [](const TensorSpec& tensor) { return tensor.dtype == Dtype::f64; };
  return std::ranges::any_of(task.tensors, wide) ? "long double" : "double";
}

bool is_real(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

std::size_t promoted_bytes(const Task& task, Dtype dtype) {
  if (!is_real(dtype)) return bytes_of(dtype);
  return truth_type(task) == "double" ? sizeof(double) : sizeof(long double);
}

std::string task_header(const Task& task, Precision precision, const Source& user) {
  std::string text =
      "// Generated from task.yaml: the entry's signature.\n#pragma once\n\n#include <cstdint>\n";
  if (precision == Precision::promoted) text += promotion(task, user);
  return text + "\nextern \"C\" void " + task.entry + "(" + parameter_list(task) + ");\n";
}

std::string shim_source(const Task& task) {
  std::string parameters, arguments;
  const auto add = [&](const std::string& parameter, const std::string& argument) {
    const std::string comma = parameters.empty() ? "" : ", ";
    parameters += comma + parameter;
    arguments += comma + argument;
  };
  for (std::size_t t = 0; t < task.tensors.size(); ++t) add("void*", "tensors[" + std::to_string(t) + "]");
  for (std::size_t s = 0; s < task.sizes.size(); ++s) add("std::int64_t", "sizes[" + std::to_string(s) + "]");
  return "#include <cstdint>\nextern \"C\" void " + task.entry + "(" + parameters + ");\nextern \"C\" void " +
         std::string(runner::kShimSymbol) +
         "(void* const* tensors, const std::int64_t* sizes) {\n  (void)sizes;\n  " + task.entry + "(" +
         arguments + ");\n}\n";
}

std::string cpu_task_header(const Task& task) { return task_header(task, Precision::declared); }

}  // namespace kernelsmith
