// Knobs: constants that carry a list of values to try, `constexpr int kTile = 64;  // @tune 8 16 32 64`, and
// rules about which values go together, `// @require kTile * kRows <= 1024`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/knob_history.hpp>
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
/// outside the EVOLVE-BLOCKs of a source that has some, if the blocks' markers are wrong, or if a rule is
/// wrong or broken by the values in the source.
Result<std::vector<Knob>> find_knobs(const Source& source);

/// The rules of a source: comments that begin with `@require` and a condition on its knobs. In a condition,
/// `true` and `false` are 1 and 0, and another identifier of a knob's list is equal to itself alone.
class KnobRules {
 public:
  /// Reads the rules of all files. Errors: `bad_input` with file:line for a condition that is broken or has
  /// no value at the knobs' own values, a name that is neither one knob's nor a value's, or a knob with other
  /// values than whole numbers and names.
  static Result<KnobRules> find(const Source& source, const std::vector<Knob>& knobs);

  bool empty() const { return rules_.empty(); }
  /// The first rule that the point breaks, as it is written; empty if there is none. A rule without a value,
  /// such as a division by zero, is broken.
  std::string_view broken_by(std::span<const std::size_t> point) const;
  /// Every point that keeps the rules, in order: the last knob changes fastest.
  std::vector<KnobPoint> points() const;

 private:
  struct Rule {
    std::string text;
    std::vector<std::size_t> knobs;                  ///< indices of those that it names
    std::vector<std::vector<std::int64_t>> numbers;  ///< what stands for each value of these
  };

  Status add(std::string text);
  /// Whether the rule holds for this choice of its knobs' values. `values` are names_, in which the knobs'
  /// are set.
  Result<bool> holds(const Rule& rule, std::span<const std::size_t> choice,
                     std::map<std::string, std::int64_t>& values) const;

  std::vector<Knob> knobs_;
  std::map<std::string, std::int64_t> names_;  ///< the numbers that stand for names in a condition
  std::vector<Rule> rules_;
};

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
/// find_knobs(source). Errors: `invalid_argument` for a wrong number of choices or an index out of range,
/// `bad_input` for a choice that breaks a rule.
Result<Source> with_knobs(const Source& source, std::span<const std::size_t> choice);

/// The number at the beginning of a literal, without its suffix; empty for any other text.
std::optional<double> number_of(std::string literal);

/// The index of `value` in the list. For a number that is not listed, the index of the nearest number (the
/// first, if two are equally near). Empty for any other text.
std::optional<std::size_t> nearest_value(const std::string& value, std::span<const std::string> listed);

}  // namespace kernelsmith
