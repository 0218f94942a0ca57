#include "toolchain/cuda_source.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

#include "planner/protocol.hpp"
#include "planner/refusals.hpp"
#include "toolchain/wide_reals.hpp"

namespace kernelsmith::cuda {
namespace {

/// The header that declares device_type(dtype); empty if the compiler includes it by itself.
std::string_view header_of(Dtype dtype, const Dialect& dialect) {
  switch (dtype) {
    case Dtype::f16:
      return dialect.half_header;
    case Dtype::bf16:
      return dialect.bfloat_header;
    case Dtype::f8e4m3:
    case Dtype::f8e5m2:
      return dialect.fp8_header;
    default:
      return {};
  }
}

std::string type_includes(const Task& task, const Dialect& dialect) {
  std::set<std::string_view> headers;
  for (const TensorSpec& tensor : task.tensors)
    if (const auto header = header_of(tensor.dtype, dialect); !header.empty()) headers.insert(header);
  std::string text;
  for (const std::string_view header : headers) text += "#include <" + std::string(header) + ">\n";
  return text;
}

/// The line's header if it is an #include of a header that is not one of the candidate's or task's own.
std::string_view foreign_include(std::string_view line, const Task& task, const Source& user) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == line.npos || line[begin] != '#') return {};
  const auto word = line.find_first_not_of(" \t", begin + 1);
  if (word == line.npos || !line.substr(word).starts_with("include")) return {};
  const auto open = line.find_first_of("<\"", word);
  if (open == line.npos) return {};
  const auto close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == line.npos) return {};
  const std::string_view name = line.substr(open + 1, close - open - 1);
  if (line[open] == '<') return name;
  const bool own = name == "task.cuh" || user.find(name) != nullptr ||
                   std::ranges::find(task.files, name, &SourceFile::path) != task.files.end();
  return own ? std::string_view() : name;
}

/// All foreign headers that the sources include. They are included first, before a macro can change their
/// meaning.
std::string foreign_includes(const Task& task, const Source& user) {
  std::string includes;
  std::vector<SourceFile> files = user.files();
  files.insert(files.end(), task.files.begin(), task.files.end());
  for (const SourceFile& file : files) {
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);)
      if (const auto name = foreign_include(line, task, user); !name.empty())
        includes += "#include <" + std::string(name) + ">\n";
  }
  return includes;
}

std::string entry_declaration(const Task& task, const Dialect& dialect) {
  auto parameters = entry_parameters(
      task, [&](Dtype dtype) { return device_type(dtype, dialect); }, "__restrict__");
  parameters.push_back(std::string(dialect.stream) + " stream");
  return declaration(task.entry, parameters);
}

}  // namespace

std::string_view device_type(Dtype dtype, const Dialect& dialect) {
  switch (dtype) {
    case Dtype::f16:
      return dialect.half;
    case Dtype::bf16:
      return dialect.bfloat;
    case Dtype::f8e4m3:
      return dialect.e4m3;
    case Dtype::f8e5m2:
      return dialect.e5m2;
    default:
      return cpp_type(dtype);
  }
}

std::size_t element_bytes(Dtype dtype, OraclePrecision precision) {
  const bool wide = precision != OraclePrecision::declared;
  return kernelsmith::element_bytes(dtype, wide ? OraclePrecision::f64 : precision);
}

std::string task_header(const Task& task, const Dialect& dialect, OraclePrecision precision,
                        const Source& user) {
  std::string text =
      "// Generated from task.yaml: the entry's signature.\n#pragma once\n\n"
      "#include <cstdint>\n#include <" +
      std::string(dialect.runtime_header) + ">\n" + type_includes(task, dialect);
  if (precision != OraclePrecision::declared) text += foreign_includes(task, user) + wide_reals(dialect);
  return text + "\n" + entry_declaration(task, dialect);
}

std::string shim_source(const Task& task, const GpuVendor& vendor) {
  const Dialect& dialect = vendor.toolchain.dialect;
  const std::string stream = dialect.stream;
  return dialect.shim_prologue + std::string() +
         "#include <cstddef>\n#include <cstdint>\n#include <cstring>\n#include <" +
         std::string(dialect.api_header) + ">\n" +
         planner::in_runtime_names(dialect.device_properties, vendor.names) + "\n" +
         shim_text(task, {planner::kShimSymbol,
                          task.entry,
                          task.tensors.size(),
                          {stream},
                          {"static_cast<" + stream + ">(stream)"},
                          ", void* stream"});
}

}  // namespace kernelsmith::cuda
