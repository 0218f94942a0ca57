#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

#include "characters.hpp"
#include "literals.hpp"

namespace kernelsmith {
namespace {

using namespace std::string_view_literals;
using namespace detail;

// Longest first.
constexpr std::array kCudaOperators{"<<<"sv, ">>>"sv};
constexpr std::array kCppOperators{
    "%:%:"sv, "->*"sv, "..."sv, "<<="sv, ">>="sv, "<=>"sv, "::"sv, "->"sv, ".*"sv, "++"sv, "--"sv,
    "<<"sv,   ">>"sv,  "<="sv,  ">="sv,  "=="sv,  "!="sv,  "&&"sv, "||"sv, "+="sv, "-="sv, "*="sv,
    "/="sv,   "%="sv,  "&="sv,  "|="sv,  "^="sv,  "##"sv,  "<:"sv, ":>"sv, "<%"sv, "%>"sv, "%:"sv};
constexpr std::array kPythonOperators{"**="sv, "//="sv, ">>="sv, "<<="sv, "..."sv, ":="sv, "->"sv, "**"sv,
                                      "//"sv,  "<<"sv,  ">>"sv,  "<="sv,  ">="sv,  "=="sv, "!="sv, "+="sv,
                                      "-="sv,  "*="sv,  "/="sv,  "%="sv,  "&="sv,  "|="sv, "^="sv, "@="sv};
constexpr auto kCppSingles = "+-*/%&|^~!<>=?:;,.()[]{}#"sv;
constexpr auto kPythonSingles = "+-*/%&|^~<>=:;,.()[]{}@"sv;

constexpr std::array kCppPrefixes{"L"sv, "u"sv, "U"sv, "u8"sv, "R"sv, "LR"sv, "uR"sv, "UR"sv, "u8R"sv};
constexpr std::array kPythonPrefixes{"r"sv,  "b"sv,  "u"sv,  "f"sv,  "t"sv, "rb"sv,
                                     "br"sv, "fr"sv, "rf"sv, "tr"sv, "rt"sv};
constexpr std::array kHeaderNames{"include"sv, "include_next"sv,  "import"sv,
                                  "embed"sv,   "__has_include"sv, "__has_embed"sv};
constexpr std::array kNoCalls{"if"sv,       "while"sv,         "for"sv,     "switch"sv,  "return"sv,
                              "sizeof"sv,   "catch"sv,         "alignof"sv, "alignas"sv, "decltype"sv,
                              "in"sv,       "static_assert"sv, "typeid"sv,  "elif"sv,    "noexcept"sv,
                              "requires"sv, "not"sv,           "and"sv,     "or"sv,      "is"sv,
                              "lambda"sv,   "yield"sv,         "assert"sv,  "except"sv};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The length of the longest operator at the beginning of `rest`. The first byte is compared first, because
/// this is the lexer's hottest loop and most operators differ there. Usually a letter or a blank follows, and
/// no operator contains these.
std::size_t longest(std::span<const std::string_view> operators, std::string_view rest) {
  if (rest.size() < 2 || is_word(rest[1]) || is_blank(rest[1])) return 0;
  const auto it = std::ranges::find_if(
      operators, [&](auto op) { return op.front() == rest.front() && rest.starts_with(op); });
  return it == operators.end() ? 0 : it->size();
}

class Lexer {
 public:
  Lexer(std::string_view text, Language language) : text_(text), language_(language) {}

  std::vector<Token> run() {
    constexpr std::size_t kBytesOfAToken = 3;  // a token has at least this many, with the blanks before it
    tokens_.reserve(text_.size() / kBytesOfAToken);
    while (at_ < text_.size()) step();
    end_line(0);
    return std::move(tokens_);
  }

 private:
  bool python() const { return language_ == Language::python; }
  bool c_like() const { return language_ == Language::cpp || language_ == Language::cuda; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }

  void emit(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, at_, length, line_, depth_, in_directive_});
    const bool may_have_newline =
        kind != TokenKind::identifier && kind != TokenKind::number && kind != TokenKind::operation;
    if (may_have_newline)
      skip(length);
    else
      at_ += length;
    if (kind != TokenKind::comment && kind != TokenKind::indent) line_is_empty_ = kind == TokenKind::line_end;
  }
  void emit_to(TokenKind kind, std::size_t end) { emit(kind, end - at_); }

