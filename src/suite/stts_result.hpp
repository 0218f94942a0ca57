// The result of a trajectory: a record for each of the two tables.
#pragma once

#include <kernelsmith/suite/stts.hpp>

namespace kernelsmith::suite {

/// By the last turn. `best_by_round` has the result of each turn.
TaskResult last_result(const SttsTrajectory& trajectory);

/// By the turn with the largest speedup.
TaskResult best_result(const SttsTrajectory& trajectory);

}  // namespace kernelsmith::suite
