// Made-up landscapes over strings of sites, as a cross-check of what the fitted tasks say. A small step
// changes one site, a large one draws several anew, half of them from the best program shown.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include <kernelsmith/core/rng.hpp>

#include "problem.hpp"

namespace kernelsmith::bench {
namespace {

constexpr std::size_t kSites = 32, kCoupled = 6, kLargeStep = 8, kTrap = 4;
constexpr double kRejected = 0.25;  ///< about what recorded searches have
constexpr double kScale = 3;        ///< the best program of all is e^3 = 20 times as fast as the seed

using Genome = std::uint32_t;
/// From an instance's seed and a genome to 0 .. 1.
using Value = double (*)(std::uint64_t, Genome);

/// NK: each site adds a random number that depends on it and its next five.
double rugged(std::uint64_t seed, Genome genome) {
  double sum = 0;
  for (std::size_t site = 0; site < kSites; ++site) {
    const std::uint64_t window = std::rotr(genome, static_cast<int>(site)) & ((1U << kCoupled) - 1);
    sum += Rng(seed, site << kCoupled | window, Purpose::evaluation).uniform();
  }
  // Sums of this many uniform numbers: what matters lies between .5 and .8.
  return std::clamp((sum / static_cast<double>(kSites) - 0.5) / 0.3, 0.0, 1.0);
}

/// Blocks that are best when all their sites are set, and otherwise better with fewer set.
double deceptive(std::uint64_t, Genome genome) {
  double sum = 0;
  for (std::size_t block = 0; block < kSites / kTrap; ++block) {
    const auto set = static_cast<std::size_t>(std::popcount(genome >> (block * kTrap) & ((1U << kTrap) - 1)));
    sum += set == kTrap ? 1.0 : 0.6 * static_cast<double>(kTrap - 1 - set) / (kTrap - 1);
  }
  return sum / (kSites / kTrap);
}

/// Few levels, each held by many programs.
double plateaus(std::uint64_t seed, Genome genome) {
  constexpr double kLevels = 6;
  const Genome optimum = static_cast<Genome>(Rng(seed, 0, Purpose::evaluation)());
  const double equal = static_cast<double>(std::popcount(~(genome ^ optimum))) / static_cast<double>(kSites);
  return std::floor(equal * kLevels) / kLevels;
}

class Landscape final : public Problem {
 public:
  Landscape(Value worth, double noise, std::uint64_t seed) : value_(worth), noise_(noise), seed_(seed) {
    Rng rng(seed_, 0, Purpose::proposal);
    genomes_.push_back(static_cast<Genome>(rng()));
    accepted_.push_back(true);
  }

  Made seed() const override { return made(0); }

  Made make(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown) override {
    const Step step = asked.step;
    const std::size_t child = genomes_.size();
    Rng rng(seed_, child, Purpose::proposal);
    Genome genome = genomes_[parent];
    const Genome best = best_of(parent, shown);
    for (std::size_t i = 0; i < (step == Step::small ? 1 : kLargeStep); ++i) {
      const Genome site = Genome{1} << rng.below(kSites);
      const Genome from = step == Step::large && rng.chance(0.5) ? best : static_cast<Genome>(rng());
      genome = step == Step::small ? genome ^ site : (genome & ~site) | (from & site);
    }
    genomes_.push_back(genome);
    accepted_.push_back(!rng.chance(kRejected));
    return made(child);
  }

  double cost(const Asked& asked) const override { return asked.step == Step::large ? 1 : 0.5; }
  double noise() const override { return noise_; }

 private:
  double value(std::size_t program) const { return value_(seed_, genomes_[program]); }

  Genome best_of(std::size_t parent, std::span<const std::size_t> shown) const {
    std::size_t best = parent;
    for (const std::size_t other : shown)
      if (accepted_[other] && value(other) > value(best)) best = other;
    return genomes_[best];
  }

  Made made(std::size_t program) const {
    const double found = value(program);
    const double size = std::exp(0.05 * (std::popcount(genomes_[program]) - 16.0));
    return {accepted_[program], kScale * (found - value(0)), found, size};
  }

  Value value_;
  double noise_;
  std::uint64_t seed_;
  std::vector<Genome> genomes_;
  std::vector<bool> accepted_;
};

class LandscapeFamily final : public Family {
 public:
  LandscapeFamily(Value value, double noise) : value_(value), noise_(noise) {}
  std::unique_ptr<Problem> open(std::uint64_t seed) const override {
    return std::make_unique<Landscape>(value_, noise_, seed);
  }

 private:
  Value value_;
  double noise_;
};

}  // namespace

std::vector<NamedFamily> landscapes() {
  const auto named = [](const char* name, Value value, double noise) {
    return NamedFamily{name, "landscape", std::make_shared<LandscapeFamily>(value, noise)};
  };
  return {named("rugged", rugged, 0.01), named("deceptive", deceptive, 0.01),
          named("plateaus", plateaus, 0.01), named("noisy", rugged, 0.15)};
}

}  // namespace kernelsmith::bench