  void skip(std::size_t length) {
    line_ += static_cast<std::size_t>(std::ranges::count(text_.substr(at_, length), '\n'));
    at_ += length;
  }

  // Ends a directive or a logical line of Python, if one is open.
  void end_line(std::size_t length) {
    const bool ends = in_directive_ || (python() && depth_ == 0 && !line_is_empty_);
    ends ? emit(TokenKind::line_end, length) : skip(length);
    in_directive_ = false;
    if (c_like()) line_is_empty_ = true;
  }

  void step() {
    if (peek() == '\n') return end_line(1);
    if (python() && depth_ == 0 && line_is_empty_ && at_line_start()) return indentation();
    if (is_blank(peek())) return skip(1);
    if (comment() || splice() || literal()) return;
    if (is_word(peek()) || (c_like() && peek() == '$')) return name();
    operation();
  }

  bool at_line_start() const { return is_blank(peek()) && (at_ == 0 || text_[at_ - 1] == '\n'); }

  // The indentation of blank lines and of lines with only a comment has no meaning.
  void indentation() {
    std::size_t end = at_;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    const bool counts = end < text_.size() && text_[end] != '\n' && text_[end] != '#';
    counts ? emit_to(TokenKind::indent, end) : skip(end - at_);
  }

  bool comment() {
    if (python() && peek() == '#') {
      emit_to(TokenKind::comment, line_comment(text_, at_, false));
      return true;
    }
    if (!c_like() || peek() != '/') return false;
    if (peek(1) == '/') {
      emit_to(TokenKind::comment, line_comment(text_, at_, true));
      return true;
    }
    if (peek(1) != '*') return false;
    const Extent extent = block_comment(text_, at_);
    emit_to(extent.closed ? TokenKind::comment : TokenKind::unknown, extent.end);
    return true;
  }

  // A spliced line end is white space only next to white space. Within a name it joins the parts.
  bool splice() {
    const std::size_t length = language_ == Language::other ? 0 : splice_length(text_, at_);
    if (length == 0) return false;
    const auto separates = [this](std::size_t i) {
      return i >= text_.size() || is_blank(text_[i]) || text_[i] == '\n';
    };
    const bool at_indentation = python() && line_is_empty_;
    const bool is_space = !at_indentation && (separates(at_ - 1) || separates(at_ + length));
    is_space ? skip(length) : emit(TokenKind::unknown, length);
    return true;
  }

