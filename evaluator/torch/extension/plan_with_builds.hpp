// Plans candidates with C++ extensions: plan, build, plan again.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

#include "extension/build_service.hpp"
#include "planner_pool.hpp"

namespace kernelsmith::torch {

/// The builder of extensions, and the folders that builds can read.
struct Builder {
  std::shared_ptr<BuildService> service;
  std::vector<std::filesystem::path> include;  ///< folders of headers that the task declares
};

/// Plans the candidate after building all its extensions. A planner forks again for each round, and no
/// planner is occupied during compilation. An extension that cannot be built raises an exception in the
/// candidate, and its error is reported in any case (Planned::not_built, or a Rejection's diagnostics).
Judged<Planned> plan_with_builds(PlannerPool& pool, PlanRequest request, const Builder& builder,
                                 const std::stop_token& stop);

}  // namespace kernelsmith::torch
