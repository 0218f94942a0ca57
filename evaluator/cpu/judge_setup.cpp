// How a judge is made: the bank, the task's own objects checked, the scale measured.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/statistics.hpp>

#include "abba.hpp"
#include "hardware.hpp"
#include "judge.hpp"
#include "one_by_one.hpp"

namespace kernelsmith {
namespace {

/// A process that is loaded maps the whole arena, which costs about a millisecond for 15 MB.
constexpr std::size_t kArenaBytesOfShape = std::size_t{8} << 20;
constexpr std::size_t kMostSlots = 192;

/// A failure of something that the task vouches for.
Error task_at_fault(const Failure& failure, const std::string& what) {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  const Rejection& rejection = std::get<Rejection>(failure);
  const bool inaccurate = rejection.code == RejectionCode::wrong_output;
  return fail(
      ErrorCode::refused,
      "the task's " + what + (what == "reference" ? ", as it is written," : "") + " fails its own check (" +
          std::string(name_of(rejection.code)) + "): " + rejection.diagnostics,
      "files: " + what,
      inaccurate ? "if it is right but for rounding, it loses digits where numbers cancel out, or the "
                   "reference does, even in double precision: write that without a difference, give the task "
                   "an exact oracle (files: oracle), or declare tolerance: {policy: normwise}, which judges "
                   "an output as a whole"
                 : "");
}

}  // namespace

Judge::Judge(JudgeParts parts)
    : parts_(std::move(parts)),
      shapes_(shapes_of(*parts_.task)),
      runners_(std::make_unique<RunnerPool>(parts_.runner)),
      roofline_(*parts_.task, shapes_, parts_.build),
      hardware_(processor_name()) {}

Result<std::unique_ptr<Judge>> Judge::create(JudgeParts parts) {
  std::unique_ptr<Judge> judge(new Judge(std::move(parts)));
  if (auto s = judge->prepare(); !s) return s.error();
  return judge;
}

Status Judge::prepare() {
  if (auto s = draw_bank(); !s) return s;
  for (auto* arena : {&candidate_arena_, &yardstick_arena_}) {
    auto made = make_arena();
    if (!made) return made.error();
    *arena = std::make_unique<Arena>(std::move(*made));
  }
  const bool is_reference = parts_.task->baseline == parts_.task->reference;
  if (auto s = verify(parts_.baseline, is_reference ? "reference" : "baseline"); !s) return s;
  if (parts_.seed)
    if (auto s = verify(parts_.seed, "seed"); !s) return s;
  if (parts_.yardstick != parts_.seed && parts_.yardstick != parts_.baseline)
    if (auto s = verify(parts_.yardstick, "yardstick"); !s) return s;
  if (auto s = measure_empty_request(); !s) return s;
  yardstick_ =
      std::make_unique<LoadedObject>(object_for(parts_.yardstick, *yardstick_arena_, Trust::trusted));
  auto compared = compare_baseline();
  std::map<std::string, double> no_evaluations;
  yardstick_->take_costs("yardstick", no_evaluations);
  runners_->bury();
  return compared;
}

Status Judge::draw_bank() {
  auto bank = make_bank(*parts_.task, shapes_, *parts_.oracle, parts_.runner, parts_.bank);
  if (!bank) return bank.error();
  bank_ = std::move(*bank);
  return {};
}

Result<Arena> Judge::make_arena() const {
  std::vector<TensorRole> roles;
  for (const TensorSpec& tensor : parts_.task->tensors) roles.push_back(tensor.role);
  std::vector<ArenaShape> places;
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ArenaShape& place = places.emplace_back();
    place.sizes = shapes_[s].sizes;
    for (const TensorExtent& extent : shapes_[s].extents) place.tensor_bytes.push_back(extent.bytes);
    const std::size_t fitting = kArenaBytesOfShape / std::max<std::size_t>(shapes_[s].bytes(), 1);
    // No more than a pair takes, or all at once where there are none.
    const std::size_t sets = bank_[s].size();
    const std::size_t wanted = shapes_[s].timed ? std::max<std::size_t>(sets * 2 / 3, 1) : sets;
    if (shapes_[s].timed) place.streamed = streamed_tensors(*parts_.task, shapes_[s]);
    place.slots = std::min(wanted, std::clamp<std::size_t>(fitting, 2, kMostSlots));
  }
  return Arena::create(roles, std::move(places));
}

Status Judge::verify(const CpuBinaryPtr& object, const char* what) {
  LoadedObject checked = object_for(object, *candidate_arena_, Trust::candidate);
  if (auto ok = check_all_shapes(checked, parts_.task->threads > 1, {}); !ok)
    return task_at_fault(ok.error(), what);
  tier_ = parts_.runner.unsandboxed ? "unsandboxed" : checked.full_tier() ? "full" : "weak";
  return {};
}

Status Judge::measure_empty_request() {
  constexpr std::size_t kRequests = 31;
  LoadedObject trusted = object_for(parts_.yardstick, *yardstick_arena_, Trust::trusted);
  std::vector<double> times;
  for (std::size_t i = 0; i < kRequests; ++i) {
    const auto time = trusted.empty_batch();
    if (!time) return task_at_fault(time.error(), "yardstick");
    times.push_back(*time);
  }
  empty_request_us_ = median_of(times);
  return {};
}

Status Judge::compare_baseline() {
  if (parts_.yardstick->digest() == parts_.baseline->digest()) {
    // Those who are timed beside it are not like it.
    scale_ = with_floor(Measurement::exact(1, "x"), kFloorAgainstBaseline);
    baseline_over_yardstick_.assign(parts_.task->timed.size(), scale_);
    return {};
  }
  LoadedObject baseline = object_for(parts_.baseline, *candidate_arena_, Trust::trusted);
  const std::vector<StoppingRule> rules(parts_.task->timed.size(), kOfBaseline);
  const auto found = time_abba(baseline, *yardstick_, *yardstick_, rules, {});
  if (!found) return task_at_fault(found.error(), "baseline");
  std::vector<Measurement> by_shape;
  for (const AbbaRatios& yardstick_over_baseline : *found)
    by_shape.push_back(
        quotient(Measurement::exact(1, "x"), median_interval(yardstick_over_baseline.ratios, "x"), "x"));
  scale_ = with_floor(geometric_mean(by_shape, "x"), kFloorAgainstBaseline);
  for (const Measurement& ratio : by_shape)
    baseline_over_yardstick_.push_back(with_floor(ratio, kFloorAgainstBaseline));
  return {};
}

}  // namespace kernelsmith
