#include "worlds.hpp"

#include <algorithm>
#include <cmath>

namespace kernelsmith::bench {
namespace {

/// Draws of a point before the nearest recorded one is taken. A model writes what compiles, so that a point
/// outside the space is no failure; and the nearest one alone would prefer the points at the space's edges.
constexpr int kDraws = 8;
/// The chance that a large step changes a parameter: about three of a space's seven.
constexpr double kRewritten = 0.4;
/// Two ways are equally likely: a neighbour or any value, parent or mate, one kernel or two.
constexpr double kHalf = 0.5;
/// The chance that a translation fails whose point does not: fit.json's rate for first programs.
constexpr double kTranslationFails = 0.42;
/// The spread of a program's size, which is drawn and says nothing about its worth.
constexpr double kSizeSpread = 0.8;

class Draw {
 public:
  Draw(const GeneSpace& space, bool must_tune, Rng& rng) : space_(space), must_tune_(must_tune), rng_(rng) {}

  Genes edit(const Genes& parent) {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < space_.parameters().size(); ++i)
      if (!must_tune_ || space_.parameters()[i].classes == 0) free.push_back(i);
    return settled([&] {
      Genes genes = parent;
      const std::size_t at = free[below(free.size())];
      genes[at] = other_value(at, genes[at]);
      return genes;
    });
  }

  Genes rewrite(const Genes& parent) {
    return settled([&] {
      Genes genes = parent;
      for (std::size_t i = 0; i < space_.parameters().size(); ++i) {
        if (rng_.chance(kRewritten)) genes[i] = any_value(i);
      }
      return tuned_anew(parent, genes);
    });
  }

  Genes cross(const Genes& parent, const Genes& mate) {
    return settled([&] {
      Genes genes = parent;
      for (std::size_t i = 0; i < space_.parameters().size(); ++i)
        if (rng_.chance(kHalf)) genes[i] = mate[i];
      return tuned_anew(parent, genes);
    });
  }

 private:
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(rng_.below(count)); }
  std::uint8_t any_value(std::size_t parameter) {
    return static_cast<std::uint8_t>(rng_.below(space_.parameters()[parameter].values));
  }

  std::uint8_t other_value(std::size_t parameter, std::uint8_t value) {
    const std::size_t last = space_.parameters()[parameter].values - 1;
    if (!rng_.chance(kHalf)) {
      const std::size_t other = below(last);
      return static_cast<std::uint8_t>(other < value ? other : other + 1);
    }
    const bool up = value == 0 || (value < last && rng_.chance(0.5));
    return static_cast<std::uint8_t>(up ? value + 1 : value - 1);
  }

  Genes tuned_anew(const Genes& parent, Genes genes) {
    if (!must_tune_) return genes;
    bool changed = false;
    for (std::size_t i = 0; i < space_.parameters().size(); ++i)
      changed |=
          space_.parameters()[i].classes > 0 && space_.class_of(i, genes) != space_.class_of(i, parent);
    for (std::size_t i = 0; changed && i < space_.parameters().size(); ++i)
      if (space_.parameters()[i].classes == 0) genes[i] = any_value(i);
    return genes;
  }

  template <class Drawn>
  Genes settled(Drawn drawn) {
    Genes genes{};
    for (int i = 0; i < kDraws; ++i) {
      genes = drawn();
      if (space_.recorded(genes)) return genes;
    }
    return space_.nearest(genes, rng_);
  }

  const GeneSpace& space_;
  bool must_tune_;
  Rng& rng_;
};

class RecordedProblem final : public Problem {
 public:
  RecordedProblem(World world, std::uint64_t seed) : world_(std::move(world)), seed_(seed) {
    for (const auto& kernel : world_.kernels)
      reference_ += 1.0, best_ += kernel->optimum() / kernel->median();
    if (!world_.seeded) return;
    Rng rng(seed_, 0, Purpose::proposal);
    Program first;
    for (const auto& kernel : world_.kernels) first.push_back(kernel->random_slow(rng));
    reference_ = *time_of(first);
    seed_made_ = keep(std::move(first), true, rng);
  }

  std::optional<Made> seed() const override { return seed_made_; }

  Made make(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown) override {
    Rng rng(seed_, programs_.size() + 1, Purpose::proposal);
    if (asked.translate) {
      Program first;
      for (const auto& kernel : world_.kernels) first.push_back(kernel->random(rng));
      const bool works = !rng.chance(kTranslationFails);
      return keep(std::move(first), works, rng);
    }
    std::vector<std::size_t> others;
    for (const std::size_t one : shown)
      if (one != parent && accepted_[one]) others.push_back(one);
    const bool crosses = asked.crossover && !others.empty();
    const auto is_shown = [&](const Program& child) {
      return child == programs_[parent] ||
             std::ranges::any_of(others, [&](std::size_t one) { return child == programs_[one]; });
    };
    // A model seldom gives back a program of its prompt, and the engine evaluates no program twice.
    Program child;
    for (int i = 0; i < kDraws && (i == 0 || is_shown(child)); ++i)
      child = crosses ? crossed(parent, others.front(), rng) : changed(asked.step, parent, rng);
    return keep(std::move(child), true, rng);
  }

