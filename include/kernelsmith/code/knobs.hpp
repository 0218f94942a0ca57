// Knobs: constants that carry a list of values to try, `constexpr int kTile = 64;  // @tune 8 16 32 64`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// A constant and the values that it may take. Values are literals (a sign belongs to a number) or
/// identifiers.
struct Knob {
  std::size_t file = 0;             ///< index in Source::files()
  std::size_t line = 0;             ///< 1 for the first
  std::string name;                 ///< the constant's name; empty if the code gives none
  std::vector<std::string> values;  ///< in the order of the comment: at least one, no duplicates
  std::size_t current = 0;          ///< index in `values` of the value in the source
  std::size_t offset = 0;           ///< offset of that value in the file, in bytes
  std::size_t length = 0;           ///< length of that value, in bytes

  const std::string& value() const { return values[current]; }

  friend bool operator==(const Knob&, const Knob&) = default;
};

/// Finds the knobs of all files, in order. A comment that begins with `@tune` turns the last literal or
/// identifier before it on the same line into a knob. Errors: `bad_input` with file:line if that literal is
/// missing or not one of the listed values, if a value is neither literal nor identifier, if the knob lies
/// outside the EVOLVE-BLOCKs of a source that has some, or if the blocks' markers are wrong.
Result<std::vector<Knob>> find_knobs(const Source& source);

/// The number of points of the knobs' space; the largest std::size_t if it overflows.
std::uint64_t points_of(const std::vector<Knob>& knobs);

/// A comment that looks like a knob but is not one: `@tunes 1 4`, `@Tune 1 4`, `@tune: 1, 4`.
struct NearKnob {
  std::size_t file = 0;  ///< index in Source::files()
  std::size_t line = 0;  ///< 1 for the first
  std::string written;   ///< `@tunes 1 4`, cut off if it is long
  std::string meant;     ///< the correct form, `@tune 1 4`, also cut off

  friend bool operator==(const NearKnob&, const NearKnob&) = default;
};

/// Finds comments that were probably meant as knobs, in order. Such a comment stands where a knob is allowed,
/// and its values begin like numbers or include the constant before the comment. Empty if the blocks' markers
/// are broken.
std::vector<NearKnob> find_near_knobs(const Source& source);

/// Describes a knob: "knob kTile (kernel.cpp:3) is 64 of 8 16 32 64". `path` is the name of its file.
std::string describe(const Knob& knob, std::string_view path);

/// Describes a misspelt knob: "kernel.cpp:3: `@tunes 1 4` makes no knob; `@tune 1 4` would".
std::string describe(const NearKnob& knob, std::string_view path);

/// Sets each knob of `source`: `choice[i]` is an index into the values of the i-th knob of
/// find_knobs(source). Errors: `invalid_argument` for a wrong number of choices or an index out of range.
Result<Source> with_knobs(const Source& source, std::span<const std::size_t> choice);

/// The number at the beginning of a literal, without its suffix; empty for any other text.
std::optional<double> number_of(std::string literal);

/// The index of `value` in the list. For a number that is not listed, the index of the nearest number (the
/// first, if two are equally near). Empty for any other text.
std::optional<std::size_t> nearest_value(const std::string& value, std::span<const std::string> listed);

}  // namespace kernelsmith
