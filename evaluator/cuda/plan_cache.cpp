#include "plan_cache.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>
#include <variant>

#include "launch_profiles.hpp"
#include "runner/loaded_plan.hpp"

namespace kernelsmith::cuda {
namespace {

std::vector<plan::Kernel> kernels_of(const CudaBinary& binary) {
  std::vector<plan::Kernel> kernels;
  for (const KernelFacts& facts : binary.facts().kernels) kernels.push_back(facts.kernel);
  return kernels;
}

Failure at_shape(const Failure& failure, const TaskShape& shape) {
  const Rejection* const rejection = std::get_if<Rejection>(&failure);
  if (!rejection || shape.name.empty()) return failure;
  return reject(rejection->stage, rejection->code, rejection->diagnostics + " (at " + shape.name + ")");
}

struct PlannedShape {
  plan::Plan plan;
  std::set<std::string> left_out;
};

/// Each shape has a planner of its own. Then work that host code does only in its first call happens in each
/// batch's first call, and the addresses of one shape reveal nothing about another's.
Judged<PlannedShape> plan_shape(const PlanSetup& setup, const CudaBinary& binary, const CallAddresses& where,
                                std::size_t shape, const std::stop_token& stop) {
  plan::Plan plan;
  plan.cubins = {binary.image()};
  plan.kernels = kernels_of(binary);
  plan.workspace = where.workspace;
  PlannerSettings settings = setup.planner;
  settings.workspace = where.workspace;
  auto planner = Planner::start(settings, binary.host_library(), plan.kernels, binary.facts().symbols, stop);
  if (!planner) return planner.error();
  for (const std::vector<plan::Buffer>& tensors : where.buffers[shape]) {
    auto call = (*planner)->plan(tensors, setup.shapes[shape].arguments, setup.timeout_s);
    if (!call) return at_shape(call.error(), setup.shapes[shape]);
    plan.calls.push_back(std::move(*call));
  }
  return PlannedShape{std::move(plan), (*planner)->left_out()};
}

}  // namespace

Judged<PlannedBinaryPtr> plan_binary(const PlanSetup& setup, const CudaBinaryPtr& binary,
                                     const CallAddressesPtr& where, const std::stop_token& stop) {
  std::vector<std::future<Judged<PlannedShape>>> planning;
  for (std::size_t shape = 0; shape < setup.shapes.size(); ++shape)
    planning.push_back(std::async(std::launch::async,
                                  [&, shape] { return plan_shape(setup, *binary, *where, shape, stop); }));
  auto planned = std::make_shared<PlannedBinary>();
  planned->binary = binary;
  planned->where = where;
  std::optional<Failure> failure;
  for (auto& shape : planning) {
    auto made = shape.get();
    if (!made) {
      if (!failure) failure = made.error();
      continue;
    }
    planned->by_shape.push_back(std::move(made->plan));
    planned->left_out.merge(made->left_out);
  }
  if (failure) return *failure;
  return PlannedBinaryPtr(std::move(planned));
}

PlanFunction planning_with(PlanSetup setup) {
  return [setup = std::move(setup)](const CudaBinaryPtr& binary, const CallAddressesPtr& where,
                                    const std::stop_token& stop) {
    return plan_binary(setup, binary, where, stop);
  };
}

void PlanCache::move_to(CallAddressesPtr where) {
  const MutexLock lock(mutex_);
  where_ = std::move(where);
  planned_.clear();
}

CallAddressesPtr PlanCache::where() const {
  const MutexLock lock(mutex_);
  return where_;
}

Judged<PlannedBinaryPtr> PlanCache::find_or_plan(const CudaBinaryPtr& binary, const std::stop_token& stop) {
  CallAddressesPtr where;
  {
    const MutexLock lock(mutex_);
    where = where_;
    const auto found = std::ranges::find_if(
        planned_, [&](const PlannedBinaryPtr& one) { return one->binary->digest() == binary->digest(); });
    if (found != planned_.end()) {
      planned_.splice(planned_.begin(), planned_, found);
      return planned_.front();
    }
  }
  auto planned = plan_(binary, where, stop);
  if (!planned) return planned.error();
  const MutexLock lock(mutex_);
  if (where == where_) planned_.push_front(*planned);
  if (planned_.size() > kMost) planned_.pop_back();
  return std::move(*planned);
}

std::vector<const plan::Launch*> launches_of(const PlannedBinary& planned) {
  std::vector<const plan::Launch*> launches;
  for (const plan::Operation& operation : planned.by_shape.front().calls.front().operations)
    if (const auto* const launch = std::get_if<plan::Launch>(&operation.what)) launches.push_back(launch);
  return launches;
}

std::map<std::string, double> features_of(const PlannedBinary& planned, const DeviceFacts& device) {
  std::map<std::string, double> features = {
      {"registers", 0}, {"spill_bytes", 0}, {"shared_bytes", 0}, {"tensor_cores", 0}, {"launches", 0}};
  for (const LaunchProfile& launch : launch_profiles(planned, device)) {
    const auto at_least = [&](const char* name, double value) {
      features[name] = std::max(features[name], value);
    };
    at_least("registers", launch.registers);
    at_least("spill_bytes", static_cast<double>(launch.local_bytes));
    at_least("shared_bytes", static_cast<double>(launch.shared_bytes));
    at_least("tensor_cores", launch.tensor_cores ? 1 : 0);
    features["launches"] += 1;
    at_least("waves", launch.waves);
    const auto [occupancy, first] = features.emplace("occupancy", launch.occupancy);
    if (!first) occupancy->second = std::min(occupancy->second, launch.occupancy);
  }
  return features;
}

double peak_memory(const PlannedBinary& planned, std::size_t timed) {
  std::uint64_t most = 0;
  for (std::size_t shape = 0; shape < timed; ++shape) {
    const plan::Call& call = planned.by_shape[shape].calls.front();
    std::uint64_t bytes = call.kept_workspace + call.call_workspace;
    for (const plan::Buffer& buffer : planned.where->buffers[shape].front()) bytes += buffer.bytes;
    most = std::max(most, bytes);
  }
  return static_cast<double>(most);
}

std::string kernel_table(const PlannedBinary& planned) {
  std::ostringstream text;
  std::set<std::string> lines;
  for (const plan::Launch* const launch : launches_of(planned)) {
    const KernelFacts& facts = planned.binary->facts().kernels[launch->kernel];
    std::ostringstream line;
    line << plan::readable_name(facts.kernel.name) << ": grid " << text_of(launch->grid) << ", block "
         << text_of(launch->block);
    if (launch->cluster) line << ", cluster " << text_of(*launch->cluster);
    line << ", " << facts.kernel.registers << " registers a thread, "
         << facts.kernel.static_shared + launch->dynamic_shared << " bytes of shared memory a block";
    if (facts.kernel.local > 0)
      line << ", " << facts.kernel.local << " bytes a thread in local memory (spills or arrays)";
    if (facts.tensor_cores) line << ", uses tensor cores";
    line << "\n";
    if (lines.insert(line.str()).second) text << line.str();
  }
  return text.str();
}

std::string plan_text(const PlannedBinary& planned, const Task& task) {
  const plan::Plan& plan = planned.by_shape.front();
  std::vector<plan::NamedBuffer> named;
  for (std::size_t t = 0; t < task.tensors.size(); ++t)
    named.push_back({task.tensors[t].name, planned.where->buffers.front().front()[t]});
  std::string text = plan::describe(plan.calls.front(), plan.kernels, named, plan.workspace);
  if (text.empty()) text = "nothing: the entry launches, copies and sets nothing at these sizes\n";
  for (const std::string& what : planned.left_out) text += "left out, without effect here: " + what + "\n";
  return text;
}

}  // namespace kernelsmith::cuda
