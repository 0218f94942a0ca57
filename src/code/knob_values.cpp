// Interprets a knob's values as numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <kernelsmith/code/knobs.hpp>

namespace kernelsmith {

std::uint64_t points_of(const std::vector<Knob>& knobs) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t points = 1;
  for (const Knob& knob : knobs)
    points = points > kMost / knob.values.size() ? kMost : points * knob.values.size();
  return points;
}

std::optional<double> number_of(std::string literal) {
  std::erase_if(literal, [](char c) { return c == '\'' || c == '_' || c == '+'; });
  const bool negative = literal.starts_with('-');
  if (negative) literal.erase(0, 1);
  const bool hexadecimal = literal.starts_with("0x") || literal.starts_with("0X");
  if (hexadecimal) literal.erase(0, 2);
  if (literal.empty() || (!hexadecimal && literal.find_first_of("0123456789.") != 0)) return std::nullopt;
  double value = 0;
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), value, format);
  if (error != std::errc()) return std::nullopt;
  return negative ? -value : value;
}

std::optional<std::size_t> nearest_value(const std::string& value, std::span<const std::string> listed) {
  if (const auto same = std::ranges::find(listed, value); same != listed.end())
    return static_cast<std::size_t>(same - listed.begin());
  const auto number = number_of(value);
  if (!number) return std::nullopt;
  std::optional<std::size_t> nearest;
  double least = 0;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto other = number_of(listed[i]);
    if (!other) continue;
    const double distance = std::abs(*other - *number);
    if (nearest && distance >= least) continue;
    nearest = i;
    least = distance;
  }
  return nearest;
}

}  // namespace kernelsmith
