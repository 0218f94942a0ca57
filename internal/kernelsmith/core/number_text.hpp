// Numbers as texts, the same on every machine.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith {

/// The shortest form that reads back as the same double: "0.1", "1e+300"; "inf" and "nan" too.
inline std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

/// The number that the whole text stands for; empty for any other text. `base` is the base of a whole number
/// if that is not 10.
template <class T>
std::optional<T> number_in(std::string_view text, auto... base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace kernelsmith
