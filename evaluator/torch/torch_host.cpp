#include "torch_host.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

#include <kernelsmith/evaluator/call_limit.hpp>
#include <kernelsmith/evaluator/device_memory.hpp>
#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>

#include "torch_session.hpp"

namespace kernelsmith::torch {
namespace {

/// Places for candidate, yardstick and rival.
constexpr std::size_t kPlaces = 3;
/// Events of one graph launch scatter by about half a microsecond, 0.25 % of a batch.
constexpr double kBatchNoiseUs = 0.5;
/// Ratios of the same plan in five processes vary by 0.4 %.
constexpr double kLikeWithLike = 0.005;

/// The floors for the reference, which is its own yardstick, and for a module of the task, which is another
/// program.
Floors floors_of(const TorchSettings& torch) {
  return {.like_with_like = kLikeWithLike,
          .short_call = 0.01,
          .short_us = 5,
          .against_baseline = torch.module.empty() ? 0 : kLikeWithLike,
          .times = 0.02};
}

/// The bandwidth of the best of a few large copies is not exact. The other backends' rooflines have the same
/// margin.
constexpr double kMargin = 0.25;
/// The most parts of a call that a proposer sees; the rest is short.
constexpr std::size_t kMostParts = 12;
/// The number of sets of a variant that is only checked, not timed.
constexpr std::size_t kCheckSets = 2;
/// The number of timed sets, in batches. With two, consecutive batches use different sets.
constexpr std::size_t kTimedBatches = 2;
/// The judge's minimum of timed sets: two for the check, and two for each of a duel's rounds.
constexpr std::size_t kLeastTimedSets = 8;

std::uint64_t secret_seed() { return draw_key()[0] >> 1; }  // 63 bits: PyTorch's seeds are signed

Json preparation_of(const ReferenceSettings& settings, const ReferenceFacts& reference) {
  Json workloads = Json::array();
  for (const WorkloadFacts& one : reference.workloads) {
    Json& told = workloads.emplace_back(json_of(one.told));
    told.update({{"slots", one.slots}, {"memory", one.memory}, {"outputs", one.layouts}});
  }
  return {{"do", "prepare"},
          {"reference", settings.reference.string()},
          {"precision", settings.torch.precision},
          {"cast", settings.torch.cast},
          {"workloads", std::move(workloads)},
          {"kernels", own_kernels()}};
}

/// The timed shapes, then the others: of each workload, its variants.
std::vector<TorchHost::Shape> shapes_in(const ReferenceFacts& reference) {
  std::vector<TorchHost::Shape> timed, others;
  for (std::size_t workload = 0; workload < reference.workloads.size(); ++workload) {
    const WorkloadFacts& facts = reference.workloads[workload];
    for (std::size_t variant = 0; variant < facts.variants.size(); ++variant)
      (variant == 0 && !facts.told.check ? timed : others).push_back({workload, variant});
  }
  timed.insert(timed.end(), others.begin(), others.end());
  return timed;
}

}  // namespace

Failure no_own_kernels(Stage stage, const std::string& not_built) {
  if (!not_built.empty())
    return reject(Stage::compile, RejectionCode::compile_failed,
                  not_built + "The candidate caught that, and its call launches no kernel of its own");
  return reject(
      stage, RejectionCode::forbidden_construct,
      "the call launches no kernel of the candidate's own, only PyTorch's operators: write a Triton "
      "kernel, or one in CUDA C++ (a task takes any module by torch: {policy: any})");
}

std::string memory_text(const ReferenceFacts& reference) {
  const Json& memory = reference.largest().memory;
  if (count_at(memory, "inputs") == 0) return {};
  const auto size = [&](const char* key) { return gibibytes(count_at(memory, key)); };
  std::string text = "a call: inputs " + size("inputs") + ", outputs and temporaries " + size("call") +
                     "; its truth " + size("truth") + ", and " + size("wide") + " while it is computed";
  text += "; all processes: " + size("need") + "; candidate and truth " +
          (member(memory, "together") == true ? "together" : "one after the other") +
          (member(memory, "truth_on_host") == true ? ", the truth in the host's memory" : "");
  return text;
}

TorchHost::TorchHost(ReferenceProcess& process, WorkerStart start, Spares runners,
                     const ReferenceSettings& settings, DeviceFacts device, ReferenceFacts reference,
                     bool sandboxed)
    : wants_own_kernels_(settings.torch.policy == "own_kernels"),
      reference_process_(process),
      reference_(std::move(reference)),
      shapes_(shapes_in(reference_)),
      runners_(std::move(start), preparation_of(settings, reference_), process.limits().start_s,
               std::move(runners)),
      traits_{.tier = sandboxed ? "full" : "unsandboxed",
              .hardware = std::move(device.hardware),
              .batch_noise_us = kBatchNoiseUs,
              .places = kPlaces,
              .batch_us = settings.batch_us,
              .isolated_calls = true,
              .floors = floors_of(settings.torch),
              .over_yardstick = kOverYardstick,
              .programs = reference_.workloads.size()} {}

Judged<std::unique_ptr<KernelSession>> TorchHost::open(const BinaryPtr& binary, Trust, std::size_t place,
                                                       const std::stop_token& stop) {
  if (std::dynamic_pointer_cast<const Reference>(binary))
    return std::unique_ptr<KernelSession>(std::make_unique<ReferenceSession>(*this, stop));
  const auto plan = std::dynamic_pointer_cast<const Plan>(binary);
  if (!plan) return Failure(fail(ErrorCode::internal, "no binary of the torch backend"));
  auto runner = runners_.take(plan, place, stop);
  if (!runner) return Failure(runner.error());
  auto session = std::make_unique<PlanSession>(*this, plan, **runner, stop);
  // With several workloads the first batch decides which plan is loaded.
  if (plan->parts().size() == 1)
    if (const auto loaded = session->load(0); !loaded) return loaded.error();
  return std::unique_ptr<KernelSession>(std::move(session));
}

Judged<void> TorchHost::load(const Plan& plan, std::size_t workload, TrustedProcess& runner,
                             const std::stop_token& stop) {
  const double limit_s = reference_process_.limits().load_s + call_s_;
  const auto loaded =
      runner.ask({{"do", "load"}, {"workload", workload}, {"call_s", call_s_}, {"alone", alone_}},
                 plan.bytes(workload), limit_s, stop);
  if (!loaded) return believed(loaded.error(), stop);
  // The planner is untrusted; this value is from the runner.
  if (wants_own_kernels_ && &plan != baseline_.get() && count_at(loaded->json, "launches") == 0)
    return no_own_kernels(Stage::plan);
  return {};
}

Failure TorchHost::believed(const Failure& failure, const std::stop_token& stop) {
  const auto* const rejection = std::get_if<Rejection>(&failure);
  if (!rejection || rejection->stage != Stage::run) return failure;
  InputSet set;
  set.seed = secret_seed();
  const auto works = reference_process_.ask(batch_request("yardstick", 0, 0, {&set}),
                                            reference_process_.limits().compare_s, stop);
  if (works) return failure;
  Error error = machine_error(works.error());
  if (error.code != ErrorCode::cancelled)
    error.message = "the GPU failed: the reference does not run any more either (" + error.message + ")";
  return error;
}

Result<double> TorchHost::least_us(std::size_t shape, const InputSet&) {
  if (reference_.bytes_per_us <= 0) return 0.0;
  return at(shape).compulsory_bytes / reference_.bytes_per_us * (1 - kMargin);
}

std::vector<TaskShape> TorchHost::shapes() const {
  const std::vector<WorkloadFacts>& workloads = reference_.workloads;
  double sum = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  for (const WorkloadFacts& one : workloads) {
    if (one.told.check) continue;
    sum += one.told.weight;
    least = std::min(least, one.told.weight);
    most = std::max(most, one.told.weight);
  }
  std::vector<TaskShape> shapes;
  for (const auto& [workload, variant] : shapes_) {
    const WorkloadFacts& facts = workloads[workload];
    TaskShape& shape = shapes.emplace_back();
    shape.name = facts.told.name;
    if (shape.name.empty() || variant > 0)
      shape.name += (shape.name.empty() ? "" : " ") + facts.variants[variant];
    shape.extents = facts.extents;
    shape.tolerance = facts.told.tolerance;
    shape.timed = variant == 0 && !facts.told.check;
    if (shape.timed && least < most) shape.weight = facts.told.weight / sum;
  }
  return shapes;
}

std::vector<std::size_t> TorchHost::shapes_of(const std::vector<std::size_t>& workloads) const {
  const std::size_t smallest = *std::ranges::min_element(
      workloads, {}, [&](std::size_t one) { return reference_.workloads[one].bytes_moved(); });
  std::vector<std::size_t> chosen;
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape)
    if (std::ranges::count(workloads, shapes_[shape].workload) > 0 &&
        (shapes_[shape].variant == 0 || shapes_[shape].workload == smallest))
      chosen.push_back(shape);
  return chosen;
}

