// "Did you mean": the known name nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kernelsmith {

/// The candidate with the smallest edit distance (insertions, deletions, substitutions and swapped
/// neighbours), or the first of equals. Empty if even this candidate differs in more than a third of its
/// letters (a difference of one letter is always allowed).
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);

/// "did you mean NAME?", or the list of candidates if none is near. For Error::hint.
std::string name_hint(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace kernelsmith
