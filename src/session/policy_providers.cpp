// The policies that run.yaml can name.
#include "providers.hpp"

namespace kernelsmith {
namespace {

/// Settings that both samplers have: how many programs a prompt shows beside the parent.
void list_shown(Section& io, auto& options) {
  io("top", options.top, {0, 1000}, "the most of the best programs that a prompt shows beside the parent");
  io("inspirations", options.inspirations, {0, 1000}, "the most of other elites beside it");
  io("failures", options.failures, {0, 1000}, "the most of recent failures beside it");
}

class MixtureProvider final : public SamplerProvider {
 public:
  Result<std::shared_ptr<const Sampler>> make(const Task&, const std::stop_token&) const override {
    auto sampler = MixtureSampler::create(options_);
    if (!sampler) return sampler.error();
    return std::make_shared<const MixtureSampler>(*sampler);
  }

 private:
  void list(Section& io) override {
    io("explore", options_.explore, {0.0, 1e9}, "the weight of any elite as a parent");
    io("exploit", options_.exploit, {0.0, 1e9}, "the weight of the best ones");
    io("weighted", options_.weighted, {0.0, 1e9}, "the weight of a draw by fitness");
    io("elite_fraction", options_.elite_fraction, {1e-9, 1.0}, "the share of elites that are the best ones");
    list_shown(io, options_);
    if (!io.ok()) return;
    if (const auto valid = MixtureSampler::create(options_); !valid)
      io.refuse("explore", valid.error().message, valid.error().hint);
  }

  MixtureOptions options_;
};

/// `kind: cells`, the default, and `kind: tree`, which earlier runs have and which knows no cells.
class TreeProvider final : public SamplerProvider {
 public:
  explicit TreeProvider(bool over_cells) : over_cells_(over_cells) {
    if (!over_cells_) options_.uniform = 0;
  }

  Result<std::shared_ptr<const Sampler>> make(const Task&, const std::stop_token&) const override {
    auto sampler = TreeSampler::create(options_);
    if (!sampler) return sampler.error();
    return std::make_shared<const TreeSampler>(*sampler);
  }

 private:
  void list(Section& io) override {
    io("exploration", options_.exploration, {0.0, 1e9}, "the weight of programs that were seldom a parent");
    if (over_cells_) {
      io("uniform", options_.uniform, {0.0, 1.0},
         "the largest share of parents that are drawn from the best cells alike");
      io("cells", options_.cells, {1, 1'000'000}, "how many these are");
      io("patience", options_.patience, {0.001, 1e9},
         "the number of children without a new best program after which half of that share is drawn");
    }
    io("opening", options_.opening, {0, 1'000'000},
       "the number of accepted programs, tuned ones included, before the search goes deeper; until then the "
       "seed is the parent. Without a seed: of translations that are asked for together, and one more for "
       "each that fails or repeats another");
    list_shown(io, options_);
  }

  bool over_cells_;
  TreeOptions options_;
};

/// A migration that moves this many elites along each edge.
template <class Policy>
class CountedMigrationProvider final : public MigrationProvider {
 public:
  Result<std::shared_ptr<const Migration>> make(const Task&, const std::stop_token&) const override {
    return std::make_shared<const Policy>(count_);
  }

 private:
  void list(Section& io) override { io("count", count_, {1, 1000}, "elites along each edge"); }

  std::size_t count_ = 1;
};

}  // namespace

std::unique_ptr<SamplerProvider> mixture_sampler_provider() { return std::make_unique<MixtureProvider>(); }

std::unique_ptr<SamplerProvider> cells_sampler_provider() { return std::make_unique<TreeProvider>(true); }

std::unique_ptr<SamplerProvider> tree_sampler_provider() { return std::make_unique<TreeProvider>(false); }

std::unique_ptr<MigrationProvider> best_migration_provider() {
  return std::make_unique<CountedMigrationProvider<BestMigration>>();
}

std::unique_ptr<MigrationProvider> weighted_migration_provider() {
  return std::make_unique<CountedMigrationProvider<WeightedMigration>>();
}

}  // namespace kernelsmith
