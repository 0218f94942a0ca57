#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <kernelsmith/code/complexity.hpp>
#include <kernelsmith/code/lexer.hpp>

#include "tune_comment.hpp"

namespace kernelsmith {
namespace {

using namespace std::string_view_literals;
using Tokens = std::vector<Token>;

constexpr std::array kLoops{"for"sv, "while"sv, "do"sv};
constexpr std::array kCppBranches{"if"sv, "case"sv, "catch"sv, "and"sv, "or"sv, "&&"sv, "||"sv, "?"sv};
constexpr std::array kPythonBranches{"if"sv, "elif"sv, "except"sv, "case"sv, "and"sv, "or"sv};

double count_words(std::string_view text, const Tokens& code, std::span<const std::string_view> words) {
  return static_cast<double>(std::ranges::count_if(code, [&](const Token& token) {
    return (token.kind == TokenKind::identifier || token.kind == TokenKind::operation) &&
           std::ranges::find(words, token.in(text)) != words.end();
  }));
}

double lines_with_code(const Tokens& code) {
  std::set<std::size_t> lines;
  for (const Token& token : code) lines.insert(token.line);
  return static_cast<double>(lines.size());
}

double bracket_nesting(const Tokens& code) {
  std::size_t deepest = 0;
  for (const Token& token : code) deepest = std::max(deepest, token.depth);
  return static_cast<double>(deepest);
}

// The largest number of open blocks, by indentation.
double indentation_nesting(const Tokens& code) {
  std::vector<std::size_t> open{0};
  std::size_t deepest = 0;
  bool line_starts = true;
  for (const Token& token : code) {
    if (line_starts) {
      const std::size_t width = token.kind == TokenKind::indent ? token.length : 0;
      while (open.back() > width) open.pop_back();
      if (open.back() < width) open.push_back(width);
      deepest = std::max(deepest, open.size() - 1);
    }
    line_starts = token.kind == TokenKind::line_end;
  }
  return static_cast<double>(deepest);
}

// Both words of a `do ... while` would count as loops, but the pair is one loop.
double loops_in(std::string_view text, const Tokens& code, Language language) {
  const double words = count_words(text, code, kLoops);
  constexpr std::array kDo{"do"sv};
  return language == Language::python ? words : words - count_words(text, code, kDo);
}

}  // namespace

std::map<std::string, double> static_features(const Source& source) {
  std::map<std::string, double> features{{"bytes", 0}, {"lines", 0}, {"tokens", 0},      {"loops", 0},
                                         {"knobs", 0}, {"calls", 0}, {"max_nesting", 0}, {"branches", 0}};
  for (const auto& [path, text] : source.files()) {
    const Language language = language_of(path);
    const bool python = language == Language::python;
    const Tokens tokens = tokenize(text, language);
    const Tokens code = without_comments(tokens);
    features["bytes"] += static_cast<double>(text.size());
    features["lines"] += lines_with_code(code);
    features["tokens"] += static_cast<double>(code.size());
    features["calls"] += static_cast<double>(find_calls(text, code).size());
    features["knobs"] += static_cast<double>(detail::tune_comments(text, language, tokens).size());
    features["max_nesting"] =
        std::max(features["max_nesting"], python ? indentation_nesting(code) : bracket_nesting(code));
    if (language == Language::other) continue;
    features["loops"] += loops_in(text, code, language);
    features["branches"] +=
        python ? count_words(text, code, kPythonBranches) : count_words(text, code, kCppBranches);
  }
  features["complexity"] = 1 + features["loops"] + features["branches"];
  return features;
}

}  // namespace kernelsmith
