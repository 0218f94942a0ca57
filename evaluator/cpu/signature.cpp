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

std::vector<std::string> generator_parameters(const Task& task) {
  std::vector<std::string> parameters;
  for (const TensorSpec& tensor : task.tensors)
    if (has_input(tensor))
      parameters.push_back((tensor.init == TensorInit::generated ? "" : "const ") +
                           std::string(cpp_type(tensor.dtype)) + "* " + tensor.name);
  for (const std::string& size : size_names(task)) parameters.push_back("std::int64_t " + size);
  parameters.emplace_back("std::uint64_t seed");
  return parameters;
}

}  // namespace

std::string parameter_list(const Task& task) {
  return listed(entry_parameters(task, cpp_type, "__restrict"));
}

std::string task_header(const Task& task, OraclePrecision precision, const Source& user) {
  std::string text =
      "// Generated from task.yaml: the entry's signature.\n#pragma once\n\n#include <cstdint>\n";
  if (precision != OraclePrecision::declared) text += widening(precision, user);
  text += "\n" + declaration(task.entry, entry_parameters(task, cpp_type, "__restrict"));
  if (!task.inputs.empty()) text += declaration(generator_of(task), generator_parameters(task));
  return text;
}

std::string shim_source(const Task& task) {
  return "#include <cstdint>\n" + shim_text(task, {runner::kShimSymbol, task.entry, task.tensors.size()});
}

std::string generator_shim_source(const Task& task) {
  const auto tensors = static_cast<std::size_t>(std::ranges::count_if(task.tensors, has_input));
  const std::string seed = "*static_cast<const std::uint64_t*>(tensors[" + std::to_string(tensors) + "])";
  return "#include <cstdint>\n" +
         shim_text(task, {runner::kShimSymbol, generator_of(task), tensors, {"std::uint64_t"}, {seed}});
}

}  // namespace kernelsmith::cpu

namespace kernelsmith {

std::string cpu_task_header(const Task& task) { return cpu::task_header(task, OraclePrecision::declared); }

}  // namespace kernelsmith
