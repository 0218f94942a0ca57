// OpenEvolve's selection as published (codelion/openevolve at 75bc298: database.py, process_parallel.py,
// config.py), with its default configuration. Written from reading it; nothing is copied.
//
// Facts that matter here: five islands, of which only the first holds the initial program; a child joins its
// parent's island, so the others stay empty until the first migration, after 50 children of one island.
// Everything is kept, failures too, with a fitness of 0; the archive of 100 takes all until it is full. Cells
// are cut along ranges that move.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

constexpr std::size_t kIslands = 5, kArchive = 100, kBins = 10, kReference = 20;
constexpr std::size_t kTopShown = 3, kInspirations = 5;
constexpr double kExploration = 0.2, kExploitation = 0.7, kMigrationRate = 0.1;
constexpr std::size_t kMigrationInterval = 50;
/// The text of a seed of 1,000 characters; a difference in length weighs 0.1 a character and 10 a line of 40.
constexpr double kSeedCharacters = 1000, kDiversityOfCharacter = 0.1 + 10.0 / 40;

/// A copy that migrated is an entry of its own with the same program.
struct Entry {
  std::size_t program, island;
  bool migrant = false;
};

struct Range {
  double low = 0, high = 0;
  bool empty = true;
  std::size_t bin(double value) {
    low = empty ? value : std::min(low, value);
    high = empty ? value : std::max(high, value);
    empty = false;
    const double scaled = high > low ? (value - low) / (high - low) : 0.5;
    return std::min(kBins - 1, static_cast<std::size_t>(scaled * kBins));
  }
};

class OpenEvolve {
 public:
  OpenEvolve(EvalServer& server, std::uint64_t seed, std::size_t first)
      : server_(server), rng_(seed, 0, Purpose::sampling) {
    add({first, 0});
  }

  void search() {
    for (std::size_t turn = 0; server_.open(); ++turn) {
      std::size_t island = turn % kIslands;
      if (islands_[island].empty()) island = 0;
      const std::size_t parent = sample(island);
      server_.launch(draw_step(rng_), entries_[parent].program, companions(island),
                     [this, home = entries_[parent].island](std::size_t child) {
                       learn({child, home});
                     });
    }
  }

 private:
  void learn(Entry child) {
    add(child);
    ++generations_[child.island];
    const std::size_t newest = *std::ranges::max_element(generations_);
    if (newest - migrated_at_ < kMigrationInterval) return;
    migrate();
    migrated_at_ = newest;
  }

  double fitness(std::size_t entry) const { return server_[entries_[entry].program].speedup; }
  double characters(std::size_t entry) const {
    return kSeedCharacters * server_[entries_[entry].program].size;
  }

  std::size_t any(const std::vector<std::size_t>& from) {
    return from[static_cast<std::size_t>(rng_.below(from.size()))];
  }

  std::size_t sample(std::size_t island) {
    const double mode = rng_.uniform();
    const std::vector<std::size_t> members(islands_[island].begin(), islands_[island].end());
    if (mode < kExploration) return any(members);
    if (mode < kExploration + kExploitation) {
      std::vector<std::size_t> own;
      for (const std::size_t entry : archive_)
        if (entries_[entry].island == island) own.push_back(entry);
      return any(own.empty() ? std::vector(archive_.begin(), archive_.end()) : own);
    }
    std::vector<double> weights;
    for (const std::size_t entry : members) weights.push_back(std::max(fitness(entry), 0.001));
    return members[rng_.weighted(weights)];
  }

  /// The island's best, and a few at random, as its prompt shows them.
  std::vector<std::size_t> companions(std::size_t island) {
    std::vector<std::size_t> members(islands_[island].begin(), islands_[island].end());
    std::ranges::stable_sort(members, std::greater{}, [&](std::size_t entry) { return fitness(entry); });
    const std::size_t top = std::min(members.size(), kTopShown);
    rng_.shuffle(std::span(members).subspan(top));
    members.resize(std::min(members.size(), top + kInspirations));
    for (std::size_t& entry : members) entry = entries_[entry].program;
    return members;
  }

  double diversity(std::size_t entry) {
    if (reference_.size() < kReference) reference_.push_back(characters(entry));
    double sum = 0;
    for (const double other : reference_) sum += kDiversityOfCharacter * std::abs(characters(entry) - other);
    return sum / static_cast<double>(reference_.size());
  }

  void add(Entry made) {
    entries_.push_back(made);
    const std::size_t entry = entries_.size() - 1;
    const std::pair cell{complexity_.bin(characters(entry)), diversity_.bin(diversity(entry))};
    auto& cells = cells_[made.island];
    const auto [at, is_new] = cells.emplace(cell, entry);
    if (!is_new && fitness(entry) > fitness(at->second)) {
      if (archive_.erase(at->second) > 0) archive_.insert(entry);
      islands_[made.island].erase(at->second);
      at->second = entry;
    }
    islands_[made.island].insert(entry);
    if (archive_.size() < kArchive) {
      archive_.insert(entry);
      return;
    }
    const auto worst = std::ranges::min_element(archive_, {}, [&](std::size_t e) { return fitness(e); });
    if (fitness(entry) <= fitness(*worst)) return;
    archive_.erase(worst);
    archive_.insert(entry);
  }

  bool holds(std::size_t island, std::size_t program) const {
    return std::ranges::any_of(islands_[island],
                               [&](std::size_t entry) { return entries_[entry].program == program; });
  }

  /// The best tenth of each island goes to both neighbours; what came from elsewhere stays.
  void migrate() {
    for (std::size_t island = 0; island < kIslands; ++island) {
      std::vector<std::size_t> members(islands_[island].begin(), islands_[island].end());
      std::ranges::stable_sort(members, std::greater{}, [&](std::size_t entry) { return fitness(entry); });
      const auto share = static_cast<std::size_t>(kMigrationRate * static_cast<double>(members.size()));
      members.resize(std::min(members.size(), std::max<std::size_t>(1, share)));
      for (const std::size_t entry : members) {
        if (entries_[entry].migrant) continue;
        for (const std::size_t to : {(island + 1) % kIslands, (island + kIslands - 1) % kIslands})
          if (!holds(to, entries_[entry].program)) add({entries_[entry].program, to, true});
      }
    }
  }

  EvalServer& server_;
  Rng rng_;
  std::vector<Entry> entries_;
  std::set<std::size_t> islands_[kIslands];
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> cells_[kIslands];
  std::set<std::size_t> archive_;
  std::vector<double> reference_;
  Range complexity_, diversity_;
  std::array<std::size_t, kIslands> generations_{};
  std::size_t migrated_at_ = 0;
};

}  // namespace

void openevolve(EvalServer& server, std::uint64_t seed) {
  if (const auto first = server.begin()) OpenEvolve(server, seed, *first).search();
}

}  // namespace kernelsmith::bench
