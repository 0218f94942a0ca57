// Planning of candidates that bring C++ extensions: planned, built, and planned again.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

#include "extension/build_service.hpp"
#include "planner_pool.hpp"

namespace kernelsmith::torch {

/// Where extensions are built, and what they see there.
struct Builder {
  std::shared_ptr<BuildService> service;
  std::vector<std::filesystem::path> include;  ///< folders of headers that the task declares
};

/// Planned once all extensions that it asks for were built: a planner forks anew for each round, and none is
/// held while something is compiled. An extension that cannot be built raises in the candidate, and its error
/// is reported whatever the candidate does then (Planned::not_built, or a Rejection's diagnostics).
Judged<Planned> plan_with_builds(PlannerPool& pool, PlanRequest request, const Builder& builder,
                                 const std::stop_token& stop);

}  // namespace kernelsmith::torch
