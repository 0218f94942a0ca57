#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/judge.hpp>
#include <kernelsmith/evaluator/statistics.hpp>

#include "judge/check.hpp"
#include "judge/constants.hpp"
#include "judge/decision.hpp"
#include "judge/preparation.hpp"
#include "judge/timing_rounds.hpp"
#include "truth/bank.hpp"

namespace kernelsmith {
namespace judge {
namespace {

constexpr timing::StoppingRule kSearch{kLeastInSearch, kRoundsInSearch, kTargetInSearch, kClearlyWorse};
constexpr timing::StoppingRule kCareful{kLeastWithCare, kRoundsWithCare, kTargetWithCare, 0};

/// The players of one evaluation.
struct Players {
  Player candidate, yardstick;
  std::optional<Player> rival;

  std::vector<Player*> all() {
    std::vector<Player*> all = {&candidate, &yardstick};
    if (rival) all.push_back(&*rival);
    return all;
  }
};

/// Adds the wall time of its lifetime to `spent_ms`.
class ScopedTimer {
 public:
  ScopedTimer(const std::function<double()>& now_s, double& spent_ms)
      : now_s_(now_s), spent_ms_(spent_ms), start_s_(now_s()) {}
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  ~ScopedTimer() { spent_ms_ += (now_s_() - start_s_) * 1e3; }

