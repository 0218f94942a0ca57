// The policies that run.yaml can name.
#include "providers.hpp"

namespace kernelsmith {
namespace {

class MixtureProvider final : public SamplerProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("explore", options_.explore, {0.0, 1e9});
    in.optional("exploit", options_.exploit, {0.0, 1e9});
    in.optional("weighted", options_.weighted, {0.0, 1e9});
    in.optional("elite_fraction", options_.elite_fraction, {1e-9, 1.0});
    in.optional("top", options_.top, {0, 1000});
    in.optional("inspirations", options_.inspirations, {0, 1000});
    in.optional("failures", options_.failures, {0, 1000});
    if (!in.ok()) return;
    if (const auto valid = MixtureSampler::create(options_); !valid)
      in.refuse("explore", valid.error().message, valid.error().hint);
  }

  void write(YamlWriter& out) const override {
    out.put("explore", options_.explore);
    out.put("exploit", options_.exploit);
    out.put("weighted", options_.weighted);
    out.put("elite_fraction", options_.elite_fraction);
    out.put("top", options_.top);
    out.put("inspirations", options_.inspirations);
    out.put("failures", options_.failures);
  }

  Result<std::shared_ptr<const Sampler>> make(const Task&, const std::stop_token&) const override {
    auto sampler = MixtureSampler::create(options_);
    if (!sampler) return sampler.error();
    return std::make_shared<const MixtureSampler>(*sampler);
  }

 private:
  MixtureOptions options_;
};

class TreeProvider final : public SamplerProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("exploration", options_.exploration, {0.0, 1e9});
    in.optional("opening", options_.opening, {0, 1'000'000});
    in.optional("top", options_.top, {0, 1000});
    in.optional("inspirations", options_.inspirations, {0, 1000});
    in.optional("failures", options_.failures, {0, 1000});
  }

  void write(YamlWriter& out) const override {
    out.put("exploration", options_.exploration);
    out.put("opening", options_.opening);
    out.put("top", options_.top);
    out.put("inspirations", options_.inspirations);
    out.put("failures", options_.failures);
  }

  Result<std::shared_ptr<const Sampler>> make(const Task&, const std::stop_token&) const override {
    auto sampler = TreeSampler::create(options_);
    if (!sampler) return sampler.error();
    return std::make_shared<const TreeSampler>(*sampler);
  }

 private:
  TreeOptions options_;
};

/// A migration that moves so many elites along each edge.
template <class Policy>
class CountedMigrationProvider final : public MigrationProvider {
 public:
  void read(YamlMap& in) override { in.optional("count", count_, {1, 1000}); }
  void write(YamlWriter& out) const override { out.put("count", count_); }
  Result<std::shared_ptr<const Migration>> make(const Task&, const std::stop_token&) const override {
    return std::make_shared<const Policy>(count_);
  }

 private:
  std::size_t count_ = 1;
};

}  // namespace

std::unique_ptr<SamplerProvider> mixture_sampler_provider() { return std::make_unique<MixtureProvider>(); }

std::unique_ptr<SamplerProvider> tree_sampler_provider() { return std::make_unique<TreeProvider>(); }

std::unique_ptr<MigrationProvider> best_migration_provider() {
  return std::make_unique<CountedMigrationProvider<BestMigration>>();
}

std::unique_ptr<MigrationProvider> weighted_migration_provider() {
  return std::make_unique<CountedMigrationProvider<WeightedMigration>>();
}

}  // namespace kernelsmith