  double noise() const override {
    double squares = 0;
    for (const auto& kernel : world_.kernels) squares += kernel->noise() * kernel->noise();
    return std::sqrt(squares) / static_cast<double>(world_.kernels.size());
  }

  double highest() const override { return std::log(reference_ / best_); }

  std::vector<StructureAxis> structure() const override {
    std::vector<StructureAxis> axes;
    if (world_.kernels.size() > 1)
      for (const auto& kernel : world_.kernels)
        axes.push_back({"structure" + std::to_string(axes.size()), kernel->structures()});
    else
      for (const auto& parameter : world_.kernels.front()->parameters())
        if (parameter.classes > 0) axes.push_back({parameter.name, parameter.classes});
    return axes;
  }

  std::size_t structures() const override {
    std::size_t product = 1;
    for (const auto& kernel : world_.kernels) product *= kernel->structures();
    return product;
  }

 private:
  using Program = std::vector<Genes>;  ///< by kernel

  /// A small step changes one kernel, a large one one or two.
  Program changed(Step step, std::size_t parent, Rng& rng) const {
    Program child = programs_[parent];
    const std::size_t kernels = child.size();
    const std::size_t count = step == Step::large && kernels > 1 && rng.chance(kHalf) ? 2 : 1;
    std::size_t at = static_cast<std::size_t>(rng.below(kernels));
    for (std::size_t i = 0; i < count; ++i, at = (at + 1) % kernels) {
      Draw draw(*world_.kernels[at], world_.must_tune, rng);
      child[at] = step == Step::small ? draw.edit(child[at]) : draw.rewrite(child[at]);
    }
    return child;
  }

  /// Each kernel, or each parameter of the only one, from the parent or the mate; then a small step.
  Program crossed(std::size_t parent, std::size_t mate, Rng& rng) const {
    Program child = programs_[parent];
    if (child.size() == 1) {
      child[0] = Draw(*world_.kernels[0], world_.must_tune, rng).cross(child[0], programs_[mate][0]);
    } else {
      for (std::size_t at = 0; at < child.size(); ++at)
        if (rng.chance(kHalf)) child[at] = programs_[mate][at];
    }
    const auto at = static_cast<std::size_t>(rng.below(child.size()));
    child[at] = Draw(*world_.kernels[at], world_.must_tune, rng).edit(child[at]);
    return child;
  }

  /// The kernels have the same share at their medians. Empty if one of them fails.
  std::optional<double> time_of(const Program& program) const {
    double sum = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
      const auto time = world_.kernels[at]->time(program[at]);
      if (!time) return std::nullopt;
      sum += *time / world_.kernels[at]->median();
    }
    return sum;
  }

  Made keep(Program program, bool works, Rng& rng) {
    const auto time = time_of(program);
    Made made{.accepted = works && time};
    if (made.accepted) {
      made.score = std::log(reference_ / *time);
      made.progress = std::clamp(made.score / highest(), 0.0, 1.0);
    }
    made.size = std::exp(kSizeSpread * rng.normal());
    made.structure = bins_of(program);
    // A translation that fails is not the point that it was drawn from.
    const auto first = works ? first_.try_emplace(program, programs_.size()).first : first_.end();
    if (works && first->second != programs_.size()) made.same = first->second;
    accepted_.push_back(made.accepted);
    programs_.push_back(std::move(program));
    return made;
  }

  std::vector<std::size_t> bins_of(const Program& program) const {
    std::vector<std::size_t> bins;
    if (program.size() > 1) {
      for (std::size_t at = 0; at < program.size(); ++at)
        bins.push_back(world_.kernels[at]->structure(program[at]));
      return bins;
    }
    const GeneSpace& space = *world_.kernels.front();
    for (std::size_t i = 0; i < space.parameters().size(); ++i)
      if (space.parameters()[i].classes > 0) bins.push_back(space.class_of(i, program.front()));
    return bins;
  }

  World world_;
  std::uint64_t seed_;
  double reference_ = 0, best_ = 0;  ///< times: of the seed, or of medians; and of the best of all
  std::optional<Made> seed_made_;
  std::vector<Program> programs_;
  std::map<Program, std::size_t> first_;  ///< the first program with these genes
  std::vector<bool> accepted_;
};

}  // namespace

BenchTask task_of(std::string name, std::string kind, World world) {
  return {std::move(name), std::move(kind), [world = std::move(world)](std::uint64_t seed) {
            return std::make_unique<RecordedProblem>(world, seed);
          }};
}

}  // namespace kernelsmith::bench
