#include "judge/preparation.hpp"

#include <algorithm>

#include <kernelsmith/evaluator/statistics.hpp>

#include "judge/check.hpp"
#include "judge/constants.hpp"
#include "judge/timing_rounds.hpp"

namespace kernelsmith::judge {
namespace {

/// The Error for a failure of one of the task's own kernels.
Error task_at_fault(const Failure& failure, const std::string& what) {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  const Rejection& rejection = std::get<Rejection>(failure);
  const bool inaccurate = rejection.code == RejectionCode::wrong_output;
  return fail(ErrorCode::refused,
              "the task's " + what + (what == "reference" ? ", as it is written," : "") +
                  " fails its own check (" + std::string(name_of(rejection.code)) +
                  "): " + rejection.diagnostics,
              "files: " + what,
              inaccurate ? "if it is right except for rounding, say in task.yaml how wrong a kernel may be: "
                           "tolerance: {policy: allclose, rtol: ..., atol: ...}, or {policy: normwise}, "
                           "which judges an output as a whole; or give the task an oracle (files: oracle)"
                         : "");
}

bool same_bytes(const BinaryPtr& a, const BinaryPtr& b) {
  return a == b || (a->exact_bytes() && a->exact_bytes() == b->exact_bytes());
}

}  // namespace

Status verify(const Context& context, const BinaryPtr& kernel, const std::string& what,
              std::map<std::string, double>& spent_ms) {
  Player player(context, what, kernel, Trust::candidate);
  std::vector<ShapeResult> results(context.shapes.size());
  const auto check = context.task.threads > 1 ? check_twice : check_all_shapes;
  if (auto right = check(player, context, {}, results); !right) return task_at_fault(right.error(), what);
  player.close();
  player.add_costs(spent_ms);
  return {};
}

Result<std::vector<double>> time_yardstick(const Context& context, const BinaryPtr& yardstick,
                                           std::map<std::string, double>& spent_ms) {
  Player player(context, "yardstick", yardstick, Trust::trusted);
  if (auto opened = player.open(0); !opened) return task_at_fault(opened.error(), "yardstick");
  context.host.rest();
  std::vector<double> times_us;
  for (std::size_t shape = 0; shape < context.timed(); ++shape) {
    std::vector<double> calls_us;
    for (std::size_t set = 0; set <= kYardstickCalls; ++set) {  // the first is a warm-up
      const std::vector<std::size_t> sets = {set % context.sets(shape).size()};
      const auto call_us = player.run(shape, sets);
      if (!call_us) return task_at_fault(call_us.error(), "yardstick");
      if (set > 0) calls_us.push_back(std::max(*call_us, kLeastUs));
    }
    times_us.push_back(median_of(calls_us));
  }
  player.close();
  player.add_costs(spent_ms);
  return times_us;
}

Result<Scale> measure_scale(const Context& context, const JudgeParts& parts,
                            const std::vector<double>& yardstick_us) {
  std::vector<Measurement> ratios(context.timed(), Measurement::exact(1, "x"));
  if (!same_bytes(parts.baseline, parts.yardstick)) {
    Player baseline(context, "baseline", parts.baseline, Trust::trusted);
    Player yardstick(context, "yardstick", parts.yardstick, Trust::trusted);
    const TimingSetup setup{{kLeastOfBaseline, kRoundsOfBaseline, kTargetInSearch, 0},
                            timing::Reuse::when_used_up,
                            yardstick_us,
                            kSamplesOfBaselineRound};
    const auto timed = TimingRounds(context, {&baseline, &yardstick}, setup).run();
    if (!timed) return task_at_fault(timed.error(), "baseline");
    for (std::size_t shape = 0; shape < ratios.size(); ++shape)
      ratios[shape] =
          quotient(ratios[shape], median_interval(timed->shapes[shape].batches.ratios(), "x"), "x");
  }
  const double floor = context.host.traits().floors.against_baseline;
  Scale scale{{}, with_floor(geometric_mean(ratios, "x", context.weights()), floor)};
  for (const Measurement& ratio : ratios) scale.by_shape.push_back(with_floor(ratio, floor));
  return scale;
}

}  // namespace kernelsmith::judge
