// Makes the result of a task from its run folder: the best, the cost, and the best by round.
#include <algorithm>
#include <map>

#include <kernelsmith/suite/suite.hpp>

#include "best_candidate.hpp"

namespace kernelsmith {
namespace {

SuiteCost cost_of(const Spending& spending) {
  const CallTotals total = spending.total();
  return {total.calls, total.unpriced, total.input_tokens, total.output_tokens, spending.usd()};
}

/// The best speedup after each round, in the order of tickets, which in a deterministic run does not depend
/// on the number of workers. A repeated measurement is a round, but its speedup does not count, because it
/// would only make the best look better.
Result<std::vector<double>> best_by_round(const RunView& run) {
  std::map<TicketId, double> speedups;  // 0 if there is none
  const Status read = run.store->replay(0, [&](std::uint64_t, const Event& event) -> Status {
    const auto* told = std::get_if<EvaluationArrived>(&event);
    if (!told || told->source != EvaluationSource::evaluated) return {};
    // If the same program was proposed twice at once, the second proposal is not a program of the run.
    // Whether it was evaluated depends on timing, so a deterministic run does not count it.
    const bool counts = run.state.programs().contains(told->program);
    if (!counts && run.config.deterministic) return {};
    const bool is_new = counts && told->program.value == told->ticket.value;
    const auto speedup = suite::speedup_of(told->evaluation);
    speedups[told->ticket] = is_new && speedup ? speedup->median : 0;
    return {};
  });
  if (!read) return read.error();
  std::vector<double> best;
  for (const auto& [ticket, speedup] : speedups)
    best.push_back(std::max(speedup, best.empty() ? 0 : best.back()));
  return best;
}

}  // namespace

Result<TaskResult> result_of(const RunView& run) {
  auto rounds = best_by_round(run);
  if (!rounds) return rounds.error();
  TaskResult result;
  result.basis = run.task.digest.hex();
  result.best_by_round = std::move(*rounds);
  result.cost = cost_of(run.spending());
  const Counts& counts = run.state.counts();
  result.candidates = counts.accepted + counts.rejected;
  for (const auto& [rule, count] : run.state.failures()) {
    if (suite::is_hack(rule.first)) result.hacks += count;
    result.failure = suite::failure_text(
        rule.first, rule.second);  // keeps the failure of the last stage, which comes last
  }
  if (const Evaluation* best = run.best_evaluation()) {
    suite::take_best(*best, result);
    result.failure.clear();
  }
  return result;
}

}  // namespace kernelsmith