 private:
  const std::function<double()>& now_s_;
  double& spent_ms_;
  double start_s_;
};

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The shapes of an evaluation, and what was measured there of the task's own kernels.
struct Scope {
  std::vector<TaskShape> shapes;
  std::vector<double> yardstick_us;  ///< by timed shape
  Scale scale;
};

/// The part of a scope with these shapes, by number.
Scope part_of(const Scope& whole, const std::vector<std::size_t>& numbers, double floor) {
  Scope part;
  std::vector<double> weights;
  for (const std::size_t number : numbers) {
    const TaskShape& shape = part.shapes.emplace_back(whole.shapes[number]);
    if (!shape.timed) continue;
    part.yardstick_us.push_back(whole.yardstick_us[number]);
    part.scale.by_shape.push_back(whole.scale.by_shape[number]);
    if (shape.weight) weights.push_back(*shape.weight);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  for (TaskShape& shape : part.shapes)
    if (shape.weight) *shape.weight /= sum;
  part.scale.mean = with_floor(geometric_mean(part.scale.by_shape, "x", weights), floor);
  return part;
}

class TaskJudge final : public Judge {
 public:
  explicit TaskJudge(JudgeParts parts) : parts_(std::move(parts)) {
    all_.shapes = parts_.shapes.empty() ? shapes_of(*parts_.task) : parts_.shapes;
    for (std::size_t number = 0; number < all_.shapes.size(); ++number) all_.shapes[number].number = number;
    if (!parts_.now_s) parts_.now_s = steady_now_s;
  }

  Status prepare(const std::stop_token& stop);
  Result<Evaluation> evaluate(const RunRequest& request, const std::stop_token& stop) override;

 private:
  Context context(const Scope& scope, std::stop_token stop) const {
    return {*parts_.task, scope.shapes, bank_, *parts_.host, parts_.now_s, limit_, std::move(stop)};
  }
  void limit_calls();
  Status draw_bank(const std::stop_token& stop);
  bool has_unmoved_output() const;
  Report begin_report(const Scope& scope, const Report& of_compilation) const;
  void finish_report(Players& players, Report& report) const;
  Judged<Measurement> examine(const Scope& scope, const Context& context, Players& players,
                              const RunRequest& request, Report& report);
  Judged<void> check(const Scope& scope, const Context& context, Players& players, const RunRequest& request,
                     Report& report);
  Judged<TimingResult> time(const Scope& scope, const Context& context, Players& players,
                            const RunRequest& request, Report& report);
  Judged<Measurement> decide(const Scope& scope, const Context& context, TimingResult timed,
                             const RunRequest& request, Report& report);
  Judged<void> check_plausible(const Context& context, const std::vector<ShapeScore>& scores);

  JudgeParts parts_;
  Scope all_;
  std::optional<Scope> quick_;  ///< if JudgeParts names such shapes
  Bank bank_;
  CallLimit limit_;
  bool degenerate_ = false;  ///< an output has the same truth for all sets of inputs
  std::map<Digest, Pool> pools_;
};

/// Computes one limit for all shapes from the yardstick's longest call. Until that time is known, the limit
/// of the task's own kernels is so large that only a hanging kernel exceeds it.
void TaskJudge::limit_calls() {
  const double task_s = parts_.task->timeout_s, over_yardstick = parts_.host->traits().over_yardstick;
  if (over_yardstick == 0) {
    limit_ = {task_s, 0};
  } else if (all_.yardstick_us.empty()) {
    limit_ = {std::max(task_s, kUnknownCallS), 0};
  } else {
    const double longest_us = std::ranges::max(all_.yardstick_us);
    limit_ = {std::max(task_s, over_yardstick * longest_us / 1e6), longest_us};
  }
  parts_.host->limit_calls(limit_.s);
}

Status TaskJudge::prepare(const std::stop_token& stop) {
  std::map<std::string, double> unused, &spent_ms = parts_.spent_ms ? *parts_.spent_ms : unused;
  limit_calls();
  if (auto drawn = draw_bank(stop); !drawn) return drawn;
  degenerate_ = parts_.draw_bank ? parts_.degenerate : has_unmoved_output();
  const bool is_reference = parts_.task->baseline == parts_.task->reference;
  std::vector<std::pair<BinaryPtr, std::string>> trusted = {
      {parts_.baseline, is_reference ? "reference" : "baseline"}};
  if (parts_.seed) trusted.emplace_back(parts_.seed, "seed");
  if (parts_.yardstick != parts_.seed && parts_.yardstick != parts_.baseline)
    trusted.emplace_back(parts_.yardstick, "yardstick");
  for (const auto& [kernel, what] : trusted)
    if (auto right = verify(context(all_, stop), kernel, what, spent_ms); !right) return right;
  auto times_us = time_yardstick(context(all_, stop), parts_.yardstick, spent_ms);
  if (!times_us) return times_us.error();
  all_.yardstick_us = std::move(*times_us);
  auto scale = measure_scale(context(all_, stop), parts_, all_.yardstick_us);
  if (!scale) return scale.error();
  all_.scale = std::move(*scale);
  if (!parts_.quick.empty())
    quick_ = part_of(all_, parts_.quick, parts_.host->traits().floors.against_baseline);
  limit_calls();
  return {};
}

Status TaskJudge::draw_bank(const std::stop_token& stop) {
  bank_ = {};  // Two banks at the same time would take twice the memory.
  auto bank = parts_.draw_bank ? parts_.draw_bank()
                               : truth::make_bank(*parts_.task, all_.shapes, parts_.oracles,
                                                  parts_.oracle_threads, parts_.bank, stop);
  if (!bank) return bank.error();
  const std::vector<TaskShape>& shapes = all_.shapes;
  if (bank->size() != shapes.size()) return fail(ErrorCode::internal, "the bank was made for other shapes");
  for (std::size_t shape = 0; shape < shapes.size(); ++shape)
    if ((*bank)[shape].size() < (shapes[shape].timed ? kLeastSets : 1))
      return fail(ErrorCode::internal, "the bank holds too few sets for " + where(shapes[shape]));
  bank_ = std::move(*bank);
  return {};
}

bool TaskJudge::has_unmoved_output() const {
  for (std::size_t shape = 0; shape < all_.shapes.size(); ++shape)
    for (std::size_t t = 0; all_.shapes[shape].timed && t < parts_.task->tensors.size(); ++t)
      if (parts_.task->tensors[t].role != TensorRole::in && truth::is_unmoved(bank_[shape], t)) return true;
  return false;
}

Result<Evaluation> TaskJudge::evaluate(const RunRequest& request, const std::stop_token& stop) {
  if (request.remeasurement == Remeasurement::confirm || bank_.empty())
    if (auto drawn = draw_bank(stop); !drawn) return drawn.error();
  const bool quick = quick_ && !request.careful && !request.remeasurement;
  const Scope& scope = quick ? *quick_ : all_;
  const Context context = this->context(scope, stop);
  Players players{{context, "candidate", request.candidate, Trust::candidate},
                  {context, "yardstick", parts_.yardstick, Trust::trusted},
                  {}};
  if (request.rival) players.rival.emplace(context, "rival", request.rival, Trust::candidate);
  Report report = begin_report(scope, request.report);
  const auto fitness = examine(scope, context, players, request, report);
  finish_report(players, report);
  if (!fitness) return reported<Evaluation>(fitness.error(), std::move(report));
  std::map<std::string, double> features = request.features;
  features["speedup"] = report.speedup->median;
  features["runtime_us"] = report.runtime_us->median;
  if (degenerate_) features["degenerate"] = 1;
  auto metrics = Metrics::create(*fitness, std::move(features));
  if (!metrics) return metrics.error();
  return Evaluation(Acceptance{std::move(*metrics), std::move(report)});
}

Judged<Measurement> TaskJudge::examine(const Scope& scope, const Context& context, Players& players,
                                       const RunRequest& request, Report& report) {
  if (auto checked = check(scope, context, players, request, report); !checked) return checked.error();
  auto timed = time(scope, context, players, request, report);
  if (!timed) return timed.error();
  return decide(scope, context, std::move(*timed), request, report);
}

Judged<void> TaskJudge::check(const Scope& scope, const Context& context, Players& players,
                              const RunRequest& request, Report& report) {
  const ScopedTimer watch(parts_.now_s, report.spent_ms["check"]);
  const bool twice = request.remeasurement == Remeasurement::confirm || context.task.threads > 1;
  auto checked =
      (twice ? check_twice : check_all_shapes)(players.candidate, context, scope.yardstick_us, report.shapes);
  players.candidate.close();
  if (!checked || !players.rival) return checked;
  // The rival was accepted once, but is a candidate like any other.
  std::vector<ShapeResult> of_rival(context.shapes.size());
  const auto rival = check_all_shapes(*players.rival, context, {}, of_rival);
  players.rival->close();
  if (rival) return {};
  const Failure failure = rival.error();
  if (std::holds_alternative<Error>(failure)) return failure;
  report.incumbent_failed = std::get<Rejection>(failure).diagnostics;
  players.rival.reset();
  return {};
}

Judged<TimingResult> TaskJudge::time(const Scope& scope, const Context& context, Players& players,
                                     const RunRequest& request, Report& report) {
  const ScopedTimer watch(parts_.now_s, report.spent_ms["timing"]);
  const bool careful = request.careful || request.remeasurement == Remeasurement::confirm;
  const auto reuse =
      context.host.traits().isolated_calls ? timing::Reuse::when_used_up : timing::Reuse::never;
  const TimingSetup setup{careful ? kCareful : kSearch, reuse, scope.yardstick_us};
  auto timed = TimingRounds(context, players.all(), setup).run();
  for (Player* const player : players.all()) player->close();
  return timed;
}

Judged<Measurement> TaskJudge::decide(const Scope& scope, const Context& context, TimingResult timed,
                                      const RunRequest& request, Report& report) {
  if (timed.rival_failed) report.incumbent_failed = timed.rival_failed;
  for (timing::ShapeSamples& shape : timed.shapes)
    cap_by_lone_calls(shape, context.host.traits().batch_noise_us);
  if (const auto shape = unsteady_shape(timed.shapes))
    return Failure(fail(ErrorCode::unstable,
                        "the yardstick's times at " + where(scope.shapes[*shape]) + " scatter too much", {},
                        "let the machine come to rest and try again"));
  const Floors floors = context.host.traits().floors;
  // A repeated measurement of a program returns its own samples, not those that made the program win.
  const auto bytes = request.remeasurement ? std::nullopt : request.candidate->exact_bytes();
  Pool unpooled;
  const std::vector<double> weights = context.weights();
  const std::vector<ShapeScore> scores =
      score_shapes(timed.shapes, floors, bytes ? pools_[*bytes] : unpooled);
  const Measurement fitness = conclude(scores, weights, scope.scale, floors, report);
  if (auto plausible = check_plausible(context, scores); !plausible) return plausible.error();
  if (request.rival && !report.incumbent_failed) report.duel = duel(timed.shapes, scores, weights);
  return fitness;
}

/// Refuses a speed above the roofline. If the yardstick exceeds the roofline too, the roofline is wrong,
/// because the task needs only part of its inputs.
Judged<void> TaskJudge::check_plausible(const Context& context, const std::vector<ShapeScore>& scores) {
  for (std::size_t shape = 0; shape < scores.size(); ++shape) {
    const auto least_us = context.host.least_us(context.shapes[shape].number, context.sets(shape).front());
    if (!least_us) return Failure(least_us.error());
    const double call_us = scores[shape].runtime_us.median;
    if (call_us >= *least_us || scores[shape].yardstick_us < *least_us) continue;
    return reject(Stage::integrity, RejectionCode::implausible_speed,
                  "a call at " + where(context.shapes[shape]) + " seems to take " + std::to_string(call_us) +
                      " us, but moving its inputs and outputs takes " + std::to_string(*least_us) +
                      " us at least on this machine (a task whose kernels need fewer bytes says so by "
                      "declared: {bytes: ...})");
  }
  return {};
}

Report TaskJudge::begin_report(const Scope& scope, const Report& of_compilation) const {
  Report report = of_compilation;
  const HostTraits traits = parts_.host->traits();
  report.tier = traits.tier;
  report.hardware = traits.hardware;
  report.shapes.clear();
  for (const TaskShape& shape : scope.shapes) {
    ShapeResult& result = report.shapes.emplace_back();
    result.shape = shape.name;
    result.timed = shape.timed;
    result.weight = shape.weight;
  }
  return report;
}

void TaskJudge::finish_report(Players& players, Report& report) const {
  for (std::size_t shape = 0; shape < report.shapes.size(); ++shape) {
    ShapeResult& result = report.shapes[shape];
    result.error = players.candidate.worst_error(shape);
    if (result.correct && !(result.error <= 1)) result.correct = false;  // a timed call was wrong
  }
  for (Player* const player : players.all()) {
    player->close();
    player->add_costs(report.spent_ms);
  }
}

}  // namespace
}  // namespace judge

Result<std::unique_ptr<Judge>> Judge::create(JudgeParts parts, const std::stop_token& stop) {
  auto made = std::make_unique<judge::TaskJudge>(std::move(parts));
  if (auto prepared = made->prepare(stop); !prepared) return prepared.error();
  return std::unique_ptr<Judge>(std::move(made));
}

}  // namespace kernelsmith
