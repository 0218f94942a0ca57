#include "signature.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

#include "runner/protocol.hpp"

namespace kernelsmith::cpu {
namespace {

constexpr std::array<std::string_view, 43> kFloatFunctions = {
    "exp",   "exp2",  "expm1", "log",       "log2",  "log10",     "log1p", "sqrt",  "cbrt",
    "pow",   "sin",   "cos",   "tan",       "tanh",  "sinh",      "cosh",  "erf",   "erfc",
    "fabs",  "fmax",  "fmin",  "fma",       "floor", "ceil",      "asin",  "acos",  "atan",
    "atan2", "asinh", "acosh", "atanh",     "fmod",  "remainder", "fdim",  "hypot", "copysign",
    "round", "trunc", "rint",  "nearbyint", "ldexp", "tgamma",    "lgamma"};

/// Items with ", " between them.
class List {
 public:
  void add(const std::string& item) { text_ += (text_.empty() ? "" : ", ") + item; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

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

std::string widening(OraclePrecision precision, const Source& user) {
  const bool long_double = precision == OraclePrecision::long_double;
  std::string text = "#include <cfloat>\n#include <cmath>\n#include <limits>\n" + system_includes(user);
  text += std::string("using kernelsmith_real = ") + (long_double ? "long double" : "double") + ";\n";
  text += "#define float kernelsmith_real\n";
  if (long_double) text += "#define double kernelsmith_real\n";
  for (const std::string_view function : kFloatFunctions) {
    const std::string name(function);
    text += "#define " + name + "f " + name + "\n";
  }
  return text + "#undef FLT_MAX\n#define FLT_MAX std::numeric_limits<kernelsmith_real>::max()\n";
}

std::string declaration(const std::string& function, const std::string& parameters) {
  return "extern \"C\" void " + function + "(" + parameters + ");\n";
}

std::string generator_of(const Task& task) { return task.entry + "_inputs"; }

std::string generator_parameters(const Task& task) {
  List list;
  for (const TensorSpec& tensor : task.tensors)
    if (has_input(tensor))
      list.add((tensor.init == TensorInit::generated ? "" : "const ") + std::string(cpp_type(tensor.dtype)) +
               "* " + tensor.name);
  for (const std::string& size : size_names(task)) list.add("std::int64_t " + size);
  list.add("std::uint64_t seed");
  return list.text();
}

/// The shim for a function of `tensors` tensors, all sizes and further arguments.
std::string shim_calling(const Task& task, const std::string& function, std::size_t tensors,
                         const std::string& more_parameters = "", const std::string& more_arguments = "") {
  List parameters, arguments;
  for (std::size_t t = 0; t < tensors; ++t) {
    parameters.add("void*");
    arguments.add("tensors[" + std::to_string(t) + "]");
  }
  for (std::size_t s = 0; s < size_names(task).size(); ++s) {
    parameters.add("std::int64_t");
    arguments.add("sizes[" + std::to_string(s) + "]");
  }
  return "#include <cstdint>\n" + declaration(function, parameters.text() + more_parameters) +
         "extern \"C\" void " + runner::kShimSymbol +
         "(void* const* tensors, const std::int64_t* sizes) {\n  (void)sizes;\n  " + function + "(" +
         arguments.text() + more_arguments + ");\n}\n";
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
    case Dtype::boolean:
      return "bool";
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::f8e4m3:
    case Dtype::f8e5m2:
      break;
  }
  return {};
}

std::size_t element_bytes(Dtype dtype, OraclePrecision precision) {
  if (precision == OraclePrecision::declared || !traits_of(dtype).real) return traits_of(dtype).bytes;
  return precision == OraclePrecision::f64 ? sizeof(double) : sizeof(long double);
}

std::vector<std::string> size_names(const Task& task) {
  if (!task.size_order.empty()) return task.size_order;
  std::vector<std::string> names;
  for (const auto& size : task.sizes) names.push_back(size.first);
  return names;
}

bool has_input(const TensorSpec& tensor) { return tensor.role != TensorRole::out; }

std::string parameter_list(const Task& task) {
  List list;
  for (const TensorSpec& tensor : task.tensors)
    list.add((tensor.role == TensorRole::in ? "const " : "") + std::string(cpp_type(tensor.dtype)) +
             "* __restrict " + tensor.name);
  for (const std::string& size : size_names(task)) list.add("std::int64_t " + size);
  return list.text();
}

std::string exchanged_parameters(const Task& task, const Source& source, bool generator) {
  ParameterGroups groups = {{}, size_names(task)};
  for (const TensorSpec& tensor : task.tensors)
    if (!generator || has_input(tensor)) groups.front().push_back(tensor.name);
  return kernelsmith::exchanged_parameters(source, generator ? generator_of(task) : task.entry, groups);
}

std::string task_header(const Task& task, OraclePrecision precision, const Source& user) {
  std::string text =
      "// Generated from task.yaml: the entry's signature.\n#pragma once\n\n#include <cstdint>\n";
  if (precision != OraclePrecision::declared) text += widening(precision, user);
  text += "\n" + declaration(task.entry, parameter_list(task));
  if (!task.inputs.empty()) text += declaration(generator_of(task), generator_parameters(task));
  return text;
}

std::string shim_source(const Task& task) { return shim_calling(task, task.entry, task.tensors.size()); }

std::string generator_shim_source(const Task& task) {
  const auto tensors = static_cast<std::size_t>(std::ranges::count_if(task.tensors, has_input));
  return shim_calling(task, generator_of(task), tensors, ", std::uint64_t",
                      ", *static_cast<const std::uint64_t*>(tensors[" + std::to_string(tensors) + "])");
}

}  // namespace kernelsmith::cpu

namespace kernelsmith {

std::string cpu_task_header(const Task& task) { return cpu::task_header(task, OraclePrecision::declared); }

}  // namespace kernelsmith