Result<Bank> TorchHost::draw_bank() const {
  Bank bank;
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    const std::size_t timed = std::max(kTimedBatches * at(shape).slots + kCheckSets, kLeastTimedSets);
    auto& sets = bank.emplace_back(shapes_[shape].variant == 0 && !at(shape).told.check ? timed : kCheckSets);
    for (InputSet& set : sets) set.seed = secret_seed();
  }
  return bank;
}

void TorchHost::release() {
  runners_.end_all();
  reference_process_.release();
}

double TorchHost::now_s() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count() - runners_.waited_s();
}

std::optional<Profile> TorchHost::profile(const PlanPtr& plan, std::size_t workload,
                                          const std::stop_token& stop) {
  TrustedProcess* const runner = runners_.find(plan);
  if (!runner) return std::nullopt;
  // The runner has the plan of the workload that was timed last.
  if (plan->parts().size() > 1 && !load(*plan, workload, *runner, stop)) return std::nullopt;
  const auto reply = runner->ask({{"do", "profile"}}, reference_process_.limits().load_s, stop);
  if (!reply) return std::nullopt;
  Profile profile;
  profile.own_share = number_at(reply->json, "own_share");
  profile.peak_bytes = number_at(reply->json, "peak_bytes");
  std::vector<std::pair<double, std::string>> parts;
  for (const Json& operation : member(reply->json, "ops")) {
    const double us = number_at(operation, "us");
    std::ostringstream line;
    line << std::fixed << std::setprecision(2) << std::setw(10) << us << " us  "
         << plan::readable_name(text_at(operation, "name"))
         << (member(operation, "own") == true ? "  (own)" : "") << '\n';
    profile.table += line.str();
    parts.emplace_back(us, line.str());
  }
  std::ranges::stable_sort(parts, std::greater<>(), &decltype(parts)::value_type::first);
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  for (const auto& [us, line] : parts) profile.longest += line;
  return profile;
}

}  // namespace kernelsmith::torch
