// The arms of the bench: searches that differ in how they choose parents and what they show beside them. Each
// draws its steps from the same mixture, that of `run --model`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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
void kernelsmith_search(EvalServer& server, std::uint64_t seed, const Change& change = {});

/// The arms of the page.
std::vector<Arm> arms();

/// The default with one thing changed: what each of its parts is worth. Run only if they are named.
std::vector<Arm> variants();

}  // namespace kernelsmith::bench
