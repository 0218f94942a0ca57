#include <array>
#include <charconv>
#include <optional>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/evaluator/wide_literals.hpp>

namespace kernelsmith {
namespace {

template <class Real>
std::optional<double> parsed(std::string_view digits, std::chars_format format) {
  Real value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, format);
  // The literal has another suffix, or is outside the type's range.
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return static_cast<double>(value);
}

/// A number's value if it is a float literal, or a double literal if those are included.
std::optional<double> narrow_value(std::string_view number, bool doubles) {
  std::string text;
  for (const char c : number)
    if (c != '\'') text += c;
  std::string_view digits = text;
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (digits.find_first_of(hexadecimal ? "pP" : ".eE") == digits.npos) return std::nullopt;
  const bool is_float = digits.ends_with('f') || digits.ends_with('F');
  if (!is_float && !doubles) return std::nullopt;
  digits.remove_prefix(hexadecimal ? 2 : 0);
  digits.remove_suffix(is_float ? 1 : 0);
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  return is_float ? parsed<float>(digits, format) : parsed<double>(digits, format);
}

/// The value in hexadecimal, which is exact.
std::string written(double value, bool long_double) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::hex).ptr;
  return "0x" + std::string(text.data(), end) + (long_double ? "L" : "");
}

}  // namespace

std::string with_wide_literals(std::string_view text, OraclePrecision precision) {
  if (precision == OraclePrecision::declared) return std::string(text);
  const bool long_double = precision == OraclePrecision::long_double;
  std::string wide;
  std::size_t done = 0;
  for (const Token& token : tokenize(text, Language::cuda)) {
    if (token.kind != TokenKind::number) continue;
    const auto value = narrow_value(token.in(text), long_double);
    if (!value) continue;
    wide += text.substr(done, token.offset - done);
    wide += written(*value, long_double);
    done = token.offset + token.length;
  }
  return wide + std::string(text.substr(done));
}

}  // namespace kernelsmith
