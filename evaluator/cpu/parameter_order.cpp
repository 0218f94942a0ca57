#include "parameter_order.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <kernelsmith/code/lexer.hpp>

namespace kernelsmith {
namespace {

std::vector<std::string> parameter_names(const Task& task) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : task.tensors) names.push_back(tensor.name);
  for (const auto& size : task.sizes) names.push_back(size.first);
  return names;
}

/// Of a list that begins with the bracket `open`: the last name between two commas. Empty where nothing
/// stands before it, as in a call, which may pass anything.
std::vector<std::string> names_in_list(std::string_view text, const std::vector<Token>& tokens,
                                       std::size_t open) {
  std::vector<std::string> names;
  std::string last;
  std::size_t words = 0;
  for (std::size_t i = open + 1; i < tokens.size(); ++i) {
    if (tokens[i].depth > tokens[open].depth + 1) continue;
    const std::string_view word = tokens[i].in(text);
    if (word != ")" && word != ",") {
      if (tokens[i].kind == TokenKind::identifier) last = word;
      ++words;
      continue;
    }
    names.push_back(words > 1 ? last : "");
    words = 0;
    if (word == ")") break;
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

Status check_parameter_order(const Task& task, const Source& source, const std::string& what) {
  const std::vector<std::string> passed = parameter_names(task);
  for (const SourceFile& file : source.files()) {
    const auto tokens = without_comments(tokenize(file.text, Language::cpp));
    for (const Call& call : find_calls(file.text, tokens)) {
      if (tokens[call.token].in(file.text) != task.entry) continue;
      const auto named = names_in_list(file.text, tokens, call.token + 1);
      if (named == passed || !std::ranges::is_permutation(named, passed)) continue;
      return fail(ErrorCode::refused,
                  file.path + ":" + std::to_string(call.line) + ": '" + task.entry +
                      "' names its parameters (" + joined(named) + "), and what is passed is (" +
                      joined(passed) + ")",
                  "files: " + what, "tensors come as the task lists them, then sizes in alphabetical order");
    }
  }
  return {};
}

}  // namespace kernelsmith
