#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

#include "tune_comment.hpp"

namespace kernelsmith {
namespace {

using namespace std::string_view_literals;
using namespace detail;
using Tokens = std::vector<Token>;

// Names with which a program can use its own line numbers or text.
constexpr std::array kSelfAware{"__LINE__"sv,
                                "__builtin_LINE"sv,
                                "__builtin_COLUMN"sv,
                                "source_location"sv,
                                "__builtin_source_location"sv,
                                "inspect"sv,
                                "_getframe"sv,
                                "__file__"sv,
                                "__doc__"sv,
                                "linecache"sv,
                                "tb_lineno"sv};

// Whether the text has no bytes that compilers interpret and the lexer does not: NUL, a single carriage
// return, trigraphs.
bool is_plain(std::string_view text) {
  if (text.find('\0') != text.npos || text.find("??") != text.npos) return false;
  for (std::size_t i = text.find('\r'); i != text.npos; i = text.find('\r', i + 1)) {
    if (i + 1 == text.size() || text[i + 1] != '\n') return false;
  }
  return true;
}

bool is_read_with_certainty(std::string_view text, Language language, const Tokens& tokens) {
  if (language == Language::other || !is_plain(text)) return false;
  return std::ranges::none_of(tokens, [&](const Token& token) {
    return token.kind == TokenKind::unknown ||
           (token.kind == TokenKind::identifier && std::ranges::count(kSelfAware, token.in(text)) > 0);
  });
}

// Whether a macro turns its argument, with the spacing, into a string.
bool stringizes(std::string_view text, const Tokens& tokens) {
  return std::ranges::any_of(tokens, [&](const Token& token) {
    return token.kind == TokenKind::operation && token.in_directive &&
           (token.in(text) == "#" || token.in(text) == "%:");
  });
}

// Whether a macro can paste a name together from parts, for example one of the names above.
bool pastes(std::string_view text, const Tokens& tokens) {
  return std::ranges::any_of(tokens, [&](const Token& token) {
    return token.kind == TokenKind::operation && token.in_directive &&
           (token.in(text) == "##" || token.in(text) == "%:%:");
  });
}

bool comment_counts(std::string_view comment, std::size_t line, Language language) {
  constexpr std::size_t kCodingLines = 2;  // PEP 263
  return comment.find("EVOLVE-BLOCK-") != comment.npos || tune_comment(comment, kTuneTag).has_value() ||
         tune_comment(comment, kRequireTag).has_value() ||
         (language == Language::python && line <= kCodingLines && comment.find("coding") != comment.npos);
}

bool is_plain_string(const Token& token, std::string_view text) {
  const std::string_view bytes = token.in(text);
  return token.kind == TokenKind::string &&
         bytes.substr(0, bytes.find_first_of("\"'")).find_first_of("fFtT") == bytes.npos;
}

// Drops comments without a meaning, and statements that are only a string, such as docstrings. Keeps the last
// statement of a block, because it may be the only one.
Tokens without_remarks(const Tokens& all, std::string_view text) {
  Tokens tokens;
  std::ranges::copy_if(all, std::back_inserter(tokens), [&](const Token& token) {
    return token.kind != TokenKind::comment || comment_counts(token.in(text), token.line, Language::python);
  });
  const auto indent_at = [&](std::size_t i) {
    return i < tokens.size() && tokens[i].kind == TokenKind::indent ? tokens[i].in(text) : ""sv;
  };
  Tokens kept;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool begins_line = i == 0 || tokens[i - 1].kind == TokenKind::line_end;
    const std::size_t first = i + (tokens[i].kind == TokenKind::indent ? 1 : 0);
    std::size_t end = first;
    while (end < tokens.size() && is_plain_string(tokens[end], text)) ++end;
    const bool is_remark = begins_line && end > first && end + 1 < tokens.size() &&
                           tokens[end].kind == TokenKind::line_end && indent_at(i) == indent_at(end + 1);
    if (is_remark)
      i = end;
    else
      kept.push_back(tokens[i]);
  }
  return kept;
}

std::size_t last_line(const Token& token, std::string_view text) {
  return token.line + static_cast<std::size_t>(std::ranges::count(token.in(text), '\n'));
}

void add_tokens(DigestBuilder& digest, std::string_view text, Language language, const Tokens& tokens,
                bool spacing_counts) {
  std::size_t end = 0;       // end of the last code token
  std::size_t end_line = 0;  // the line on which that token ends
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::string_view bytes = token.in(text);
    if (token.kind == TokenKind::comment) {
      if (!comment_counts(bytes, token.line, language)) continue;
      const bool has_code_behind = i + 1 < tokens.size() && tokens[i + 1].line == last_line(token, text);
      // Blanks at the end of a line matter only after a backslash.
      const std::string_view bare = trimmed(bytes);
      digest.add("comment")
          .add(bare.ends_with('\\') ? bytes : bare)
          .add(end_line == token.line)
          .add(has_code_behind);
      continue;
    }
    const bool line_end = token.kind == TokenKind::line_end;
    digest.add(static_cast<std::uint64_t>(token.kind)).add(line_end ? "" : bytes);
    if (!line_end && (token.in_directive || spacing_counts)) digest.add(token.offset > end);
    end = token.offset + token.length;
    end_line = line_end ? 0 : last_line(token, text);
  }
}

}  // namespace

Digest fingerprint(const Source& source) {
  std::vector<Tokens> tokens;
  bool spacing_counts = false;
  bool names_are_made = false;
  for (const SourceFile& file : source.files()) {
    const Language language = language_of(file.path);
    tokens.push_back(tokenize(file.text, language));
    if (language == Language::python) tokens.back() = without_remarks(tokens.back(), file.text);
    spacing_counts = spacing_counts || stringizes(file.text, tokens.back());
    names_are_made = names_are_made || pastes(file.text, tokens.back());
  }
  DigestBuilder digest;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& [path, text] = source.files()[i];
    const Language language = language_of(path);
    const bool certain = !names_are_made && is_read_with_certainty(text, language, tokens[i]);
    digest.add("file").add(path);
    if (certain) {
      add_tokens(digest, text, language, tokens[i], spacing_counts && language != Language::python);
    } else {
      digest.add("bytes").add(text);
    }
  }
  return digest.finish();
}

}  // namespace kernelsmith
