// A small lexer for C++, CUDA and Python: enough to compare, count and find things in a candidate. It accepts
// any bytes and never fails; what it cannot be sure about is one `unknown` token.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace kernelsmith {

enum class Language { cpp, cuda, python, other };

/// By the file name's extension; `other` if it is not known.
Language language_of(std::string_view path);

enum class TokenKind {
  identifier,  ///< keywords included
  number,
  string,     ///< string and character literals with prefix and suffix; the `<...>` of an #include
  operation,  ///< an operator or bracket, the longest that fits
  directive,  ///< the '#' that begins a preprocessor directive
  line_end,   ///< the end of a directive, or of a logical line of Python; may be empty at the end of the text
  indent,     ///< Python: the white space that a logical line begins with
  comment,    ///< with its opener, without the newline behind it
  unknown,    ///< a stray byte, an unterminated literal or comment, an f-string that nests quotes
};

/// A piece of a text. White space stands between tokens and is in none, `indent` and `line_end` apart.
struct Token {
  TokenKind kind = TokenKind::unknown;
  std::size_t offset = 0;     ///< bytes from the text's start
  std::size_t length = 0;     ///< bytes
  std::size_t line = 1;       ///< 1 for the first
  std::size_t depth = 0;      ///< brackets of all kinds that are open around it
  bool in_directive = false;  ///< stands on a preprocessor line

  std::string_view in(std::string_view text) const { return text.substr(offset, length); }

  friend bool operator==(const Token&, const Token&) = default;
};

/// The tokens of `text`, in order. `other` knows no comments, no directives and no indentation: identifiers,
/// numbers, strings that end on their line, and single bytes.
std::vector<Token> tokenize(std::string_view text, Language language);

/// `tokens` without comments.
std::vector<Token> without_comments(const std::vector<Token>& tokens);

/// A name followed by '(' or, for a CUDA launch, by '<<<': a call, and also a function's declaration or
/// definition. A call with template arguments, `f<int>(x)`, is not seen.
struct Call {
  std::size_t token = 0;  ///< index of the name in the tokens given
  std::size_t line = 1;
};

/// The calls in `tokens` of `text`; control keywords such as `if` and `while` do not count.
std::vector<Call> find_calls(std::string_view text, const std::vector<Token>& tokens);

}  // namespace kernelsmith
