// Lists of names and numbers in the texts about an arena's problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "axis_expression.hpp"

namespace kernelsmith::arena {

inline std::string in_list(const std::vector<std::string>& words, std::string_view between = ", ") {
  std::string text;
  for (const std::string& word : words) text += (&word == &words.front() ? "" : std::string(between)) + word;
  return text;
}

inline std::string in_list(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> words;
  for (const std::int64_t number : numbers) words.push_back(std::to_string(number));
  return in_list(words);
}

/// "B = 8, D = 64"
inline std::string in_list(const Axes& axes) {
  std::vector<std::string> words;
  for (const auto& [name, extent] : axes) words.push_back(name + " = " + std::to_string(extent));
  return in_list(words);
}

/// A tuple of Python: "(B,)".
inline std::string python_tuple(const std::vector<std::string>& words) {
  return "(" + in_list(words) + (words.size() == 1 ? ",)" : ")");
}

}  // namespace kernelsmith::arena