  bool literal() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      emit_to(TokenKind::number, number(text_, at_, c_like()));
      return true;
    }
    if (c == '<' && expects_header_name()) {
      const std::size_t end = text_.find_first_of(">\n", at_);
      if (end != text_.npos && text_[end] == '>') {
        emit_to(TokenKind::string, end + 1);
        return true;
      }
    }
    return (c == '"' || c == '\'') && string(0);
  }

  bool expects_header_name() const {
    if (!in_directive_) return false;
    const std::size_t last = std::min<std::size_t>(2, tokens_.size());
    return std::ranges::any_of(std::span(tokens_).last(last),
                               [this](const Token& token) { return among(kHeaderNames, token.in(text_)); });
  }

  // Reads a string whose quote follows a prefix of that length.
  bool string(std::size_t prefix_length) {
    const std::string_view prefix = text_.substr(at_, prefix_length);
    const std::size_t quote = at_ + prefix_length;
    if (python()) {
      const bool triple = text_.substr(quote, 3) == std::string(3, text_[quote]);
      const Extent extent = triple ? triple_quoted(text_, quote) : quoted(text_, quote);
      const bool formatted = prefix.find_first_of("fFtT") != prefix.npos;
      const bool sure =
          extent.closed && (!formatted || f_string_is_flat(text_.substr(at_, extent.end - at_)));
      emit_to(sure ? TokenKind::string : TokenKind::unknown, extent.end);
      return true;
    }
    const Extent extent = prefix.ends_with('R') ? raw_string(text_, quote) : quoted(text_, quote);
    if (language_ == Language::other && !extent.closed) return false;  // it is an apostrophe
    const std::size_t suffix_end =
        c_like() && extent.closed ? identifier(text_, extent.end, true) : extent.end;
    emit_to(extent.closed ? TokenKind::string : TokenKind::unknown, suffix_end);
    return true;
  }

  void name() {
    const std::size_t end = identifier(text_, at_, c_like());
    const std::string_view text = text_.substr(at_, end - at_);
    const char next = end < text_.size() ? text_[end] : '\0';
    const bool cpp_string =
        c_like() && (next == '"' || (next == '\'' && !text.ends_with('R'))) && among(kCppPrefixes, text);
    const bool python_string =
        python() && (next == '"' || next == '\'') && among(kPythonPrefixes, lower_case(text));
    if (cpp_string || python_string) {
      string(text.size());
    } else {
      emit_to(TokenKind::identifier, end);
    }
  }

  void operation() {
    if (c_like() && line_is_empty_ && !in_directive_ && (peek() == '#' || rest().starts_with("%:"))) {
      in_directive_ = true;
      return emit(TokenKind::directive, peek() == '#' ? 1 : 2);
    }
    const std::size_t length = operation_length();
    if (length == 0) return emit(TokenKind::unknown, 1);
    const char c = peek();
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    emit(TokenKind::operation, length);
    if (c == '(' || c == '[' || c == '{') ++depth_;
  }

  std::size_t operation_length() const {
    const auto single = [this](std::string_view known) -> std::size_t {
      return known.find(peek()) == known.npos ? 0 : 1;
    };
    if (language_ == Language::other) return peek() > ' ' && peek() < 127 ? 1 : 0;
    if (python()) return std::max(longest(kPythonOperators, rest()), single(kPythonSingles));
    // [lex.pptoken]: this is not a digraph.
    if (rest().starts_with("<::") && peek(3) != ':' && peek(3) != '>') return 1;
    const std::size_t cuda = language_ == Language::cuda ? longest(kCudaOperators, rest()) : 0;
    return std::max({cuda, longest(kCppOperators, rest()), single(kCppSingles)});
  }

  std::string_view text_;
  Language language_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t depth_ = 0;
  bool in_directive_ = false;
  bool line_is_empty_ = true;  // there is no token yet on this line (C++) or logical line (Python)
};

}  // namespace

Language language_of(std::string_view path) {
  constexpr std::array kCpp{"c"sv,   "cc"sv,  "cpp"sv, "cxx"sv, "h"sv,  "hh"sv,
                            "hpp"sv, "hxx"sv, "inl"sv, "ipp"sv, "tpp"sv};
  constexpr std::array kCuda{"cu"sv, "cuh"sv, "hip"sv, "maca"sv};
  constexpr std::array kPython{"py"sv, "pyi"sv};
  const std::size_t dot = path.rfind('.');
  const std::string extension = dot == path.npos ? "" : lower_case(path.substr(dot + 1));
  if (among(kCpp, extension)) return Language::cpp;
  if (among(kCuda, extension)) return Language::cuda;
  if (among(kPython, extension)) return Language::python;
  return Language::other;
}

std::vector<Token> tokenize(std::string_view text, Language language) { return Lexer(text, language).run(); }

std::vector<Token> without_comments(const std::vector<Token>& tokens) {
  std::vector<Token> code;
  std::ranges::copy_if(tokens, std::back_inserter(code),
                       [](const Token& token) { return token.kind != TokenKind::comment; });
  return code;
}

std::vector<Call> find_calls(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<Call> calls;
  const auto is_call = [&](const Token& token) {
    return token.kind == TokenKind::operation && (token.in(text) == "(" || token.in(text) == "<<<");
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::identifier || among(kNoCalls, tokens[i].in(text))) continue;
    std::size_t next = i + 1;
    while (next < tokens.size() && tokens[next].kind == TokenKind::comment) ++next;
    if (next < tokens.size() && is_call(tokens[next])) calls.push_back({i, tokens[i].line});
  }
  return calls;
}

}  // namespace kernelsmith
