// Arms without a population to speak of: independent samples, greedy chains, an opening followed by
// truncation, and controls that show the best three: the best is always the parent, or parents are chosen
// without regard to their worth.
#include <algorithm>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

/// The share of an evaluation budget that the broad opening takes.
constexpr double kOpeningShare = 0.2;
constexpr std::size_t kTop = 3;

/// The parent's place among the accepted programs, of which the first is the best.
using Place = std::size_t (*)(std::size_t accepted, Rng& rng);

std::size_t any(std::size_t accepted, Rng& rng) { return static_cast<std::size_t>(rng.below(accepted)); }
std::size_t any_of_top(std::size_t accepted, Rng& rng) { return any(std::min(accepted, kTop), rng); }
std::size_t best(std::size_t, Rng&) { return 0; }
std::size_t worst(std::size_t accepted, Rng&) { return accepted - 1; }

/// Parents from this place; the best three are shown.
void from_place(EvalServer& server, Place place, Rng& rng) {
  while (server.open()) {
    auto programs = server.known();
    const std::size_t parent = programs[place(programs.size(), rng)];
    programs.resize(std::min(programs.size(), kTop));
    server.launch(draw_step(rng), parent, programs, [](std::size_t) {});
  }
}

Arm control(std::string name, Place place) {
  return {std::move(name), [place](EvalServer& server, std::uint64_t seed) {
            Rng rng(seed, 0, Purpose::sampling);
            if (server.begin()) from_place(server, place, rng);
          }};
}

void best_of_n(EvalServer& server, std::uint64_t) {
  Asked asked = Step::large;
  asked.translate = !server.problem().seed();
  while (server.make(asked, 0)) {
  }
}

void open_then_evolve(EvalServer& server, std::uint64_t seed) {
  Rng rng(seed, 0, Purpose::sampling);
  const auto first = server.begin();
  if (!first) return;
  const double opening = kOpeningShare * static_cast<double>(server.budget());
  while (static_cast<double>(server.curve().size()) < opening)
    server.launch(Step::large, *first, {}, [](std::size_t) {});
  from_place(server, any_of_top, rng);
}

}  // namespace

Asked draw_step(Rng& rng) {
  const std::uint64_t drawn = rng.below(3);
  Asked asked = drawn == 0 ? Step::small : Step::large;
  asked.crossover = drawn == 1;
  return asked;
}

/// N x T: each chain's next parent is its own best, and it sees nothing of the others. No mate is shown, so
/// what is a crossover elsewhere is a rewrite here.
void greedy(EvalServer& server, std::uint64_t seed, std::size_t chains) {
  Rng rng(seed, 0, Purpose::sampling);
  const auto first = server.begin();
  if (!first) return;
  std::vector<std::size_t> heads(chains, *first);
  for (std::size_t turn = 0; server.open(); turn = (turn + 1) % chains) {
    server.launch(draw_step(rng), heads[turn], {}, [&, turn](std::size_t child) {
      if (!server[child].accepted) return;
      if (heads[turn] == *first || server[child].speedup > server[heads[turn]].speedup) heads[turn] = child;
    });
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
          {"adaevolve", adaevolve},
          control("best-parent", best),
          control("any-parent", any),
          control("worst-parent", worst)};
}

}  // namespace kernelsmith::bench
