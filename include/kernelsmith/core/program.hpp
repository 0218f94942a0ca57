// Program: an immutable source and its parents.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// How a program was made.
enum class Origin {
  seed,       ///< the task's own starting point
  translate,  ///< a translation of the reference into the candidate's language
  edit,       ///< SEARCH/REPLACE edits of its parent
  rewrite,    ///< a rewrite of its parent's blocks
  crossover,  ///< a combination of several parents
  repair,     ///< a repair of a rejected parent, guided by its error
  tune,       ///< a copy of its parent with other knob values
  user,       ///< handed in by hand
};

std::string_view name_of(Origin origin);
std::optional<Origin> origin_from(std::string_view name);

/// A candidate. Immutable by convention: all code holds it through ProgramPtr.
struct Program {
  ProgramId id;
  Source source;
  std::vector<ProgramId> parents;  ///< empty for a seed; the program was derived from the first
  Origin origin = Origin::seed;

  friend bool operator==(const Program&, const Program&) = default;
};

using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace kernelsmith
