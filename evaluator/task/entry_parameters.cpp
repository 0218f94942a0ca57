#include <algorithm>
#include <optional>
#include <utility>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

namespace kernelsmith {
namespace {

using Names = std::vector<std::string>;

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

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
        return file.path + " defines " + std::string(function) + " with (" + joined(own) +
               "), but it is called with (" + joined(group) +
               "), as in task.yaml, so these parameters would hold each other's values. Put them in "
               "task.yaml's order, or give them other names";
      first = last;
    }
  }
  return {};
}

}  // namespace kernelsmith
