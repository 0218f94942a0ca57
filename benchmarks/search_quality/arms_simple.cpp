// Arms without a population to speak of: independent samples, greedy chains, and an opening followed by
// truncation.
#include <algorithm>
#include <numeric>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

/// The share of an evaluation budget that the broad opening takes.
constexpr double kOpeningShare = 0.2;
constexpr std::size_t kTop = 3;

std::vector<std::size_t> best_programs(const EvalServer& server, std::size_t count) {
  std::vector<std::size_t> accepted;
  for (std::size_t i = 0; i < server.trials().size(); ++i)
    if (server[i].accepted) accepted.push_back(i);
  std::ranges::stable_sort(accepted, [&](auto a, auto b) { return server[a].speedup > server[b].speedup; });
  if (accepted.size() > count) accepted.resize(count);
  return accepted;
}

/// How far the budget is used up, 0 to 1.
double progress(const EvalServer& server) {
  const auto& [evaluations, cost] = server.limits();
  return evaluations ? static_cast<double>(server.curve().size()) / static_cast<double>(*evaluations)
                     : server.cost() / *cost;
}

}  // namespace

Step draw_step(Rng& rng) { return rng.below(3) == 0 ? Step::small : Step::large; }

void best_of_n(EvalServer& server, std::uint64_t) {
  while (server.make(Step::large, 0)) {
  }
}

void open_then_evolve(EvalServer& server, std::uint64_t seed) {
  Rng rng(seed, 0, Purpose::sampling);
  while (progress(server) < kOpeningShare && server.make(Step::large, 0)) {
  }
  while (server.open()) {
    const auto top = best_programs(server, kTop);
    const std::size_t parent = top[static_cast<std::size_t>(rng.below(top.size()))];
    server.make(draw_step(rng), parent, top);
  }
}

/// N x T: each chain's next parent is its own best, and it sees nothing of the others.
void greedy(EvalServer& server, std::uint64_t seed, std::size_t chains) {
  Rng rng(seed, 0, Purpose::sampling);
  std::vector<std::size_t> heads(chains, 0);
  for (std::size_t turn = 0; server.open(); turn = (turn + 1) % chains) {
    const auto child = server.make(draw_step(rng), heads[turn]);
    if (child && server[*child].accepted &&
        (heads[turn] == 0 || server[*child].speedup > server[heads[turn]].speedup))
      heads[turn] = *child;
  }
}

std::vector<Arm> arms() {
  return {{"ours", [](EvalServer& server, std::uint64_t seed) { kernelsmith_search(server, seed); }},
          {"best-of-N", best_of_n},
          {"open-then-evolve", open_then_evolve},
          {"greedy-1", [](EvalServer& server, std::uint64_t seed) { greedy(server, seed, 1); }},
          {"greedy-4", [](EvalServer& server, std::uint64_t seed) { greedy(server, seed, 4); }},
          {"openevolve", openevolve},
          {"shinkaevolve", shinkaevolve},
          {"adaevolve", adaevolve}};
}

}  // namespace kernelsmith::bench
