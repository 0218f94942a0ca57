// Arms of repeats, of gates and of memory: what the engine does with a repeat, and what a proposer makes of
// what its prompt says was tried before. The proposer obeys with a probability, which is an assumption.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <kernelsmith/core/metrics.hpp>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

constexpr double kDeviations = 1.96;

std::size_t number_of(const Individual& one) {
  return static_cast<std::size_t>(std::stoul(std::string(one.program->source.main_text())));
}

bool is_child_of(const Individual& child, const Individual& parent) {
  const auto& parents = child.program->parents;
  return !parents.empty() && parents.front() == parent.program->id;
}

bool is_better(const Individual& one, const Individual& other) {
  return one.evaluation.accepted() && other.evaluation.accepted() &&
         compare(one.evaluation.metrics()->fitness(), other.evaluation.metrics()->fitness()) ==
             Comparison::better;
}

/// What prompts/tried_lines.cpp shows, if each parameter is a line.
std::vector<Values> tried_steps(const Problem& problem, const Selection& selection) {
  constexpr std::size_t kMostSteps = 4, kMostLines = 6;
  std::vector<Values> steps;
  IndividualPtr youngest = selection.parent;
  std::set<Value> known;
  for (const IndividualPtr& one : selection.kin) {
    if (steps.size() == kMostSteps) break;
    const bool is_ancestor = is_child_of(*youngest, *one);
    const IndividualPtr without = is_ancestor ? std::exchange(youngest, one) : selection.parent;
    if (!is_ancestor && !is_child_of(*one, *selection.parent)) continue;
    if (!is_better(*without, *one)) continue;
    Values step;
    for (const Value& value : problem.brought(number_of(*without), number_of(*one)))
      if (!problem.has(number_of(*selection.parent), {value}) && known.insert(value).second)
        step.push_back(value);
    if (!step.empty() && step.size() <= kMostLines) steps.push_back(step);
  }
  return steps;
}

std::vector<Values> each_alone(const std::vector<Values>& steps) {
  std::vector<Values> alone;
  for (const Values& step : steps)
    for (const Value& value : step) alone.push_back({value});
  return alone;
}

struct Rules {
  std::vector<Values> tactics, dead_ends;
  std::vector<std::pair<Values, Values>> refusals;  ///< what the rejected program had, and what mended it
};

/// src/memory/learn.cpp: a fold over the first verdicts, in their order. A parameter's value counts as an
/// identifier, so that there are dead ends.
class Learner {
 public:
  Learner(const EvalServer& server, bool only_worse)
      : server_(server), problem_(server.problem()), only_worse_(only_worse) {
    for (std::size_t i = 0; i < server.trials().size(); ++i)
      if (!server.made()[i].same) judge(i);
  }

  Rules rules(Rng& rng) {
    std::ranges::stable_sort(gains_, std::greater{}, [](const auto& one) { return one.first; });
    for (const auto& [gain, change] : gains_)
      if (rules_.tactics.size() < 2) rules_.tactics.push_back(change);
    std::vector<std::pair<std::size_t, Value>> dead;
    for (const auto& [value, tries] : tries_)
      if (!gained_.contains(value) && tries >= 3) dead.emplace_back(tries, value);
    std::ranges::stable_sort(dead, std::greater{}, [](const auto& one) { return one.first; });
    dead.resize(std::min<std::size_t>(dead.size(), 8));
    for (const auto& [tries, value] : dead) rules_.dead_ends.push_back({value});
    // A third of the prompt's tokens has room for about six; their digests decide which.
    while (rules_.refusals.size() > 6)
      rules_.refusals.erase(rules_.refusals.begin() +
                            static_cast<std::ptrdiff_t>(rng.below(rules_.refusals.size())));
    return rules_;
  }

 private:
  double low(std::size_t i) const { return server_[i].speedup * std::exp(-kDeviations * problem_.noise()); }
  double high(std::size_t i) const { return server_[i].speedup * std::exp(kDeviations * problem_.noise()); }

  void judge(std::size_t i) {
    const auto parent = problem_.parent_of(i);
    const bool accepted = server_[i].accepted;
    if (parent && !server_[*parent].accepted) {
      if (accepted) rules_.refusals.emplace_back(problem_.brought(i, *parent), problem_.brought(*parent, i));
    } else if (parent) {
      const bool gained = accepted && low(i) > high(*parent);
      const Values change = problem_.brought(*parent, i);
      if (gained && low(i) > high(*best_)) gains_.emplace_back(low(i) / high(*best_), change);
      for (const Value& value : change) {
        ++tries_[value];
        const bool worse = !accepted || high(i) < low(*parent);
        if (only_worse_ ? !worse : gained) gained_.insert(value);
      }
    }
    if (accepted && (!best_ || low(i) > low(*best_))) best_ = i;
  }

  const EvalServer& server_;
  const Problem& problem_;
  bool only_worse_;
  std::optional<std::size_t> best_;
  std::vector<std::pair<double, Values>> gains_;
  std::map<Value, std::size_t> tries_;
  std::set<Value> gained_;
  Rules rules_;
};

enum class From { related, same, chance };

