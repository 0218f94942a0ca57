// A suite whose tasks share one budget of evaluations.
#pragma once

#include <stop_token>
#include <vector>

#include <kernelsmith/suite/suite.hpp>

#include "result_folder.hpp"

namespace kernelsmith::suite {

/// search_suite() with an allocation. All progress is in the run folders: each has the budget and results of
/// its search. The report's results are added when the budget is used up.
Result<SuiteReport> search_adaptively(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                      const Registry& registry, SearchHost& host, const std::stop_token& stop,
                                      ResultFolder results);

}  // namespace kernelsmith::suite
