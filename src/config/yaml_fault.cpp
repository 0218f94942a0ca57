// Explains to authors why a text is not YAML.
#include <algorithm>
#include <array>
#include <vector>

#include "yaml_document.hpp"

namespace kernelsmith::detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }

/// Tracks brackets and quotes in a text by YAML's rules.
class BracketReader {
 public:
  explicit BracketReader(std::string_view text) : text_(text) {}

  std::optional<YamlFault> fault() {
    while (at_ < text_.size())
      if (auto found = step()) return found;
    if (open_.empty()) return std::nullopt;
    const auto [bracket, line] = open_.back();
    return YamlFault{line, quoted(bracket) + " is never closed",
                     "put " + quoted(end_of(bracket)) + " where it ends"};
  }

 private:
  struct Open {
    char bracket;
    std::size_t line;
  };

  static std::string quoted(char c) { return std::string("'") + c + "'"; }
  static char end_of(char bracket) { return bracket == '{' ? '}' : ']'; }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\n'; }
  bool in_flow() const { return !open_.empty(); }

  /// Reads one character outside of a quoted text.
  std::optional<YamlFault> step() {
    const char c = text_[at_];
    if (ends_line(c)) {
      end_line();
      return std::nullopt;
    }
    if (is_blank(c)) return take_blank(c);
    if (c == '#' && behind_blank_) {
      skip_line();
      return std::nullopt;
    }
    if (begins_ && (c == '"' || c == '\'')) return take_quoted(c);
    if (in_flow() || begins_) {
      if (c == '{' || c == '[') {
        open_.push_back({c, line_});
        return go_on(true);
      }
      if (c == '}' || c == ']') return close(c);
      if (c == ',') return go_on(true);
      if (!in_flow() && (c == '|' || c == '>')) {
        skip_block();
        return std::nullopt;
      }
    }
    const bool indicator = c == ':' || (begins_ && (c == '-' || c == '?'));
    const bool before_json = in_flow() && next() == '"';
    return go_on(indicator && (is_blank(next()) || ends_line(next()) || before_json));
  }

  /// `begins`: whether a value may begin after this character.
  std::optional<YamlFault> go_on(bool begins) {
    begins_ = begins;
    behind_blank_ = indenting_ = false;
    ++at_;
    return std::nullopt;
  }

  void end_line() {
    if (text_[at_] == '\n') ++line_;
    begins_ = indenting_ = behind_blank_ = true;
    indent_ = 0;
    ++at_;
  }

  std::optional<YamlFault> take_blank(char c) {
    if (c == '\t' && indenting_ && !in_flow() && !rest_is_blank())
      return YamlFault{line_, "the line is indented with a tab",
                       "indent with blanks: YAML takes no tabs there"};
    if (indenting_) ++indent_;
    behind_blank_ = true;
    ++at_;
    return std::nullopt;
  }

  bool rest_is_blank() const {
    const std::size_t end = text_.find_first_not_of(" \t", at_);
    return end == std::string_view::npos || ends_line(text_[end]) || text_[end] == '#';
  }

  void skip_line() { at_ = std::min(text_.find_first_of("\r\n", at_), text_.size()); }

  /// Skips the lines of a `|` or `>`: those that are indented deeper than the line that begins it.
  void skip_block() {
    const std::size_t depth = indent_;
    skip_line();
    while (at_ < text_.size()) {
      const std::size_t begin = text_.find_first_not_of("\r\n", at_);
      if (begin == std::string_view::npos) break;
      const std::size_t first = text_.find_first_not_of(' ', begin);
      const bool is_text = first != std::string_view::npos && !ends_line(text_[first]);
      if (is_text && first - begin <= depth) break;
      for (; at_ < begin; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
      skip_line();
    }
  }

  std::optional<YamlFault> take_quoted(char quote) {
    const std::size_t begun = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '\\' && quote == '"') {
        if (next() != '\n') ++at_;
      } else if (c == quote && quote == '\'' && next() == '\'') {
        ++at_;
      } else if (c == quote) {
        return go_on(false);
      }
    }
    return YamlFault{begun, std::string("the text that begins with ") + quote + " has no end",
                     std::string("put ") + quote + " behind it"};
  }

  std::optional<YamlFault> close(char bracket) {
    if (open_.empty())
      return YamlFault{line_, quoted(bracket) + " closes nothing", "remove it, or open what it closes"};
    const auto [opened, line] = open_.back();
    if (end_of(opened) != bracket)
      return YamlFault{line_,
                       quoted(bracket) + " stands where " + quoted(end_of(opened)) +
                           " is due: " + quoted(opened) + " of line " + std::to_string(line) + " is open",
                       "close what was opened last first"};
    open_.pop_back();
    return go_on(false);
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, indent_ = 0;
  std::vector<Open> open_;
  bool begins_ = true, indenting_ = true, behind_blank_ = true;
};

struct Words {
  std::string_view library, message, hint;
};

constexpr std::string_view kQuote =
    "a text that holds ': ', ' #' or a bracket, or begins with one of -?:,[]{}#&*!|>'\"%@`, needs quotes";
constexpr std::string_view kIndent =
    "the keys of one mapping, and the items of one list, are indented alike, with blanks";

/// Keyed by the beginning of yaml-cpp's message.
constexpr std::array kWords{
    Words{"end of map flow", "a ',' or a '}' is missing in a mapping within { }", "{key: value, key: value}"},
    Words{"end of sequence flow", "a ',' or a ']' is missing in a list within [ ]", "[value, value]"},
    Words{"end of map",
          "this does not continue what is above: it is indented differently, or is not 'key: value'",
          kIndent},
    Words{"end of sequence",
          "this does not continue the list above: it is indented differently, or does not begin with '- '",
          kIndent},
    Words{"illegal map value", "a ':' where no value can follow",
          "one 'key: value' a line, all of a mapping indented alike; a text that holds ': ' needs quotes"},
    Words{"illegal map key", "a key where none can begin", kIndent},
    Words{"illegal block entry", "a '- ' where no item of a list can begin", kIndent},
    Words{"illegal flow end", "a '}' or ']' that closes nothing", "remove it, or open what it closes"},
    Words{"illegal tab", "the line is indented with a tab", "indent with blanks: YAML takes no tabs there"},
    Words{"illegal EOF", "a quoted text has no end", "put its quote behind it"},
    Words{"illegal document indicator", "a line of --- or ... within a quoted text",
          "put the quote before it"},
    Words{"unknown escape character", "an unknown escape behind \\ in a text in double quotes",
          "write \\\\ for a backslash, or take single quotes"},
    Words{"bad character found while scanning hex", "a wrong number in an escape such as \\x41",
          "write \\\\ for a backslash, or take single quotes"},
    Words{"invalid unicode", "an escape that is not a character",
          "write \\\\ for a backslash, or take single quotes"},
    Words{"unexpected character in block scalar", "something behind | or > that is not part of it",
          "the text begins in the next line"},
    Words{"cannot set zero indentation", "a 0 behind | or >", "leave it out"},
    Words{"unknown token", "a character that no value begins with", kQuote},
    Words{"illegal character in scalar", "a character that cannot stand here", kQuote},
};

}  // namespace

std::optional<YamlFault> find_yaml_fault(std::string_view text) { return BracketReader(text).fault(); }

YamlFault yaml_fault(const std::string& library_message, std::size_t line) {
  for (const Words& words : kWords)
    if (library_message.starts_with(words.library))
      return {line, std::string(words.message), std::string(words.hint)};
  return {line, "this cannot be read as YAML", std::string(kQuote)};
}

}  // namespace kernelsmith::detail
