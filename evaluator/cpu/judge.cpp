#include "judge.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/statistics.hpp>

#include "abba.hpp"
#include "batched.hpp"
#include "remembered.hpp"
#include "scatter.hpp"
#include "stopwatch.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kCallsChecked = 2;  ///< at each shape before anything is timed
/// A call that is over so soon is done with all sets of a shape that is only checked.
constexpr double kShortCallUs = 10e3;
/// Of wall time for all of an evaluation's loads and calls, at least and in the task's time limits.
constexpr double kLeastAllowanceS = 20, kAllowance = 3;
/// A call that takes as long as this, and as many of the yardstick's, is not worth the many that timing
/// needs.
constexpr double kLongCallUs = 100e3, kHopeless = 1000;
/// Ratios of one binary beyond which a re-measurement adds only a few.
constexpr std::size_t kMostPooled = 64;

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void append(Pairs& all, const Pairs& more) {
  append(all.ratios, more.ratios);
  append(all.a_times_us, more.a_times_us);
  append(all.b_times_us, more.b_times_us);
  append(all.met, more.met);
  append(all.b_met, more.b_met);
}

void append(AbbaRatios& all, const AbbaRatios& more) {
  append(static_cast<Pairs&>(all), more);
  append(all.shown, more.shown);
  append(all.lone, more.lone);
  append(all.showing_us, more.showing_us);
  append(all.asking_us, more.asking_us);
  all.a_is_alone = all.a_is_alone || more.a_is_alone;
  all.b_is_alone = all.b_is_alone || more.b_is_alone;
}

/// Once more where it scatters too much for a score, by whosever doing: chance does that now and then, but
/// seldom for twice as long.
Judged<std::vector<AbbaRatios>> time_again_if_it_scatters(LoadedObject& candidate, LoadedObject& yardstick,
                                                          std::vector<StoppingRule> rules,
                                                          const std::stop_token& stop) {
  auto found = time_abba(candidate, yardstick, yardstick, rules, stop);
  if (!found) return found;
  bool scattered = false;
  for (std::size_t shape = 0; shape < rules.size(); ++shape) {
    const AbbaRatios& pairs = (*found)[shape];
    const bool again = scatter_of(pairs.ratios, pairs, rules[shape]) != Scatter::none;
    if (!again) rules[shape].least = rules[shape].most = 0;
    scattered = scattered || again;
  }
  if (!scattered) return found;
  auto more = time_abba(candidate, yardstick, yardstick, rules, stop);
  if (!more) return more;
  for (std::size_t shape = 0; shape < rules.size(); ++shape) append((*found)[shape], (*more)[shape]);
  return found;
}

/// Leaves out what `a` gained by what it was shown, not by its own speed; false where too little is left for
/// a score. What it remembers goes first: that can look like what batches gain, and hide it in lone calls.
bool leave_out_false_gains(AbbaRatios& pairs) {
  const bool known = leave_out_remembered(pairs);
  return leave_out_batched(pairs) && known;
}

/// The candidate's speedup, known from as many samples as its own ratio.
Measurement times(const Measurement& baseline_over_yardstick, const Measurement& ratio) {
  Measurement speedup = product(baseline_over_yardstick, ratio, "x");
  speedup.samples = ratio.samples;
  return speedup;
}

Evaluation rejected(Rejection rejection, Report report) {
  rejection.report = std::move(report);
  return rejection;
}

}  // namespace

LoadedObject Judge::object_for(CpuBinaryPtr binary, Arena& arena, Trust trust,
                               const std::stop_token& stop) const {
  LoadedObjectSetup setup{*parts_.task, shapes_, *runners_, empty_request_us_};
  setup.stop = stop;
  if (trust == Trust::candidate)
    setup.allowance_s = std::max(kLeastAllowanceS, kAllowance * parts_.task->timeout_s);
  return {setup, bank_, std::move(binary), arena, trust};
}

void Judge::expect_evaluation() { runners_->prepare({candidate_arena_.get(), yardstick_arena_.get()}); }

Result<Evaluation> Judge::evaluate(const CpuBinaryPtr& candidate, const CpuBinaryPtr& rival, Examination how,
                                   Report report, const std::stop_token& stop) {
  runners_->call_off();
  if (how.fresh)
    if (auto s = draw_bank(); !s) return s.error();
  if (how.fresh || !yardstick_)
    yardstick_ =
        std::make_unique<LoadedObject>(object_for(parts_.yardstick, *yardstick_arena_, Trust::trusted));
  report.tier = tier_;
  report.hardware = hardware_;
  report.shapes.clear();
  for (const TaskShape& shape : shapes_) report.shapes.push_back({shape.name, shape.timed, {}, 0, {}, {}});

  LoadedObject challenger = object_for(candidate, *candidate_arena_, Trust::candidate, stop);
  const auto fitness = examine(challenger, candidate, rival, how, report, stop);
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ShapeResult& shape = report.shapes[s];
    shape.error = challenger.worst_error(s);
    if (shape.correct && !(shape.error <= 1)) shape.correct = false;  // in a timed call
  }
  challenger.unload();
  runners_->bury();
  challenger.take_costs("candidate", report.spent_ms);
  yardstick_->take_costs("yardstick", report.spent_ms);
  if (fitness) {
    auto metrics = Metrics::create(
        *fitness, {{"speedup", report.speedup->median}, {"runtime_us", report.runtime_us->median}});
    if (!metrics) return metrics.error();
    return Evaluation(Acceptance{std::move(*metrics), std::move(report)});
  }
  const Failure failure = fitness.error();
  if (const Rejection* rejection = std::get_if<Rejection>(&failure))
    return rejected(*rejection, std::move(report));
  yardstick_.reset();
  return std::get<Error>(failure);
}

