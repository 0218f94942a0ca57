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

/// A constant with the values it may take. Values are literals (a sign belongs to a number) or identifiers.
struct Knob {
  std::size_t file = 0;             ///< index in Source::files()
  std::size_t line = 0;             ///< 1 for the first
  std::string name;                 ///< of the constant; empty if the code gives none
  std::vector<std::string> values;  ///< as listed, at least one, none twice
  std::size_t current = 0;          ///< index in `values` of the value in the source
  std::size_t offset = 0;           ///< of that value in the file, bytes
  std::size_t length = 0;           ///< of that value, bytes

  const std::string& value() const { return values[current]; }

  friend bool operator==(const Knob&, const Knob&) = default;
};

/// The knobs of all files, in order. A comment that begins with `@tune` makes a knob of the last literal or
/// identifier before it on its line. `bad_input` with file:line if there is none, if it is not one of
/// the listed values, if a value is neither literal nor identifier, or if the knob lies outside the
/// EVOLVE-BLOCKs of a source that has some. Errors in the blocks' markers are passed on.
Result<std::vector<Knob>> find_knobs(const Source& source);

/// How many points the knobs span; the largest number if that does not fit.
std::uint64_t points_of(const std::vector<Knob>& knobs);

/// A comment that nearly makes a knob, but for its `@tune`: `@tunes 1 4`, `@Tune 1 4`, `@tune: 1, 4`.
struct NearKnob {
  std::size_t file = 0;  ///< index in Source::files()
  std::size_t line = 0;  ///< 1 for the first
  std::string written;   ///< `@tunes 1 4`, cut off if it is long
  std::string meant;     ///< `@tune 1 4`, likewise

  friend bool operator==(const NearKnob&, const NearKnob&) = default;
};

/// Those where knobs may lie, in order, whose values begin as numbers do or hold the constant before the
/// comment. None if the blocks' markers are broken.
std::vector<NearKnob> find_near_knobs(const Source& source);

/// "knob kTile (kernel.cpp:3) is 64 of 8 16 32 64"; `path` is what its file is called.
std::string describe(const Knob& knob, std::string_view path);

/// "kernel.cpp:3: `@tunes 1 4` makes no knob; `@tune 1 4` would"; likewise.
std::string describe(const NearKnob& knob, std::string_view path);

/// `source` with each knob set: `choice[i]` is an index in the values of the i-th knob of find_knobs(source).
/// `invalid_argument` for another number of choices or an index past a list's end.
Result<Source> with_knobs(const Source& source, std::span<const std::size_t> choice);

/// The number that a literal begins with, whatever its suffix; empty for anything else.
std::optional<double> number_of(std::string literal);

/// The index of the listed value that `value` is, or else, among numbers, of the one nearest to it (the first
/// of two). Empty if it is neither one of them nor a number.
std::optional<std::size_t> nearest_value(const std::string& value, std::span<const std::string> listed);

}  // namespace kernelsmith
