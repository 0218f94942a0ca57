#include <algorithm>
#include <cmath>

#include <kernelsmith/engine/operators.hpp>

namespace kernelsmith {
namespace {

bool accepted(const IndividualPtr& individual) { return individual && individual->evaluation.accepted(); }

bool needs_second_parent(const WeightedOperators::Entry& entry) {
  return entry.choice.op == Operator::crossover;
}

}  // namespace

bool has_accepted_parent(const Selection& selection) { return accepted(selection.parent); }

bool has_second_parent(const Selection& selection) {
  return std::ranges::any_of(selection.top, accepted) ||
         std::ranges::any_of(selection.inspirations, accepted);
}

Result<WeightedOperators> WeightedOperators::create(std::vector<Entry> entries) {
  for (const auto& entry : entries) {
    const std::string name(name_of(entry.choice.op));
    if (entry.choice.op == Operator::translate || entry.choice.op == Operator::repair) {
      return fail(ErrorCode::invalid_argument, "the engine chooses this operator by itself", name);
    }
    if (!std::isfinite(entry.weight) || entry.weight < 0) {
      return fail(ErrorCode::invalid_argument, "an operator's weight must be a finite number, 0 or more",
                  name);
    }
  }
  const auto always_possible = [](const Entry& entry) {
    return entry.weight > 0 && !needs_second_parent(entry);
  };
  if (!std::ranges::any_of(entries, always_possible)) {
    return fail(ErrorCode::invalid_argument, "some operator other than crossover needs a weight above 0",
                "operators");
  }
  return WeightedOperators(std::move(entries));
}

OperatorChoice WeightedOperators::choose(const Situation& situation, Rng& rng) const {
  if (situation.op || !has_accepted_parent(situation.selection))
    return {situation.op.value_or(Operator::translate), entries_.front().choice.model};
  const bool pair = has_second_parent(situation.selection);
  std::vector<double> weights;
  for (const auto& entry : entries_)
    weights.push_back(pair || !needs_second_parent(entry) ? entry.weight : 0);
  return entries_[rng.weighted(weights)].choice;
}

}  // namespace kernelsmith