Judged<Measurement> Judge::examine(LoadedObject& candidate, const CpuBinaryPtr& binary,
                                   const CpuBinaryPtr& rival, Examination how, Report& report,
                                   const std::stop_token& stop) {
  {
    const Stopwatch watch(report.spent_ms["check"]);
    yardstick_->unload();  // one that lay well or ill all along would favour or disfavour everybody
    LoadedObject::load_both(candidate, *yardstick_);
    if (auto ok = check_all_shapes(candidate, how.fresh || parts_.task->threads > 1, stop, &report.shapes);
        !ok)
      return ok.error();
  }
  const Stopwatch watch(report.spent_ms["timing"]);
  runners_->rest();
  auto fitness = time_all_shapes(candidate, binary->digest(), how.careful, report, stop);
  if (fitness)
    if (auto plausible = check_plausible(report); !plausible) return plausible.error();
  if (fitness && rival)
    if (auto fought = duel(candidate, rival, report, stop); !fought) return fought.error();
  return fitness;
}

/// `again`: another process must give the same bytes for the last sets, unless the task allows others.
Judged<void> Judge::check_all_shapes(LoadedObject& candidate, bool again, const std::stop_token& stop,
                                     std::vector<ShapeResult>* results) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    // The odd shapes of `check` first: that is where most kernels are wrong.
    const std::size_t shape = shapes_.size() - 1 - i;
    if (stop.stop_requested()) return Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
    auto time = candidate.cold_batch(shape, kCallsChecked);
    const std::size_t sets = bank_[shape].size();
    if (time && *time < kShortCallUs && !shapes_[shape].timed && sets > kCallsChecked)
      time = candidate.batch(shape, sets - kCallsChecked);
    if (results) (*results)[shape].correct = time.has_value();
    if (!time) return time.error();
    if (*time < kLongCallUs) continue;
    if (auto fast_enough = check_speed(candidate, shape); !fast_enough) return fast_enough.error();
  }
  return again && !parts_.task->nondeterministic ? candidate.repeat_last() : Judged<void>();
}

/// Not by its first calls, which may make tables for the others.
Judged<void> Judge::check_speed(LoadedObject& candidate, std::size_t shape) {
  if (!shapes_[shape].timed || !yardstick_) return {};
  const auto time = candidate.batch(shape, 1);
  if (!time) return time.error();
  const double call_us = *time;
  const auto yardstick_us = yardstick_->batch(shape, 1);
  if (!yardstick_us) return Failure(fail(ErrorCode::tool_failed, "the yardstick failed while it was timed"));
  if (call_us < std::max(kLongCallUs, kHopeless * *yardstick_us)) return {};
  return reject(Stage::timing, RejectionCode::too_slow,
                "a call at " + shapes_[shape].name + " takes " +
                    std::to_string(static_cast<int>(call_us / 1e3)) + " ms, " +
                    std::to_string(static_cast<int>(call_us / *yardstick_us)) +
                    " times as long as the yardstick's");
}

/// No speed above the roofline. A bound that the yardstick breaks too is no bound: the task then needs less
/// than all of its inputs.
Judged<void> Judge::check_plausible(const Report& report) {
  for (std::size_t shape = 0; shape < parts_.task->timed.size(); ++shape) {
    const double call_us = report.shapes[shape].runtime_us->median;
    if (!roofline_.worth_measuring(shape, call_us)) continue;
    // A bound that was measured at a bad time is too high: that matters only where it speaks against
    // somebody.
    if (call_us >= roofline_.known(shape).us) continue;
    const LoadedObjectSetup setup{*parts_.task, shapes_, *runners_, empty_request_us_};
    const auto bound = roofline_.measure(shape, setup, bank_, *yardstick_arena_);
    if (!bound) return Failure(bound.error());
    if (call_us >= bound->us) continue;
    const auto yardstick_us = yardstick_->batch(shape, yardstick_->most_calls(shape));
    if (yardstick_us && *yardstick_us < bound->us) continue;
    return reject(Stage::integrity, RejectionCode::implausible_speed,
                  "a call at " + shapes_[shape].name + " seems to take " + std::to_string(call_us) +
                      " us, and moving its " + std::to_string(bound->bytes) + " bytes takes " +
                      std::to_string(bound->us) +
                      " us at least on this machine (a task whose kernels need fewer says so by "
                      "declared: {bytes: ...})");
  }
  return {};
}

