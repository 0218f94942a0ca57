#include "task_planner.hpp"

#include <algorithm>
#include <numeric>

#include "plan_figures.hpp"
#include "torch_host.hpp"

namespace kernelsmith::torch {
namespace {

/// The most bytes of JSON for files beside the reference that a planner gets: a message has at most 16 MiB.
constexpr std::size_t kMostBesideReference = std::size_t{12} << 20;
/// Shapes that candidates must not know (docs/production.md).
constexpr const char* kHeldOut = "held_out.toml";
/// The target of plans without a device: Hopper.
constexpr int kUsualArch = 90;

}  // namespace

TaskPlanner::TaskPlanner(std::shared_ptr<const Task> task, std::shared_ptr<PlannerPool> pool,
                         std::shared_ptr<BuildService> extensions, std::string other_arch)
    : task_(std::move(task)),
      torch_(torch_settings(*task_).value()),
      workloads_(workloads_of(torch_)),
      all_(workloads_.size()),
      pool_(std::move(pool)),
      builder_{std::move(extensions), {torch_.include.begin(), torch_.include.end()}},
      other_arch_(std::move(other_arch)),
      arch_(kUsualArch) {
  std::iota(all_.begin(), all_.end(), std::size_t{0});
  chosen_ = all_;
  std::size_t left = kMostBesideReference;
  for (const SourceFile& file : task_->files) {
    if (!is_utf8(file.path) || !is_utf8(file.text) || file.path == kHeldOut) continue;
    const std::size_t size = Json(file.text).dump().size();
    if (size > left) continue;
    left -= size;
    beside_.push_back(file);
  }
}

Judged<Planned> TaskPlanner::plan_reference(const std::stop_token& stop) const {
  return plan_with_builds(*pool_, request_for(std::nullopt, all_), builder_, stop);
}

Judged<Planned> TaskPlanner::plan_everywhere(const Source& source, const std::stop_token& stop) const {
  return plan_at(source, all_, stop);
}
Judged<Planned> TaskPlanner::plan(const Source& source, const std::stop_token& stop) const {
  return plan_at(source, chosen_, stop);
}

Judged<PlanPtr> TaskPlanner::completed(const PlanPtr& plan, const std::stop_token& stop) const {
  std::vector<std::size_t> others;
  for (const std::size_t workload : all_)
    if (plan->bytes(workload).empty()) others.push_back(workload);
  if (others.empty()) return plan;
  auto planned = plan_with_builds(*pool_, request_for(plan->source(), std::move(others)), builder_, stop);
  if (!planned) return planned.error();
  std::vector<std::string> parts = plan->parts();
  for (std::size_t workload = 0; workload < parts.size(); ++workload)
    if (parts[workload].empty()) parts[workload] = planned->plan->bytes(workload);
  return std::make_shared<const Plan>(std::move(parts), plan->source());
}

Judged<PlanPtr> TaskPlanner::plan_baseline(const std::stop_token& stop) const {
  const SourceFile* const module = baseline_module(*task_).value();
  if (module == nullptr) return PlanPtr();
  auto planned = plan_file(*module, all_, stop);
  if (!planned) return planned.error();
  return planned->plan;
}

Judged<Planned> TaskPlanner::plan_at(const Source& source, const std::vector<std::size_t>& workloads,
                                     const std::stop_token& stop) const {
  if (source.files().size() != 1)
    return reject(Stage::parse, RejectionCode::unreadable,
                  "a candidate is one Python file, not " + std::to_string(source.files().size()));
  auto planned = plan_file(source.files().front(), workloads, stop);
  if (!planned) return planned;
  if (torch_.policy == "own_kernels" && planned->figures["launches"] == 0)
    return no_own_kernels(Stage::plan, planned->not_built);
  const auto trivial_at = [&](std::size_t workload) {
    return !heavy_.empty() && is_trivial(heavy_[workload], planned->heavy[workload]);
  };
  planned->figures["trivial"] = std::ranges::any_of(workloads, trivial_at) ? 1 : 0;
  return planned;
}

Judged<Planned> TaskPlanner::plan_file(const SourceFile& file, const std::vector<std::size_t>& workloads,
                                       const std::stop_token& stop) const {
  if (!is_utf8(file.path) || !is_utf8(file.text))
    return reject(Stage::parse, RejectionCode::unreadable, "the candidate is not UTF-8");
  return plan_with_builds(*pool_, request_for(file, workloads), builder_, stop);
}

PlanRequest TaskPlanner::request_for(std::optional<SourceFile> file,
                                     std::vector<std::size_t> workloads) const {
  PlanRequest request{std::string(task_->reference.main_text()), std::move(file), arch_, torch_.cast};
  request.other_arch = other_arch_;
  request.workloads = workloads_;
  request.files = beside_;
  request.chosen = std::move(workloads);
  return request;
}

}  // namespace kernelsmith::torch
