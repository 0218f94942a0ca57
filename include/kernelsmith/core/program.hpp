// Program: an immutable source with its descent.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// What made a program.
enum class Origin {
  seed,       ///< the task's own starting point
  translate,  ///< from the reference's language into the candidate's
  edit,       ///< SEARCH/REPLACE on its parent
  rewrite,    ///< its parent's blocks written anew
  crossover,  ///< from several parents
  repair,     ///< from a rejected parent and its error
  tune,       ///< its parent with other knob values
  user,       ///< handed in by hand
};

std::string_view name_of(Origin origin);
std::optional<Origin> origin_from(std::string_view name);

/// A candidate. Immutable by convention: it is only ever held through ProgramPtr.
struct Program {
  ProgramId id;
  Source source;
  std::vector<ProgramId> parents;  ///< empty for a seed; the first is the one it was derived from
  Origin origin = Origin::seed;

  friend bool operator==(const Program&, const Program&) = default;
};

using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace kernelsmith
