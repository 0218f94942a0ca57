#include "plan/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include <cxxabi.h>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::plan {
namespace {

/// About the length of a terminal's line.
constexpr std::size_t kMaxShown = 160;
/// Each substitution at most doubles a name: 256 characters with 10 substitutions stay below 256 KiB.
constexpr std::size_t kMaxDemangled = 256, kMaxSubstitutions = 10;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Counts S_, S0_, T_, T0_ and the like in the name; each repeats an earlier part.
std::size_t substitutions(std::string_view mangled) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < mangled.size(); ++i) {
    if (mangled[i] != '_') continue;
    std::size_t letter = i;
    while (letter > 0 && (is_digit(mangled[letter - 1]) ||
                          std::isupper(static_cast<unsigned char>(mangled[letter - 1])) != 0))
      --letter;
    const auto seen = mangled.substr(letter, i - letter);
    if (seen.find_first_of("ST") != seen.npos) ++count;
  }
  return count;
}

/// Expanded packs repeat their pattern, too.
bool is_safe_to_demangle(std::string_view mangled) {
  return mangled.size() <= kMaxDemangled && mangled.find("Dp") == mangled.npos &&
         mangled.find("sp") == mangled.npos && substitutions(mangled) <= kMaxSubstitutions;
}

/// Returns empty if `mangled` is not a mangled name.
std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

/// The identifier at the beginning of "7cutlass...", with `rest` set to the text after it; empty if there is
/// none.
std::string_view take_identifier(std::string_view& rest) {
  std::size_t length = 0, digits = 0;
  while (digits < rest.size() && is_digit(rest[digits]) && length <= kMaxName)
    length = length * 10 + static_cast<std::size_t>(rest[digits++] - '0');
  if (length == 0 || length > rest.size() - digits) return {};
  const std::string_view identifier = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return identifier;
}

/// The nested name at the beginning of `mangled`; empty if there is none.
std::string outline(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return {};
  std::string_view rest = mangled.substr(2);
  if (rest.starts_with("N")) rest.remove_prefix(1);
  std::string name;
  for (auto part = take_identifier(rest); !part.empty(); part = take_identifier(rest))
    name += (name.empty() ? "" : "::") +
            std::string(part.starts_with("_GLOBAL__N_") ? "(anonymous namespace)" : part);
  if (!name.empty() && rest.starts_with("I")) name += "<...>";
  return name;
}

}  // namespace

std::string hexadecimal(std::uint64_t number) {
  std::string text;
  do {
    text += "0123456789abcdef"[number & 15U];
    number >>= 4;
  } while (number != 0);
  text += "x0";
  std::reverse(text.begin(), text.end());
  return text;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string text_of(const Dim3& dim) {
  return std::to_string(dim[0]) + " x " + std::to_string(dim[1]) + " x " + std::to_string(dim[2]);
}

std::string_view element_name(std::uint32_t data_type) {
  constexpr std::array<std::string_view, 16> kNames{
      "uint8",        "uint16",       "uint32",        "int32",        "uint64",      "int64",
      "float16",      "float32",      "float64",       "bfloat16",     "float32_ftz", "tfloat32",
      "tfloat32_ftz", "16u4_align8b", "16u4_align16b", "16u6_align16b"};
  return data_type < kNames.size() ? kNames[data_type] : "unknown type";
}

std::string readable_name(std::string_view mangled) {
  std::string name = is_safe_to_demangle(mangled) ? demangled(std::string(mangled)) : std::string();
  if (name.empty()) name = outline(mangled);
  if (name.empty()) name = mangled;
  if (name.size() > kMaxShown) name = name.substr(0, kMaxShown - 3) + "...";
  name = escape_controls(name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return name;
}

}  // namespace kernelsmith::plan
