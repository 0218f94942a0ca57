// What the committer reports to a person beside the events.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/engine/search_state.hpp>

namespace kernelsmith {

/// What is worth telling about a session that goes on with other settings than the one before it.
std::vector<Notice> notices_of_changes(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now);

/// One for each axis that the first accepted program has no number for.
std::vector<Notice> notices_of_axes(const std::vector<AxisSpec>& axes, const Metrics& metrics);

/// A mark of the budget of money was passed.
Notice money_warning(const SearchState& state);

}  // namespace kernelsmith
