#include "change.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

namespace kernelsmith::memory {
namespace {

constexpr std::size_t kLongestWord = 100;
constexpr std::size_t kTokens = 3;  // length of a sequence: pairs of tokens are too common

using Counts = std::map<std::string, std::size_t>;

struct Word {
  std::string text, named;  ///< `named` is "name=value", or empty if the token is not assigned to a name
  std::size_t line = 0;
  bool is_number = false;
};

bool is_word(TokenKind kind) {
  return kind == TokenKind::identifier || kind == TokenKind::number || kind == TokenKind::string;
}

/// The name to which the code assigns the token: `name = 4`, `#define NAME 4`.
std::string_view name_before(const std::vector<Token>& tokens, std::size_t at, std::string_view text) {
  if (tokens[at].in_directive && at > 0 && tokens[at - 1].kind == TokenKind::identifier)
    return tokens[at - 1].in(text);
  const bool is_given = at > 1 && tokens[at - 1].in(text) == "=";
  return is_given && tokens[at - 2].kind == TokenKind::identifier ? tokens[at - 2].in(text)
                                                                  : std::string_view();
}

void count_words(const SourceFile& file, Counts& counts) {
  const std::vector<Token> tokens = tokenize(file.text, language_of(file.path));
  std::vector<Word> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::string_view text = token.in(file.text);
    if (token.kind == TokenKind::comment && text.find("@tune") != std::string_view::npos) {
      const bool is_knob = !words.empty() && words.back().line == token.line && !words.back().named.empty();
      if (is_knob) words.back().text = words.back().named;
    }
    if (!is_word(token.kind) || text.size() > kLongestWord) continue;
    Word word{std::string(text), {}, token.line, token.kind == TokenKind::number};
    if (const auto name = name_before(tokens, i, file.text); !name.empty())
      word.named = std::string(name) + "=" + word.text;
    if (word.is_number && !word.named.empty()) word.text = word.named;
    words.push_back(std::move(word));
  }
  for (const Word& word : words) ++counts[word.text];
}

void count_order(const SourceFile& file, Counts& counts) {
  std::vector<std::string_view> texts;
  for (const Token& token : without_comments(tokenize(file.text, language_of(file.path))))
    if (const auto text = token.in(file.text); text.size() <= kLongestWord) texts.push_back(text);
  for (std::size_t i = 0; i + kTokens <= texts.size(); ++i) {
    std::string triple(texts[i]);
    for (std::size_t j = 1; j < kTokens; ++j) triple += " " + std::string(texts[i + j]);
    ++counts[triple];
  }
}

std::set<std::string> more_of(const Source& before, const Source& after,
                              void (*count)(const SourceFile&, Counts&)) {
  Counts had, has;
  for (const SourceFile& file : before.files()) count(file, had);
  for (const SourceFile& file : after.files()) count(file, has);
  std::set<std::string> more;
  for (const auto& [text, times] : has)
    if (const auto found = had.find(text); found == had.end() || found->second < times) more.insert(text);
  return more;
}

}  // namespace

Change change_of(const Source& before, const Source& after) {
  return {more_of(before, after, count_words), more_of(before, after, count_order)};
}

std::pair<Source, Source> sides_of(std::string_view text) {
  std::map<std::string, std::pair<std::string, std::string>> files;
  auto* sides = &files["change.cpp"];  // used for a text without a name
  const auto names_file = [](std::string_view line) {
    return line.starts_with("--- a/") || line.starts_with("+++ b/");
  };
  bool in_hunk = std::ranges::none_of(lines_of(text), names_file);
  for (const std::string_view whole : lines_of(text)) {
    const std::string_view line = without_newline(whole);
    const std::string_view rest = line.empty() ? line : line.substr(1);
    if (names_file(line) || line == "--- /dev/null" || line == "+++ /dev/null") {
      if (names_file(line)) sides = &files[std::string(line.substr(6))];
      in_hunk = false;
    } else if (line.starts_with("@@")) {
      in_hunk = true;
    } else if (in_hunk && line.starts_with('-')) {
      sides->first.append(rest) += '\n';
    } else if (in_hunk && line.starts_with('+')) {
      sides->second.append(rest) += '\n';
    } else if (in_hunk && line.starts_with(' ')) {
      sides->first.append(rest) += '\n';
      sides->second.append(rest) += '\n';
    }
  }
  std::vector<SourceFile> before, after;
  for (auto& [path, both] : files) {
    before.push_back({path, std::move(both.first)});
    after.push_back({path, std::move(both.second)});
  }
  auto old_side = Source::create(std::move(before)), new_side = Source::create(std::move(after));
  if (!old_side || !new_side) return {};  // a path that no source can have
  return {std::move(*old_side), std::move(*new_side)};
}

bool follows(const Change& done, const Change& rule) {
  const auto shares_half = [](const std::set<std::string>& own, const std::set<std::string>& wanted) {
    const auto shared = std::ranges::count_if(wanted, [&](const auto& one) { return own.contains(one); });
    return !wanted.empty() && 2 * static_cast<std::size_t>(shared) >= wanted.size();
  };
  return rule.words.empty() ? shares_half(done.order, rule.order) : shares_half(done.words, rule.words);
}

}  // namespace kernelsmith::memory
