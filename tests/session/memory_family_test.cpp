// Whether a memory pays where a tactic transfers, and what it costs where none does.
#include "memory_family.hpp"

#include <iostream>

#include <gtest/gtest.h>

#include <kernelsmith/memory/memory_store.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using family::Member;

constexpr std::size_t kTasks = 10;  // that are learnt from, before the one that counts
constexpr std::uint64_t kFamilies =
    2;  // the last target stands at a quarter, and at three quarters, of its order

/// Evaluations until the target was found, the seed's not counted.
std::size_t evaluations_of(const std::filesystem::path& folder, const std::string& name, const Member& member,
                           const std::filesystem::path& store, std::size_t budget) {
  const TaskFolder task = family::task_in(folder / (name + ".task"), name);
  auto session = Session::create(
      task, folder / (name + ".run"),
      family::config_for(task, member,
                         "budgets: {evaluations: " + std::to_string(budget) + "}\n" +
                             (store.empty() ? "" : "memory: {store: " + store.string() + "}\n")));
  if (!session) {
    ADD_FAILURE() << describe(session.error());
    return 0;
  }
  std::size_t evaluations = 0, found = 0;
  const auto outcome = session->run([&](const Commit& commit) {
    if (commit.kind != CommitKind::evaluated) return;
    if (commit.fitness == 3 && found == 0) found = evaluations;
    ++evaluations;
  });
  EXPECT_TRUE(outcome && outcome->reason == EndReason::budget);
  EXPECT_GT(found, 0u) << "the budget ends before the target";
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
    for (std::size_t task = 0; task < kTasks; ++task) {
      const Member one = member(task, rng.below(32));
      evaluations_of(folder.path(), "t" + std::to_string(task), one, folder / "memory", one.place + 8);
    }
    const Member last = member(kTasks, family::kNames * (2 * f + 1) / (2 * kFamilies));
    sum.with += evaluations_of(folder.path(), "with", last, folder / "memory", last.place + 8);
    sum.without += evaluations_of(folder.path(), "without", last, {}, last.place + 8);
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
