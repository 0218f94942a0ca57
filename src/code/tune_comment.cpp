#include "tune_comment.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <kernelsmith/code/text.hpp>

#include "characters.hpp"

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::array kOpeners{"<!--"sv, "//"sv, "/*"sv, "(*"sv, "--"sv, "#"sv, "!"sv, ";"sv, "%"sv};
constexpr std::array kClosers{"*/"sv, "-->"sv, "*)"sv};

bool is_tag_at(std::string_view text, std::size_t at, std::string_view tag) {
  const std::size_t end = at + tag.size();
  return end >= text.size() || is_blank(text[end]) || text[end] == '\n' || text[end] == '*';
}

// The beginning of a comment opener at the end of `text`, ignoring blanks; npos if there is none.
std::size_t opener_before(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  for (const std::string_view opener : kOpeners) {
    if (text.ends_with(opener)) return text.size() - opener.size();
  }
  return text.npos;
}

// The length of `@` and a form of the word "tune" at the beginning of `text`; 0 if it begins differently.
std::size_t near_tag(std::string_view text) {
  constexpr std::size_t kLongestWord = 8;  // tunables
  std::size_t begin = 1;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  std::string word;
  for (std::size_t i = begin; i < text.size() && is_word(text[i]) && !is_digit(text[i]); ++i)
    word.push_back(text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i]);
  const bool near = word.starts_with("tun") && word.find('_') == word.npos && word.size() <= kLongestWord;
  return near ? begin + word.size() : 0;
}

// The position of `@` and a form of the word "tune"; npos if there is none.
std::size_t find_near_tag(std::string_view text) {
  std::size_t at = text.find('@');
  const auto is_tag = [&] { return (at == 0 || !is_word(text[at - 1])) && near_tag(text.substr(at)) > 0; };
  while (at != text.npos && !is_tag()) at = text.find('@', at + 1);
  return at;
}

struct Comment {
  std::size_t line = 1;
  std::string_view text;  // the comment with its opener
};

// The comments of a text. In an unknown language, only comments with a tag (found by `find`) directly after
// the opener.
std::vector<Comment> comments_of(std::string_view text, Language language, const std::vector<Token>& tokens,
                                 const std::function<std::size_t(std::string_view)>& find) {
  std::vector<Comment> comments;
  if (language != Language::other) {
    for (const Token& token : tokens)
      if (token.kind == TokenKind::comment) comments.push_back({token.line, token.in(text)});
    return comments;
  }
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::size_t tag = find(line);
    const std::size_t opener = tag == line.npos ? tag : opener_before(line.substr(0, tag));
    if (opener != line.npos) comments.push_back({number, without_newline(line.substr(opener))});
  }
  return comments;
}

std::string_view without_closer(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view closer : kClosers)
    if (text.ends_with(closer)) text = trimmed(text.substr(0, text.size() - closer.size()));
  return text;
}

std::optional<NearTuneComment> near_tune_comment(std::string_view comment) {
  constexpr auto kSigns = " \t\r\n:=,;()[]{}"sv;
  const std::size_t at = tune_comment(comment) ? comment.npos : find_near_tag(comment);
  if (at == comment.npos) return std::nullopt;
  const std::string_view written = without_closer(comment.substr(at));
  NearTuneComment near{.written = written, .values = {}};
  for (std::size_t begin = written.find_first_not_of(kSigns, near_tag(written)); begin != written.npos;) {
    const std::size_t end = std::min(written.find_first_of(kSigns, begin), written.size());
    near.values.emplace_back(written.substr(begin, end - begin));
    begin = written.find_first_not_of(kSigns, end);
  }
  return near;
}

}  // namespace

std::optional<TuneComment> tune_comment(std::string_view comment, std::string_view tag) {
  const std::size_t at = comment.find(tag);
  if (at == comment.npos || !is_tag_at(comment, at, tag)) return std::nullopt;
  const std::string_view before = trimmed(comment.substr(0, at));
  const std::string_view values = without_closer(comment.substr(at + tag.size()));
  bool leads = false;
  for (const std::string_view opener : kOpeners) leads = leads || before == opener;
  return TuneComment{.leads = leads, .values = values};
}

std::vector<TuneComment> tune_comments(std::string_view text, Language language,
                                       const std::vector<Token>& tokens, std::string_view tag) {
  std::vector<TuneComment> found;
  const auto find = [tag](std::string_view line) { return line.find(tag); };
  for (const Comment& comment : comments_of(text, language, tokens, find)) {
    auto one = tune_comment(comment.text, tag);
    if (!one) continue;
    one->line = comment.line;
    one->offset = static_cast<std::size_t>(comment.text.data() - text.data());
    found.push_back(*one);
  }
  return found;
}

std::vector<NearTuneComment> near_tune_comments(std::string_view text, Language language,
                                                const std::vector<Token>& tokens) {
  std::vector<NearTuneComment> found;
  for (const Comment& comment : comments_of(text, language, tokens, find_near_tag)) {
    auto one = near_tune_comment(comment.text);
    if (!one) continue;
    one->line = comment.line;
    one->offset = static_cast<std::size_t>(comment.text.data() - text.data());
    found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace kernelsmith::detail
