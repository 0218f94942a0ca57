// Characters, without a locale.
#pragma once

namespace kernelsmith::detail {

/// Space, tab, vertical tab, form feed and carriage return; not the newline.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Letters, digits, '_' and every byte beyond ASCII.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}

}  // namespace kernelsmith::detail
