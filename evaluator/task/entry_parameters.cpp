#include <algorithm>
#include <optional>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

namespace kernelsmith {
namespace {

using Names = std::vector<std::string>;

/// The functions that one file defines.
class Definitions {
 public:
  explicit Definitions(const SourceFile& file)
      : text_(file.text), tokens_(without_comments(tokenize(text_, Language::cuda))) {}

  /// The names of `function`'s parameters, taken from the first `NAME(...) {`. An unnamed parameter has an
  /// empty name.
  std::optional<Names> parameters_of(std::string_view function) const {
    for (const Call& call : find_calls(text_, tokens_)) {
      if (text(call.token) != function) continue;
      const std::size_t open = call.token + 1, close = end_of(open);
      if (close + 1 < tokens_.size() && text(close + 1) == "{") return names_between(open, close);
    }
    return std::nullopt;
  }

 private:
  std::string_view text(std::size_t token) const { return tokens_[token].in(text_); }

  /// The bracket that closes the one at `open`; the number of tokens if it is never closed.
  std::size_t end_of(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (text(i) == "(") ++depth;
      if (text(i) == ")" && --depth == 0) return i;
    }
    return tokens_.size();
  }

  /// The names of the parameters between two brackets. A parameter's name is its last identifier.
  Names names_between(std::size_t open, std::size_t close) const {
    Names names(1);
    for (std::size_t i = open + 1; i < close; ++i) {
      if (text(i) == ",")
        names.emplace_back();
      else if (tokens_[i].kind == TokenKind::identifier)
        names.back() = text(i);
    }
    return names;
  }

  const std::string_view text_;
  const std::vector<Token> tokens_;
};

bool is_exchanged(const Names& found, const Names& due) {
  return found != due && std::ranges::is_permutation(found, due);
}

}  // namespace

std::string exchanged_parameters(const Source& source, std::string_view function,
                                 const ParameterGroups& due) {
  for (const SourceFile& file : source.files()) {
    const auto found = Definitions(file).parameters_of(function);
    if (!found) continue;
    auto first = found->begin();
    for (const Names& group : due) {
      if (static_cast<std::size_t>(found->end() - first) < group.size()) break;
      const auto last = first + static_cast<std::ptrdiff_t>(group.size());
      if (const Names own(first, last); is_exchanged(own, group))
        return file.path + " defines " + std::string(function) + " with (" + listed(own) +
               "), but it is called with (" + listed(group) +
               "), as in task.yaml, so these parameters would hold each other's values. Put them in "
               "task.yaml's order, or give them other names";
      first = last;
    }
  }
  return {};
}

std::string exchanged_parameters(const Task& task, const Source& source, bool generator) {
  ParameterGroups groups = {{}, size_names(task)};
  for (const TensorSpec& tensor : task.tensors)
    if (!generator || has_input(tensor)) groups.front().push_back(tensor.name);
  return exchanged_parameters(source, generator ? generator_of(task) : task.entry, groups);
}

Status check_parameters(const Task& task, const TrustedSource& trusted) {
  const std::string exchanged = exchanged_parameters(task, trusted.source, trusted.generator);
  if (exchanged.empty()) return {};
  return fail(ErrorCode::refused, "the task's " + trusted.what + ": " + exchanged, "files: " + trusted.what);
}

Error does_not_compile(const TrustedSource& trusted, const Failure& failure, const std::string& wide,
                       const std::string& instead) {
  const bool widened = trusted.precision != OraclePrecision::declared;
  const Rejection* const rejection = std::get_if<Rejection>(&failure);
  const bool no_entry = rejection && rejection->code == RejectionCode::entry_missing;
  return error_of(failure, ErrorCode::refused,
                  "the task's " + trusted.what + " does not compile" + (widened ? wide : "") + ": ",
                  "files: " + trusted.what,
                  no_entry  ? "define the function that `entry` in task.yaml names, or correct the name there"
                  : widened ? instead
                            : "");
}

std::string generator_of(const Task& task) { return task.entry + "_inputs"; }

bool has_input(const TensorSpec& tensor) { return tensor.role != TensorRole::out; }

std::vector<std::string> size_names(const Task& task) {
  if (!task.size_order.empty()) return task.size_order;
  std::vector<std::string> names;
  for (const auto& size : task.sizes) names.push_back(size.first);
  return names;
}

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

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

std::vector<std::string> entry_parameters(const Task& task,
                                          const std::function<std::string_view(Dtype)>& type_of,
                                          const std::string& restrict) {
  std::vector<std::string> parameters;
  for (const TensorSpec& tensor : task.tensors)
    parameters.push_back((tensor.role == TensorRole::in ? "const " : "") +
                         std::string(type_of(tensor.dtype)) + "* " + restrict + " " + tensor.name);
  for (const std::string& size : size_names(task)) parameters.push_back("std::int64_t " + size);
  return parameters;
}

std::string declaration(const std::string& function, const std::vector<std::string>& parameters) {
  return "extern \"C\" void " + function + "(" + listed(parameters) + ");\n";
}

std::string shim_text(const Task& task, const Shim& shim) {
  std::vector<std::string> parameters, arguments;
  for (std::size_t t = 0; t < shim.tensors; ++t) {
    parameters.emplace_back("void*");
    arguments.push_back("tensors[" + std::to_string(t) + "]");
  }
  for (std::size_t s = 0; s < size_names(task).size(); ++s) {
    parameters.emplace_back("std::int64_t");
    arguments.push_back("sizes[" + std::to_string(s) + "]");
  }
  parameters.insert(parameters.end(), shim.more_parameters.begin(), shim.more_parameters.end());
  arguments.insert(arguments.end(), shim.more_arguments.begin(), shim.more_arguments.end());
  return declaration(shim.function, parameters) + "extern \"C\" void " + shim.symbol +
         "(void* const* tensors, const std::int64_t* sizes" + shim.also_taken +
         ") {\n  (void)tensors;\n  (void)sizes;\n  " + shim.function + "(" + listed(arguments) + ");\n}\n";
}

}  // namespace kernelsmith
