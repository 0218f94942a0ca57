// One table for each enum. It maps values to names, and names to values.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelsmith::detail {

template <class E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

template <class E, std::size_t N>
constexpr std::string_view name_in(const EnumNames<E, N>& table, E value) {
  for (const auto& [candidate, name] : table) {
    if (candidate == value) return name;
  }
  return "?";
}

template <class E, std::size_t N>
constexpr std::optional<E> value_in(const EnumNames<E, N>& table, std::string_view text) {
  for (const auto& [value, name] : table) {
    if (name == text) return value;
  }
  return std::nullopt;
}

/// Deduces the table's size.
template <class E, std::size_t N>
constexpr EnumNames<E, N> enum_names(const std::pair<E, std::string_view> (&rows)[N]) {
  EnumNames<E, N> table{};
  for (std::size_t i = 0; i < N; ++i) table[i] = rows[i];
  return table;
}

}  // namespace kernelsmith::detail
