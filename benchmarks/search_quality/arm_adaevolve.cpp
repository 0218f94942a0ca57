// AdaEvolve's selection as published (skydiscover-ai/skydiscover at 59643ef: search/adaevolve,
// configs/adaevolve.yaml). Written from reading it; nothing is copied. Left out: what is no selection
// (paradigms that a model writes, error retries).
//
// Two islands, chosen by an upper confidence bound over decayed improvements; on each an archive of 20. An
// island's search intensity falls when it improves: it is the chance of a parent by novelty; the rest are
// parents from the top, or half and half. Novelty is the distance to the nearest five, here of the texts'
// sizes, which is all that a simulated text has.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

constexpr std::size_t kIslands = 2, kMostIslands = 5, kCapacity = 20, kNeighbours = 5;
constexpr std::size_t kMigrationInterval = 15, kMigrants = 5, kLeastVisits = 3, kCooldown = 30,
                      kSeedsOfIsland = 5, kRetries = 2;
constexpr double kDecay = 0.9, kLowest = 0.15, kHighest = 0.5, kBonus = 1.41, kSpawnBelow = 0.015;
constexpr double kExploiting = 0.7, kTopShare = 0.2;

struct Island {
  std::vector<std::size_t> programs;
  double signal = 0, best = -std::numeric_limits<double>::infinity();
  double reward = 0, recent_visits = 0;
  std::size_t visits = 0, improvements = 0;
};

class AdaEvolve {
 public:
  AdaEvolve(EvalServer& server, std::uint64_t seed, std::size_t first)
      : server_(server), rng_(seed, 0, Purpose::sampling), islands_(kIslands) {
    for (Island& island : islands_) add(island, first);
  }

  void search() {
    std::size_t at = 0, spawned = 0;
    for (std::size_t turn = 1; server_.open(); ++turn) {
      const std::size_t parent = sample(islands_[at]);
      launch(draw_step(rng_), parent, companions(islands_[at]), at, kRetries);
      if (turn - spawned >= kCooldown && islands_.size() < kMostIslands && productivity() < kSpawnBelow) {
        spawn();
        spawned = turn;
      }
      at = next_island(turn);
      if (turn % kMigrationInterval == 0) migrate();
    }
  }

 private:
  void launch(const Asked& asked, std::size_t parent, const std::vector<std::size_t>& shown, std::size_t at,
              std::size_t retries) {
    server_.launch(asked, parent, shown, [=, this](std::size_t child) {
      if (server_[child].accepted) {
        record(islands_[at], server_[child].speedup);
        add(islands_[at], child);
      } else if (retries > 0) {
        launch(Step::small, child, shown, at, retries - 1);
      }
    });
  }

  double fitness(std::size_t program) const { return server_[program].speedup; }

  std::vector<std::size_t> top(const Island& island, std::size_t count) const {
    auto sorted = island.programs;
    std::ranges::stable_sort(sorted, std::greater{}, [&](std::size_t p) { return fitness(p); });
    sorted.resize(std::min(sorted.size(), count));
    return sorted;
  }

  double distance(std::size_t a, std::size_t b) const {
    return std::abs(std::log(server_[a].size / server_[b].size));
  }

  double novelty(const Island& island, std::size_t program) const {
    std::vector<double> distances;
    for (const std::size_t other : island.programs)
      if (other != program) distances.push_back(distance(program, other));
    std::ranges::sort(distances);
    distances.resize(std::min(distances.size(), kNeighbours));
    double sum = 0;
    for (const double one : distances) sum += one;
    return distances.empty() ? 0 : sum / static_cast<double>(distances.size());
  }

  std::size_t from_top(const Island& island) {
    const auto share = static_cast<std::size_t>(kTopShare * static_cast<double>(island.programs.size()));
    const auto best = top(island, std::max<std::size_t>(1, share));
    return best[static_cast<std::size_t>(rng_.below(best.size()))];
  }

  std::size_t by_novelty(const Island& island) {
    std::vector<double> weights;
    for (const std::size_t program : island.programs)
      weights.push_back(std::max(novelty(island, program), 0.001));
    return island.programs[rng_.weighted(weights)];
  }

