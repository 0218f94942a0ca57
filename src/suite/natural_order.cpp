#include "natural_order.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace kernelsmith::suite {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the leading digits of `text` and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool naturally_less(std::string_view a, std::string_view b) {
  const auto whole = std::pair(a, b);
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a), right = take_number(b);
      if (left != right) return std::pair(left.size(), left) < std::pair(right.size(), right);
      continue;
    }
    if (a.front() != b.front())
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole.first < whole.second;  // "01" and "1" are two names
}

}  // namespace kernelsmith::suite
