// ShinkaEvolve's selection as published (SakanaAI/ShinkaEvolve at 9912af1: dbase.py, parents.py, islands.py)
// with its default configuration. Written from reading it; nothing is copied.
//
// Two islands that each begin with a copy of the initial program, drawn uniformly, without migration; one
// archive of the 40 best correct programs. A parent's weight is a steep sigmoid of its distance from its
// island's median, over one plus the number of its children. Beside it stand one other program of the archive
// and the island's best.
#include <algorithm>
#include <cmath>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

constexpr std::size_t kIslands = 2, kArchive = 40;
constexpr double kSharpness = 10;

struct Entry {
  std::size_t program, island, children = 0;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class ShinkaEvolve {
 public:
  ShinkaEvolve(EvalServer& server, std::uint64_t seed, std::size_t first)
      : server_(server), rng_(seed, 0, Purpose::sampling) {
    for (std::size_t island = 0; island < kIslands; ++island) archive_.push_back({first, island});
  }

  void search() {
    while (server_.open()) {
      const auto island = static_cast<std::size_t>(rng_.below(kIslands));
      const auto members = members_of(island);
      if (members.empty()) continue;
      Entry& parent = archive_[members[draw(members)]];
      ++parent.children;
      server_.launch(draw_step(rng_), parent.program, companions(members), [this, island](std::size_t child) {
        if (server_[child].accepted) add({child, island});
      });
    }
  }

 private:
  double fitness(const Entry& entry) const { return server_[entry.program].speedup; }

  std::vector<std::size_t> members_of(std::size_t island) const {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < archive_.size(); ++i)
      if (archive_[i].island == island) members.push_back(i);
    return members;
  }

  std::size_t draw(const std::vector<std::size_t>& members) {
    std::vector<double> scores, deviations, weights;
    for (const std::size_t i : members) scores.push_back(fitness(archive_[i]));
    const double middle = median(scores);
    for (const double score : scores) deviations.push_back(std::abs(score - middle));
    const double spread = std::max(median(deviations), 1e-6);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double better = kSharpness * (scores[i] - middle) / spread;
      weights.push_back(1 / (1 + std::exp(-better)) / static_cast<double>(1 + archive_[members[i]].children));
    }
    return rng_.weighted(weights);
  }

  std::vector<std::size_t> companions(const std::vector<std::size_t>& members) {
    const auto best =
        std::ranges::max_element(members, {}, [&](std::size_t i) { return fitness(archive_[i]); });
    const auto other = members[static_cast<std::size_t>(rng_.below(members.size()))];
    return {archive_[*best].program, archive_[other].program};
  }

  void add(Entry entry) {
    if (archive_.size() < kArchive) {
      archive_.push_back(entry);
      return;
    }
    const auto worst = std::ranges::min_element(archive_, {}, [&](const Entry& e) { return fitness(e); });
    if (fitness(entry) > fitness(*worst)) *worst = entry;
  }

  EvalServer& server_;
  Rng rng_;
  std::vector<Entry> archive_;
};

}  // namespace

void shinkaevolve(EvalServer& server, std::uint64_t seed) {
  if (const auto first = server.begin()) ShinkaEvolve(server, seed, *first).search();
}

}  // namespace kernelsmith::bench