  std::size_t sample(const Island& island) {
    const double intensity = kLowest + (kHighest - kLowest) / (1 + std::sqrt(island.signal + 1e-8));
    const double mode = rng_.uniform();
    if (mode < intensity) return by_novelty(island);
    if (mode < intensity + (1 - intensity) * kExploiting) return from_top(island);
    return rng_.chance(0.5) ? from_top(island) : by_novelty(island);
  }

  /// Two of the island's top and two of all islands'.
  std::vector<std::size_t> companions(const Island& island) {
    auto shown = top(island, 2);
    Island all;
    for (const Island& one : islands_)
      all.programs.insert(all.programs.end(), one.programs.begin(), one.programs.end());
    for (const std::size_t program : top(all, 2)) shown.push_back(program);
    return shown;
  }

  void record(Island& island, double found) {
    ++island.visits;
    island.recent_visits = kDecay * island.recent_visits + 1;
    island.reward *= kDecay;
    if (found <= island.best) return;
    if (std::isfinite(island.best)) island.reward += (found - island.best) / (std::max(best_, found) + 1e-8);
    best_ = std::max(best_, found);
    ++island.improvements;
    improve(island, found);
  }

  static void improve(Island& island, double found) {
    const double gain = std::isfinite(island.best)
                            ? std::min((found - island.best) / (std::abs(island.best) + 1e-8), 1.0)
                            : 1;
    island.signal = kDecay * island.signal + (1 - kDecay) * gain * gain;
    island.best = found;
  }

  /// A full archive gives up the program nearest in size to the newcomer, if that one is no top program and
  /// is slower.
  void add(Island& island, std::size_t program) {
    if (fitness(program) > island.best) improve(island, fitness(program));
    if (island.programs.size() < kCapacity) {
      island.programs.push_back(program);
      return;
    }
    const auto kept = top(island, static_cast<std::size_t>(kTopShare * kCapacity));
    std::size_t nearest = island.programs.size();
    for (std::size_t i = 0; i < island.programs.size(); ++i) {
      if (std::ranges::find(kept, island.programs[i]) != kept.end()) continue;
      if (nearest == island.programs.size() ||
          distance(island.programs[i], program) < distance(island.programs[nearest], program))
        nearest = i;
    }
    if (fitness(program) > fitness(island.programs[nearest])) island.programs[nearest] = program;
  }

  double productivity() const {
    double improvements = 0, visits = 0;
    for (const Island& island : islands_) {
      improvements += static_cast<double>(island.improvements);
      visits += static_cast<double>(island.visits);
    }
    return visits > 0 ? improvements / visits : 1;
  }

  std::size_t next_island(std::size_t turn) {
    std::vector<std::size_t> rare;
    for (std::size_t i = 0; i < islands_.size(); ++i)
      if (islands_[i].visits < kLeastVisits) rare.push_back(i);
    if (!rare.empty()) return rare[static_cast<std::size_t>(rng_.below(rare.size()))];
    const auto bound = [&](const Island& island) {
      return island.reward / island.recent_visits +
             kBonus * std::sqrt(std::log(static_cast<double>(turn) + 1) / static_cast<double>(island.visits));
    };
    return static_cast<std::size_t>(std::ranges::max_element(islands_, {}, bound) - islands_.begin());
  }

  void migrate() {
    for (std::size_t i = 0; i < islands_.size(); ++i) {
      Island& to = islands_[(i + 1) % islands_.size()];
      for (const std::size_t program : top(islands_[i], kMigrants))
        if (std::ranges::find(to.programs, program) == to.programs.end()) add(to, program);
    }
  }

  void spawn() {
    Island all, made;
    for (const Island& island : islands_)
      all.programs.insert(all.programs.end(), island.programs.begin(), island.programs.end());
    for (const std::size_t program : top(all, kSeedsOfIsland)) add(made, program);
    islands_.push_back(std::move(made));
  }

  EvalServer& server_;
  Rng rng_;
  std::vector<Island> islands_;
  double best_ = 0;
};

}  // namespace

void adaevolve(EvalServer& server, std::uint64_t seed) {
  if (const auto first = server.begin()) AdaEvolve(server, seed, *first).search();
}

}  // namespace kernelsmith::bench
