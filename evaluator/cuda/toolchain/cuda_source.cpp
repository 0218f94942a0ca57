#include "toolchain/cuda_source.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

#include "planner/refusals.hpp"
#include "toolchain/wide_reals.hpp"

namespace kernelsmith::cuda {
namespace {

/// Items with ", " between them.
class List {
 public:
  void add(const std::string& item) { text_ += (text_.empty() ? "" : ", ") + item; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

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
  List list;
  for (const TensorSpec& tensor : task.tensors)
    list.add((tensor.role == TensorRole::in ? "const " : "") +
             std::string(device_type(tensor.dtype, dialect)) + "* __restrict__ " + tensor.name);
  for (const std::string& size : size_names(task)) list.add("std::int64_t " + size);
  list.add(std::string(dialect.stream) + " stream");
  return "extern \"C\" void " + task.entry + "(" + list.text() + ");\n";
}

}  // namespace

std::string_view device_type(Dtype dtype, const Dialect& dialect) {
  switch (dtype) {
    case Dtype::f64:
      return "double";
    case Dtype::f32:
      return "float";
    case Dtype::f16:
      return dialect.half;
    case Dtype::bf16:
      return dialect.bfloat;
    case Dtype::f8e4m3:
      return dialect.e4m3;
    case Dtype::f8e5m2:
      return dialect.e5m2;
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
  }
  return {};
}

std::size_t element_bytes(Dtype dtype, OraclePrecision precision) {
  const DtypeTraits& traits = traits_of(dtype);
  return traits.real && precision != OraclePrecision::declared ? sizeof(double) : traits.bytes;
}

std::vector<std::string> size_names(const Task& task) {
  if (!task.size_order.empty()) return task.size_order;
  std::vector<std::string> names;
  for (const auto& size : task.sizes) names.push_back(size.first);
  return names;
}

std::string exchanged_parameters(const Task& task, const Source& source) {
  ParameterGroups groups = {{}, size_names(task)};
  for (const TensorSpec& tensor : task.tensors) groups.front().push_back(tensor.name);
  return kernelsmith::exchanged_parameters(source, task.entry, groups);
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
  List parameters, arguments;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    parameters.add("void*");
    arguments.add("tensors[" + std::to_string(t) + "]");
  }
  for (std::size_t s = 0; s < size_names(task).size(); ++s) {
    parameters.add("std::int64_t");
    arguments.add("sizes[" + std::to_string(s) + "]");
  }
  parameters.add(stream);
  arguments.add("static_cast<" + stream + ">(stream)");
  return dialect.shim_prologue + std::string() +
         "#include <cstddef>\n#include <cstdint>\n#include <cstring>\n#include <" +
         std::string(dialect.api_header) + ">\n" +
         planner::in_runtime_names(dialect.device_properties, vendor.names) + "\nextern \"C\" void " +
         task.entry + "(" + parameters.text() + ");\nextern \"C\" void " + kShimSymbol +
         "(void* const* tensors, const std::int64_t* sizes, void* stream) {\n  (void)tensors;\n"
         "  (void)sizes;\n  " +
         task.entry + "(" + arguments.text() + ");\n}\n";
}

}  // namespace kernelsmith::cuda
