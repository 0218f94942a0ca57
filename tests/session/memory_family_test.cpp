// What a memory saves if a tactic transfers from task to task, and what it costs if none does.
#include "memory_family.hpp"

#include <iostream>

#include <gtest/gtest.h>

#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/memory/memory_store.hpp>

#include "memory_journal.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using family::Member;

constexpr std::size_t kTasks = 10;  // that are learnt from, before the one that counts
constexpr std::uint64_t kFamilies = 2;

/// A run in memory, as a session wires it. `store` is null for a run without a memory. Returns the
/// evaluations until the target was found, the seed's not counted.
std::size_t evaluations_of(const Member& member, const MemoryStore* store) {
  const Task task = family::task();
  RunConfig config =
      family::config_for(task, member, "budgets: {evaluations: " + std::to_string(member.place + 8) + "}\n");
  LearntFrom from{std::to_string(member.seed), "task", task.backend, memory_terms(task)};
  if (store)
    from.read = retrieve(store->rules().value(), task.backend, from.terms, config.memory.budget_tokens);
  config.proposer.provider->context.notes = notes_of(from.read);
  const auto events = testing::no_events();
  auto engine = Engine::create(
      std::make_unique<testing::MemoryJournal>(events), engine_options(task, config).value(),
      config.evaluator.provider->make(task, {}).value(), config.proposer.provider->make(task, {}).value());
  std::size_t evaluations = 0, found = 0;
  const auto outcome = engine.value().run([&](const Commit& commit) {
    if (commit.kind != CommitKind::evaluated) return;
    if (commit.fitness == 3 && found == 0) found = evaluations;
    ++evaluations;
  });
  EXPECT_TRUE(outcome && outcome->reason == EndReason::budget);
  EXPECT_GT(found, 0u) << "the budget ends before the target";
  const Learnt learnt = learn(testing::MemoryJournal(events), from).value();
  EXPECT_TRUE(!store || store->add(learnt));
  return found;
}

struct Needed {
  std::size_t with = 0, without = 0;
};

/// Summed over the last tasks of all families.
Needed needed(bool transfers) {
  Needed sum;
  for (std::uint64_t f = 0; f < kFamilies; ++f) {
    const TemporaryFolder folder;
    Rng rng(11, f, Purpose::sampling);
    const std::size_t shared = rng.below(family::kNames);
    const auto member = [&](std::size_t task, std::size_t place) {
      return Member{f * 100 + task, transfers ? shared : rng.below(family::kNames), place};
    };
    const MemoryStore store = MemoryStore::open(folder / "memory").value();
    for (std::size_t task = 0; task < kTasks; ++task) evaluations_of(member(task, rng.below(32)), &store);
    // At a quarter of its order, and at three quarters.
    const Member last = member(kTasks, family::kNames * (2 * f + 1) / (2 * kFamilies));
    sum.with += evaluations_of(last, &store);
    sum.without += evaluations_of(last, nullptr);
  }
  std::cout << "the last task of " << kFamilies
            << (transfers ? " families that share a tactic" : " that share none") << ": " << sum.with
            << " evaluations with a memory, " << sum.without << " without\n";
  return sum;
}

TEST(MemoryFamily, HalvesTheEvaluationsWhereATacticTransfers) {
  const Needed all = needed(true);
  EXPECT_LE(2 * all.with, all.without);
}

TEST(MemoryFamily, CostsTwoPercentAtMostWhereNoneDoes) {
  const Needed all = needed(false);
  EXPECT_LE(static_cast<double>(all.with), 1.02 * static_cast<double>(all.without));
}

}  // namespace
}  // namespace kernelsmith
