// The arms of the bench: searches that differ in how they choose parents and what they show beside them. Each
// draws its steps from the same mixture, that of `run --model`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "eval_server.hpp"

namespace kernelsmith::bench {

struct Arm {
  std::string name;
  std::function<void(EvalServer&, std::uint64_t seed)> search;
};

/// A rewrite, an edit or a crossover with equal weights; a crossover is a large step.
Step draw_step(Rng& rng);

// Searches until the budget is used up.
void best_of_n(EvalServer& server, std::uint64_t seed);
void open_then_evolve(EvalServer& server, std::uint64_t seed);
void greedy(EvalServer& server, std::uint64_t seed, std::size_t chains);
void openevolve(EvalServer& server, std::uint64_t seed);
void shinkaevolve(EvalServer& server, std::uint64_t seed);
void adaevolve(EvalServer& server, std::uint64_t seed);
void kernelsmith_default(EvalServer& server, std::uint64_t seed);

/// All of them, by name.
std::vector<Arm> arms();

}  // namespace kernelsmith::bench
