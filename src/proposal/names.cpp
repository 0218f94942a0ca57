#include "names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

// Tokens between a function's parameters and its body: const, noexcept, a trailing result, attributes.
constexpr std::size_t kMostQualifiers = 12;

bool among(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class NameReader {
 public:
  NameReader(std::string_view text, Language language)
      : text_(text), tokens_(without_comments(tokenize(text, language))), closing_(tokens_.size(), 0) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "(")) open.push_back(i);
      if (!is(i, ")") || open.empty()) continue;
      closing_[open.back()] = i;
      open.pop_back();
    }
  }

  Names read() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is_name(i)) continue;
      introduced_by(i);
      if (at_line_start(i)) constant_at(i);
    }
    for (const Call& call : find_calls(text_, tokens_)) called_at(call.token);
    return std::move(names_);
  }

 private:
  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].in(text_) : std::string_view{};
  }
  bool is(std::size_t i, std::string_view text) const { return word(i) == text; }
  bool is_name(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier; }
  bool at_line_start(std::size_t i) const {
    const std::size_t offset = tokens_[i].offset;
    return offset == 0 || text_[offset - 1] == '\n';
  }

  void define(std::size_t i) {
    names_.functions.emplace(word(i));
    const std::size_t newline = text_.substr(0, tokens_[i].offset).rfind('\n');
    const char first = text_[newline == text_.npos ? 0 : newline + 1];
    if (first != ' ' && first != '\t') names_.outer.emplace(word(i));
  }

  // A name after a keyword that introduces one.
  // FenceChoice.TakesNoExampleOrPartForTheProgram; a macro makes no program, but may hide a frozen name: the
  // red team's framed/reply_shadows_header
  void introduced_by(std::size_t i) {
    constexpr std::array kWords{"def"sv, "class"sv, "struct"sv};
    constexpr std::array kBehind{"("sv, ":"sv, "{"sv};
    if (i > 0 && is(i - 1, "#") && is(i, "define")) names_.outer.emplace(word(i + 1));
    if (among(kWords, word(i)) && is_name(i + 1) && among(kBehind, word(i + 2))) define(i + 1);
  }

  // Takes a constant, such as `LIMIT = 5`, `constexpr int kLimit = 5;`, `int table[4]`, `int n{4};`, `import
  // numpy as np`.
  // FrozenReply.IsRefusedByTheLineThatIsChanged
  void constant_at(std::size_t first) {
    constexpr std::array kEnds{"="sv, ":"sv, "["sv, "{"sv, "("sv};
    std::size_t i = first;
    while (i < tokens_.size() && tokens_[i].line == tokens_[first].line && !among(kEnds, word(i))) ++i;
    if (is(i, "=") && tokens_[i].line == tokens_[first].line && is_name(i - 1))
      names_.outer.emplace(word(i - 1));
  }

  bool is_member(std::size_t i) const {
    return i > 0 && (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"));
  }

  // A function's body follows its parameters and qualifiers.
  bool has_body(std::size_t name) const {
    if (!is(name + 1, "(") || closing_[name + 1] == 0) return false;
    constexpr std::array kBetween{"->"sv, "::"sv, "&"sv, "&&"sv, "*"sv, "<"sv, ">"sv};
    std::size_t i = closing_[name + 1] + 1;
    for (std::size_t steps = 0; steps < kMostQualifiers && (is_name(i) || among(kBetween, word(i))); ++steps)
      ++i;
    return is(i, "{");
  }

  void called_at(std::size_t name) {
    if (has_body(name))
      define(name);
    else if (!is_member(name))
      names_.calls.emplace(word(name));
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> closing_;  // of each "(", the index of its ")"; 0 if there is none
  Names names_;
};

}  // namespace

Names names_in(std::string_view text, Language language) { return NameReader(text, language).read(); }

long open_brackets(std::string_view text, Language language) {
  long open = 0;
  for (const Token& token : tokenize(text, language)) {
    if (token.kind != TokenKind::operation) continue;
    const std::string_view sign = token.in(text);
    open += sign == "(" || sign == "[" || sign == "{";
    open -= sign == ")" || sign == "]" || sign == "}";
  }
  return open;
}

const std::string* in_both(const NameSet& a, const NameSet& b) {
  const auto it = std::ranges::find_if(a, [&](const std::string& name) { return b.contains(name); });
  return it == a.end() ? nullptr : &*it;
}

NameSet without(const NameSet& a, const NameSet& b) {
  NameSet result;
  std::ranges::set_difference(a, b, std::inserter(result, result.end()));
  return result;
}

}  // namespace kernelsmith::detail
