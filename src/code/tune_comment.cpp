#include "tune_comment.hpp"

#include <array>

#include <kernelsmith/code/text.hpp>

#include "characters.hpp"

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

constexpr auto kTag = "@tune"sv;
constexpr std::array kOpeners{"<!--"sv, "//"sv, "/*"sv, "(*"sv, "--"sv, "#"sv, "!"sv, ";"sv, "%"sv};
constexpr std::array kClosers{"*/"sv, "-->"sv, "*)"sv};

bool is_tag_at(std::string_view text, std::size_t at) {
  const std::size_t end = at + kTag.size();
  return end >= text.size() || is_blank(text[end]) || text[end] == '\n' || text[end] == '*';
}

// Where the opener begins that `text` ends with, blanks apart; npos where there is none.
std::size_t opener_before(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  for (const std::string_view opener : kOpeners) {
    if (text.ends_with(opener)) return text.size() - opener.size();
  }
  return text.npos;
}

std::vector<TuneComment> in_unknown_language(std::string_view text) {
  std::vector<TuneComment> comments;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::size_t tag = line.find(kTag);
    const std::size_t opener = tag == line.npos ? tag : opener_before(line.substr(0, tag));
    if (opener == line.npos) continue;
    if (auto comment = tune_comment(without_newline(line.substr(opener)))) {
      comment->line = number;
      comment->offset = static_cast<std::size_t>(line.data() - text.data()) + opener;
      comments.push_back(*comment);
    }
  }
  return comments;
}

}  // namespace

std::optional<TuneComment> tune_comment(std::string_view comment) {
  const std::size_t tag = comment.find(kTag);
  if (tag == comment.npos || !is_tag_at(comment, tag)) return std::nullopt;
  std::string_view before = trimmed(comment.substr(0, tag));
  std::string_view values = trimmed(comment.substr(tag + kTag.size()));
  for (const std::string_view closer : kClosers) {
    if (values.ends_with(closer)) values = trimmed(values.substr(0, values.size() - closer.size()));
  }
  bool leads = false;
  for (const std::string_view opener : kOpeners) leads = leads || before == opener;
  return TuneComment{.leads = leads, .values = values};
}

std::vector<TuneComment> tune_comments(std::string_view text, Language language,
                                       const std::vector<Token>& tokens) {
  if (language == Language::other) return in_unknown_language(text);
  std::vector<TuneComment> comments;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::comment) continue;
    if (auto comment = tune_comment(token.in(text))) {
      comment->line = token.line;
      comment->offset = token.offset;
      comments.push_back(*comment);
    }
  }
  return comments;
}

}  // namespace kernelsmith::detail
