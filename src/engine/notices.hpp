// The committer's notices to people, in addition to events.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/engine/search_state.hpp>

namespace kernelsmith {

/// Notices about a session with other settings than the previous one.
std::vector<Notice> notices_of_changes(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now);

/// One for each axis whose feature the first accepted program lacks.
std::vector<Notice> notices_of_axes(const std::vector<AxisSpec>& axes, const Metrics& metrics);

/// The notice that the spending passed a mark of the budget.
Notice money_warning(const SearchState& state);

}  // namespace kernelsmith
