// Worlds of recorded spaces: a program is a point of a space, or several kernels with a point each.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gene_space.hpp"
#include "problem.hpp"

namespace kernelsmith::bench {

using GeneSpacePtr = std::shared_ptr<const GeneSpace>;

struct World {
  std::vector<GeneSpacePtr> kernels;  ///< the spaces of a program's kernels
  /// A child with another structure than its parent's has nothing else of it: the new structure must be tuned
  /// first.
  bool must_tune = false;
  bool seeded = true;  ///< a seed from the slower half; without one, searches begin with translations
};

BenchTask task_of(std::string name, std::string kind, World world);

/// Which recorded spaces a default is chosen on, and which confirm the choice.
enum class SpaceGroup { choose, confirm };

std::vector<std::string> space_names(SpaceGroup group);

/// By the name of the space.
using RecordedSpaces = std::map<std::string, GeneSpacePtr>;

/// `folder` holds what `tuning_spaces.py --unpack` made. Throws std::runtime_error if a file cannot be read.
RecordedSpaces read_spaces(const std::string& folder, SpaceGroup group);

/// The tasks of the three worlds; the kind is the world's name.
std::vector<BenchTask> world_tasks(const RecordedSpaces& spaces, SpaceGroup group, bool seeded);

}  // namespace kernelsmith::bench