/// The fitness carries the noise of this candidate's own measurement. How well the baseline is known is the
/// same for all candidates of a run and stands in the report's speedup only.
Judged<Measurement> Judge::time_all_shapes(LoadedObject& candidate, const Digest& binary, bool careful,
                                           Report& report, const std::stop_token& stop) {
  const std::size_t timed = parts_.task->timed.size();
  Pool& pool = pools_[binary];
  pool.ratios.resize(timed);
  pool.times_us.resize(timed);
  // The fitness is the mean over the shapes, and its interval theirs over the square root of their number.
  StoppingRule rule = careful ? kWithCare : kInSearch;
  rule.target *= std::sqrt(static_cast<double>(timed));
  std::vector<StoppingRule> rules(timed, rule);
  for (std::size_t shape = 0; shape < timed; ++shape)
    if (pool.ratios[shape].size() > kMostPooled) rules[shape].most = rules[shape].least;
  auto fresh = time_again_if_it_scatters(candidate, *yardstick_, rules, stop);
  if (!fresh) return fresh.error();
  for (std::size_t shape = 0; shape < timed; ++shape)
    if (!leave_out_false_gains((*fresh)[shape]))
      return Failure(
          fail(ErrorCode::unstable,
               "at " + shapes_[shape].name +
                   " the few measurements on new inputs, and of lone calls, differ too much from the others",
               {}, "try again; if it stays so, give the task a reference that is faster"));

  std::vector<Measurement> ratios, runtimes;
  for (std::size_t shape = 0; shape < timed; ++shape) {
    std::vector<double> pooled = pool.ratios[shape];
    append(pooled, (*fresh)[shape].ratios);
    const Scatter scatter = scatter_of(pooled, (*fresh)[shape], rules[shape]);
    if (scatter == Scatter::of_the_machine)
      return Failure(fail(ErrorCode::unstable,
                          "the measurements at " + shapes_[shape].name + " scatter too much", {},
                          "let the machine come to rest and try again"));
    pool.ratios[shape] = std::move(pooled);
    append(pool.times_us[shape], (*fresh)[shape].a_times_us);
    const bool own = scatter == Scatter::own;
    const Measurement ratio =
        own ? low_end(pool.ratios[shape], "x") : median_interval(pool.ratios[shape], "x");
    ShapeResult& result = report.shapes[shape];
    result.speedup = times(baseline_over_yardstick_[shape], with_floor(ratio, kFloorLikeWithLike));
    const Measurement runtime =
        own ? high_end(pool.times_us[shape], "us") : median_interval(pool.times_us[shape], "us");
    result.runtime_us = with_floor(runtime, kFloorOfTimes);
    ratios.push_back(ratio);
    runtimes.push_back(runtime);
  }
  // What differs between runs differs for all shapes at once: it does not average out over them.
  report.over_yardstick = with_floor(geometric_mean(ratios, "x"), kFloorLikeWithLike);
  report.speedup = times(scale_, *report.over_yardstick);
  report.runtime_us = with_floor(geometric_mean(runtimes, "us"), kFloorOfTimes);
  return times(Measurement::exact(scale_.median, "x"), *report.over_yardstick);
}

Judged<void> Judge::duel(LoadedObject& candidate, const CpuBinaryPtr& rival, Report& report,
                         const std::stop_token& stop) {
  if (!rival_arena_) {
    auto made = make_arena();
    if (!made) return Failure(made.error());
    rival_arena_ = std::make_unique<Arena>(std::move(*made));
  }
  // The incumbent is a candidate like any other, and could lie in wait for its challengers.
  LoadedObject incumbent = object_for(rival, *rival_arena_, Trust::candidate, stop);
  const auto lost = [&] {
    if (incumbent.rejection()) report.incumbent_failed = incumbent.rejection()->diagnostics;
    return incumbent.rejection().has_value();
  };
  if (const auto checked = check_all_shapes(incumbent, false, stop); !checked)
    return lost() ? Judged<void>() : checked.error();
  const std::vector<StoppingRule> rules(parts_.task->timed.size(), kInSearch);
  auto found = time_abba(candidate, incumbent, *yardstick_, rules, stop);
  if (!found) return lost() ? Judged<void>() : found.error();
  for (AbbaRatios& pairs : *found) {
    // The challenger was timed on most of the bank already: where nothing is new to it, its own score tells.
    static_cast<void>(leave_out_remembered(pairs));
    if (!leave_out_batched(pairs)) return {};
    AbbaRatios incumbents = seen_from_b(std::move(pairs));
    if (!leave_out_false_gains(incumbents)) return {};
    pairs = seen_from_b(std::move(incumbents));
  }
  std::vector<Measurement> by_shape;
  for (const AbbaRatios& rival_over_candidate : *found)
    by_shape.push_back(median_interval(rival_over_candidate.ratios, "x"));
  report.duel = with_floor(geometric_mean(by_shape, "x"), kFloorLikeWithLike);
  return {};
}

}  // namespace kernelsmith