struct MemoryArm {
  From from;
  double obeys;
  bool tactics = true, dead_ends = true, refusals = true;
  /// Only what made every child worse than its parent beyond the noise, or rejected, is a dead end.
  bool only_worse = false;
};

/// Rules of one earlier search with the same budget.
Rules learnt(const EvalServer& server, std::uint64_t seed, const MemoryArm& arm) {
  const auto problem = server.problem().other(seed + 100'000, arm.from == From::related);
  EvalServer earlier(*problem, server.budget(), seed + 100'000);
  kernelsmith_search(earlier, seed + 100'000, {}, {.repeats = true, .calls = false, .prompted = {}});
  Rng rng(seed, 1, Purpose::retry);
  Rules rules = Learner(earlier, arm.only_worse).rules(rng);
  if (!arm.tactics) rules.tactics.clear();
  if (!arm.dead_ends) rules.dead_ends.clear();
  if (!arm.refusals) rules.refusals.clear();
  if (arm.from != From::chance) return rules;
  const auto scramble = [&](Values& values) {
    for (Value& one : values) one = problem->any_value(one.kernel, rng);
  };
  for (Values& one : rules.tactics) scramble(one);
  for (Values& one : rules.dead_ends) scramble(one);
  for (auto& [before, after] : rules.refusals) scramble(after);
  return rules;
}

void remembering(EvalServer& server, std::uint64_t seed, const MemoryArm& arm) {
  const Rules rules = learnt(server, seed, arm);
  std::uint64_t asked_so_far = 0;
  const auto prompted = [&](Asked& asked, const Selection&, std::size_t parent) {
    Rng rng(seed, ++asked_so_far, Purpose::retry);
    const Problem& problem = server.problem();
    if (rng.chance(arm.obeys)) asked.avoid = rules.dead_ends;
    if (!rng.chance(arm.obeys)) return;
    if (!server[parent].accepted) {
      for (const auto& [before, after] : rules.refusals)
        if (problem.has(parent, before)) asked.apply = after;
      return;
    }
    std::vector<Values> open;
    for (const Values& tactic : rules.tactics)
      if (!problem.has(parent, tactic)) open.push_back(tactic);
    if (!open.empty()) asked.apply = open[static_cast<std::size_t>(rng.below(open.size()))];
  };
  kernelsmith_search(server, seed, {}, {.repeats = true, .calls = false, .prompted = prompted});
}

Arm with(std::string name, Habits habits) {
  return {std::move(name),
          [habits](EvalServer& server, std::uint64_t seed) { kernelsmith_search(server, seed, {}, habits); }};
}

Arm drawing(std::string name, std::function<void(Asked&)> change) {
  const auto prompted = [change](Asked& asked, const Selection&, std::size_t) { change(asked); };
  return with(std::move(name), {.repeats = true, .calls = false, .prompted = prompted});
}

Arm tried(std::string name, double obeys, bool alone) {
  return {std::move(name), [=](EvalServer& server, std::uint64_t seed) {
            std::uint64_t asked_so_far = 0;
            const auto prompted = [&](Asked& asked, const Selection& selection, std::size_t) {
              Rng rng(seed, ++asked_so_far, Purpose::retry);
              if (!rng.chance(obeys)) return;
              asked.avoid = tried_steps(server.problem(), selection);
              if (alone) asked.avoid = each_alone(asked.avoid);
            };
            kernelsmith_search(server, seed, {}, {.repeats = true, .calls = false, .prompted = prompted});
          }};
}

Arm memory(std::string name, MemoryArm arm) {
  return {std::move(name), [arm](EvalServer& server, std::uint64_t seed) { remembering(server, seed, arm); }};
}

}  // namespace

std::vector<Arm> habit_arms() {
  return {
      with("repeats", {.repeats = true, .calls = false, .prompted = {}}),
      with("repeats-calls", {.repeats = true, .calls = true, .prompted = {}}),
      with("every-child-calls", {.repeats = false, .calls = true, .prompted = {}}),
      drawing("ask-again", [](Asked& asked) { asked.anew = true; }),
      drawing("alike-1", [](Asked& asked) { asked.alike = 1; }),
      tried("tried-steps", 1, false),
      tried("tried-lines", 1, true),
      tried("tried-lines-half", 0.5, true),
      memory("memory-related", {From::related, 0.3}),
      memory("memory-related-.1", {From::related, 0.1}),
      memory("memory-same", {From::same, 0.3}),
      memory("memory-chance", {From::chance, 0.3}),
      memory("tactics", {From::related, 0.3, true, false, false}),
      memory("dead-ends", {From::related, 1, false, true, false}),
      memory("dead-ends-chance", {From::chance, 1, false, true, false}),
      memory("dead-ends-same", {From::same, 1, false, true, false}),
      memory("dead-ends-half", {From::related, 0.5, false, true, false}),
      memory("dead-ends-worse", {From::related, 1, false, true, false, true}),
      memory("tactics-chance", {From::chance, 0.3, true, false, false}),
      memory("refusals", {From::related, 1, false, false, true}),
      memory("refusals-chance", {From::chance, 1, false, false, true}),
  };
}

}  // namespace kernelsmith::bench
