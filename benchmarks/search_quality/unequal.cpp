// Made-up inequality: the fitted kernels, where some models or operators waste a share of their children. A
// wasted child costs as much as another one, and is rejected.
#include <algorithm>
#include <functional>

#include <kernelsmith/core/rng.hpp>

#include "problem.hpp"

namespace kernelsmith::bench {
namespace {

constexpr double kPoor = 0.7;        // of its children a poor model wastes
constexpr std::size_t kChange = 60;  // programs after which another model is the good one
constexpr double kDear = 10;         // times what the cheap model costs

/// How the askers differ.
struct Inequality {
  std::string name;
  std::size_t models = 1;
  double (*wasted)(const Asked& asked, std::size_t program);
  double (*price)(const Asked& asked);
};

double nothing(const Asked&, std::size_t) { return 0; }
double same(const Asked&) { return 1; }

const Inequality kInequalities[] = {
    {"alike", 3, nothing, same},
    {"one good model", 3, [](const Asked& asked, std::size_t) { return asked.model == 1 ? 0 : kPoor; }, same},
    {"useless crossover", 1, [](const Asked& asked, std::size_t) { return asked.crossover ? 1.0 : 0.0; },
     same},
    {"another good model later", 3,
     [](const Asked& asked, std::size_t program) {
       return asked.model == (program < kChange ? 1U : 2U) ? 0 : kPoor;
     },
     same},
    {"one dear model", 2, nothing, [](const Asked& asked) { return asked.model == 0 ? kDear : 1.0; }},
};

class Unequal final : public Problem {
 public:
  Unequal(std::unique_ptr<Problem> inner, const Inequality& inequality, std::uint64_t seed)
      : inner_(std::move(inner)), inequality_(inequality), seed_(seed) {}

  std::optional<Made> seed() const override { return inner_->seed(); }

  Made make(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown) override {
    const std::size_t program = inner_numbers_.size();
    Rng rng(seed_, program, Purpose::retry);
    if (rng.chance(inequality_.wasted(asked, program))) {
      // A repair of it begins at what its parent was.
      inner_numbers_.push_back(inner_numbers_[parent]);
      return {.wasted = true};
    }
    std::vector<std::size_t> inner_shown;
    for (const std::size_t one : shown) inner_shown.push_back(inner_numbers_[one]);
    const Made made = inner_->make(asked, inner_numbers_[parent], inner_shown);
    inner_numbers_.push_back(next_inner_++);
    return made;
  }

  double cost(const Asked& asked) const override { return inner_->cost(asked) * inequality_.price(asked); }
  double noise() const override { return inner_->noise(); }
  std::size_t models() const override { return inequality_.models; }

 private:
  std::unique_ptr<Problem> inner_;
  const Inequality& inequality_;
  std::uint64_t seed_;
  std::vector<std::size_t> inner_numbers_{0};  ///< the seed's
  std::size_t next_inner_ = 1;
};

class UnequalFamily final : public Family {
 public:
  UnequalFamily(std::shared_ptr<const Family> family, const Inequality& inequality)
      : family_(std::move(family)), inequality_(inequality) {}
  std::unique_ptr<Problem> open(std::uint64_t seed) const override {
    return std::make_unique<Unequal>(family_->open(seed), inequality_, seed);
  }

 private:
  std::shared_ptr<const Family> family_;
  const Inequality& inequality_;
};

}  // namespace

std::vector<NamedFamily> unequal_tasks(const std::string& path) {
  std::vector<NamedFamily> tasks;
  for (const auto& inequality : kInequalities)
    for (const auto& task : fitted_tasks(path))
      if (task.kind == "kernel")
        tasks.push_back(
            {task.name, inequality.name, std::make_shared<UnequalFamily>(task.family, inequality)});
  return tasks;
}

}  // namespace kernelsmith::bench
