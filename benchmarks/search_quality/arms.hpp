// The arms of the bench: searches that differ in how they choose parents and what they show beside them. Each
// draws its steps from the same mixture, that of `run --model`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/engine/options.hpp>

#include "eval_server.hpp"

namespace kernelsmith::bench {

struct Arm {
  std::string name;
  std::function<void(EvalServer&, std::uint64_t seed)> search;
};

/// A rewrite, an edit or a crossover with equal weights; a crossover is a large step.
Asked draw_step(Rng& rng);

// Searches until the budget is used up.
void greedy(EvalServer& server, std::uint64_t seed, std::size_t chains);
void openevolve(EvalServer& server, std::uint64_t seed);
void shinkaevolve(EvalServer& server, std::uint64_t seed);
void adaevolve(EvalServer& server, std::uint64_t seed);

/// What a variant may choose among.
struct Choices {
  std::vector<OperatorChoice> arms;
  std::vector<AxisSpec> size;       ///< axes over the size of programs, which says nothing, and the speedup
  std::vector<AxisSpec> structure;  ///< axes over the structure of the problem's programs
};

/// What a variant has that the default has not.
using Change = std::function<void(EngineOptions&, const Choices&)>;

/// What the engine does with repeats, and what a proposer does with its prompt.
struct Habits {
  bool repeats = false;  ///< a repeat takes the earlier verdict
  bool calls = false;    ///< the budget counts calls
  /// Changes what is asked for by what the prompt shows.
  std::function<void(Asked&, const Selection&, std::size_t parent)> prompted;
};
void kernelsmith_search(EvalServer& server, std::uint64_t seed, const Change& change = {},
                        const Habits& habits = {});

struct World;
/// The search with habits, and the tasks from whose spaces a memory is learnt.
std::vector<Arm> habit_arms();

/// The arms of the page.
std::vector<Arm> arms();

/// The default with one thing changed: what each of its parts is worth. Run only if they are named.
std::vector<Arm> variants();

}  // namespace kernelsmith::bench
