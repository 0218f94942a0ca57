// The results of a trajectory for the tables of a suite.
#include "best_candidate.hpp"
#include "stts_trajectory.hpp"

namespace kernelsmith::suite {
namespace {

void add(const Cost& cost, SuiteCost& sum) {
  sum += {cost.calls, cost.unpriced ? cost.calls : 0, cost.input_tokens, cost.output_tokens,
          cost.usd + cost.guessed_usd};
}

/// The figures that both tables share.
TaskResult shared_figures(const SttsTrajectory& trajectory) {
  TaskResult result;
  for (const SttsTurn& turn : trajectory.turns) {
    add(turn.proposal.cost, result.cost);
    if (!turn.evaluation) continue;
    ++result.candidates;
    const Rejection* rejection = turn.evaluation->rejection();
    result.hacks += rejection && is_hack(rejection->stage) ? 1 : 0;
  }
  for (const Cost& cost : trajectory.lost) add(cost, result.cost);
  return result;
}

double speedup_or_zero(const SttsTurn& turn) {
  const auto speedup = turn.evaluation ? speedup_of(*turn.evaluation) : std::nullopt;
  return speedup ? speedup->median : 0;
}

bool accepted(const SttsTurn& turn) { return turn.evaluation && turn.evaluation->accepted(); }

std::string failure_of(const SttsTurn& turn) {
  if (turn.evaluation) {
    const Rejection* rejection = turn.evaluation->rejection();
    return rejection ? failure_text(rejection->stage, rejection->code) : "";
  }
  const Refusal* refusal = turn.proposal.refusal();
  return refusal ? "reply: " + std::string(name_of(refusal->code)) : "";
}

/// Whether turn `a` is better. Accepted programs, compared by speedup, are better than rejected ones,
/// compared by stage, and these are better than replies without a program.
bool is_better(const SttsTurn& a, const SttsTurn& b) {
  if (accepted(a) != accepted(b)) return accepted(a);
  if (accepted(a)) return speedup_or_zero(a) > speedup_or_zero(b);
  if (!a.evaluation || !b.evaluation) return a.evaluation && !b.evaluation;
  return a.evaluation->rejection()->stage > b.evaluation->rejection()->stage;
}

void take(const SttsTurn& turn, TaskResult& result) {
  if (accepted(turn))
    take_best(*turn.evaluation, result);
  else
    result.failure = failure_of(turn);
}

}  // namespace

TaskResult last_result(const SttsTrajectory& trajectory) {
  TaskResult result = shared_figures(trajectory);
  for (const SttsTurn& turn : trajectory.turns) result.best_by_round.push_back(speedup_or_zero(turn));
  if (!trajectory.turns.empty()) take(trajectory.turns.back(), result);
  return result;
}

TaskResult best_result(const SttsTrajectory& trajectory) {
  TaskResult result = shared_figures(trajectory);
  const SttsTurn* best = nullptr;
  for (const SttsTurn& turn : trajectory.turns) {
    if (!best || is_better(turn, *best)) best = &turn;
    result.best_by_round.push_back(accepted(*best) ? speedup_or_zero(*best) : 0);
  }
  if (best) take(*best, result);
  return result;
}

}  // namespace kernelsmith::suite
