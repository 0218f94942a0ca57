// A suite whose tasks share one budget of evaluations.
#pragma once

#include <stop_token>
#include <vector>

#include <kernelsmith/suite/suite.hpp>

#include "result_folder.hpp"

namespace kernelsmith::suite {

/// search_suite() with an allocation. How far it is stands in the run folders alone: each says which budget
/// its search has and what it found. The results are added when all is handed out.
Result<SuiteReport> search_adaptively(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                      const Registry& registry, SearchHost& host, const std::stop_token& stop,
                                      ResultFolder results);

}  // namespace kernelsmith::suite
