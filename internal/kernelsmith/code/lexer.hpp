// A small lexer for C++, CUDA and Python: good enough to compare candidates and to count and find things in
// them. It accepts any bytes and never fails. Doubtful text becomes an `unknown` token.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace kernelsmith {

enum class Language { cpp, cuda, python, other };

/// The language by the file name's extension; `other` if it is unknown.
Language language_of(std::string_view path);

enum class TokenKind {
  identifier,  ///< keywords included
  number,
  string,     ///< string and character literals with prefix and suffix; the `<...>` of an #include
  operation,  ///< an operator or bracket, as long as possible
  directive,  ///< the '#' that begins a preprocessor directive
  line_end,   ///< the end of a directive, or of a logical line of Python; may be empty at the end of the text
  indent,     ///< Python: the white space at the beginning of a logical line
  comment,    ///< includes what opens it, but not the newline after it
  unknown,    ///< a stray byte, an unterminated literal or comment, an f-string that nests quotes
};

/// A piece of a text. Only `indent` and `line_end` tokens contain white space.
struct Token {
  TokenKind kind = TokenKind::unknown;
  std::size_t offset = 0;     ///< bytes from the text's start
  std::size_t length = 0;     ///< bytes
  std::size_t line = 1;       ///< 1 for the first
  std::size_t depth = 0;      ///< number of open brackets around the token
  bool in_directive = false;  ///< the token is on a preprocessor line

  std::string_view in(std::string_view text) const { return text.substr(offset, length); }

  friend bool operator==(const Token&, const Token&) = default;
};

/// The tokens of `text`, in order. In the language `other` there are only identifiers, numbers, strings
/// within a line, and single bytes.
std::vector<Token> tokenize(std::string_view text, Language language);

/// `tokens` without comments.
std::vector<Token> without_comments(const std::vector<Token>& tokens);

/// A name followed by '(' or, for a CUDA launch, by '<<<'. It may also be the declaration or definition of a
/// function. A call with template arguments, `f<int>(x)`, is not seen.
struct Call {
  std::size_t token = 0;  ///< index of the name in the given tokens
  std::size_t line = 1;
};

/// The calls in `tokens` of `text`; control keywords such as `if` and `while` do not count.
std::vector<Call> find_calls(std::string_view text, const std::vector<Token>& tokens);

}  // namespace kernelsmith
