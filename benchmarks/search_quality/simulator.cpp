// The fitted proposer: model.py says what its numbers mean, and how they were found.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/rng.hpp>

#include "problem.hpp"

namespace kernelsmith::bench {
namespace {

using Numbers = std::vector<double>;
using Json = nlohmann::json;

/// Linear between points at ascending places, flat outside.
double interpolated(double x, const Numbers& places, const Numbers& values) {
  const auto above = std::ranges::upper_bound(places, x);
  if (above == places.begin()) return values.front();
  if (above == places.end()) return values.back();
  const auto i = static_cast<std::size_t>(above - places.begin());
  const double share = (x - places[i - 1]) / (places[i] - places[i - 1]);
  return values[i - 1] + share * (values[i] - values[i - 1]);
}

double normal_share(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Grid {
  Numbers knots, probabilities, scale;
  double max_gap = 0, noise = 0;
};

struct StepFit {
  Numbers rejected;             ///< at the knots
  std::vector<Numbers> change;  ///< at the knots, by probability
  double lift = 0, gap_slope = 0, gap_start = 0;
  double growth = 0, growth_spread = 0;  ///< of the logarithm of the text's size
};

struct Fit {
  double first_rejected = 0, rejected_again = 0;
  double alike_change = 0, alike_rejected = 0;
  double seed_standing = 0;
  double first_growth = 0, first_growth_spread = 0;
  Numbers first, score;
  std::array<StepFit, 2> steps;  ///< by Step
};

class Simulator final : public Problem {
 public:
  Simulator(std::shared_ptr<const Grid> grid, std::shared_ptr<const Fit> fit, std::uint64_t seed)
      : grid_(std::move(grid)), fit_(std::move(fit)), seed_(seed) {
    programs_.push_back({true, true, fit_->seed_standing, 0.0});
  }

  std::optional<Made> seed() const override { return made(programs_.front()); }

  Made make(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown) override {
    Rng rng(seed_, programs_.size(), Purpose::proposal);
    const Program& from = programs_[parent];
    double best_shown = -std::numeric_limits<double>::infinity();
    for (const std::size_t i : shown)
      if (i != 0 && programs_[i].accepted) best_shown = std::max(best_shown, programs_[i].standing);
    programs_.push_back(from.from_seed ? first_child(parent, rng)
                                       : later_child(asked.step, parent, best_shown, rng));
    return made(programs_.back());
  }

  double noise() const override { return grid_->noise; }

 private:
  struct Program {
    bool accepted;
    bool from_seed;   ///< the nearest accepted ancestor, itself included, is the seed
    double standing;  ///< of that ancestor
    double log_size;
  };

  Made made(const Program& program) const {
    return {program.accepted, score_at(program.standing), logistic(program.standing),
            std::exp(program.log_size)};
  }

  /// Beyond the best of the recording the score rises as it did last.
  double score_at(double standing) const {
    const double end = grid_->scale.back();
    if (standing <= end) return interpolated(standing, grid_->scale, fit_->score);
    const double slope = fit_->score.back() - interpolated(end - 1, grid_->scale, fit_->score);
    return fit_->score.back() + std::max(slope, 0.005) * (standing - end);
  }

  /// The children of one parent share a part of their draws.
  double draw(std::size_t parent, std::uint64_t what, double alike, Rng& rng) const {
    Rng shared(seed_, parent * 2 + what, Purpose::operators);
    return std::sqrt(alike) * shared.normal() + std::sqrt(1 - alike) * rng.normal();
  }

  Program first_child(std::size_t parent, Rng& rng) const {
    const double failing = programs_[parent].accepted ? fit_->first_rejected : fit_->rejected_again;
    const bool accepted = normal_share(draw(parent, 0, fit_->alike_rejected, rng)) >= failing;
    const double place = normal_share(draw(parent, 1, fit_->alike_change, rng));
    const double size = fit_->first_growth + fit_->first_growth_spread * rng.normal();
    if (!accepted) return {false, true, fit_->seed_standing, size};
    return {true, false, interpolated(place, grid_->probabilities, fit_->first), size};
  }

  Program later_child(Step step, std::size_t parent, double best_shown, Rng& rng) const {
    const Program& from = programs_[parent];
    const StepFit& fit = fit_->steps[static_cast<std::size_t>(step)];
    const double basis = from.standing + fit.lift * std::max(best_shown - from.standing, 0.0);
    const double failing =
        from.accepted ? interpolated(basis, grid_->knots, fit.rejected) : fit_->rejected_again;
    const bool accepted = normal_share(draw(parent, 0, fit_->alike_rejected, rng)) >= failing;
    const double gap = std::clamp(best_found() - basis, 0.0, grid_->max_gap);
    const double drawn = draw(parent, 1, fit_->alike_change, rng) + fit.gap_start + fit.gap_slope * gap;
    const double size = from.log_size + fit.growth + fit.growth_spread * rng.normal();
    if (!accepted) return {false, false, from.standing, size};
    return {true, false, basis + change(fit, basis, normal_share(drawn)), size};
  }

  double change(const StepFit& fit, double basis, double place) const {
    Numbers at_knots;
    for (const Numbers& quantiles : fit.change)
      at_knots.push_back(interpolated(place, grid_->probabilities, quantiles));
    return interpolated(basis, grid_->knots, at_knots);
  }

  double best_found() const {
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < programs_.size(); ++i)
      if (programs_[i].accepted) best = std::max(best, programs_[i].standing);
    return best;
  }

  std::shared_ptr<const Grid> grid_;
  std::shared_ptr<const Fit> fit_;
  std::uint64_t seed_;
  std::vector<Program> programs_;
};

StepFit step_from(const Json& task, const char* name) {
  StepFit fit;
  fit.rejected = task.at(name).at("rejected").get<Numbers>();
  fit.change = task.at(name).at("change").get<std::vector<Numbers>>();
  fit.lift = task.at("lift").at(name);
  fit.gap_slope = task.at("gap").at(name).at(0);
  fit.gap_start = task.at("gap").at(name).at(1);
  fit.growth = task.at("size").at(name).at(0);
  fit.growth_spread = task.at("size").at(name).at(1);
  return fit;
}

Fit fit_from(const Json& task) {
  Fit fit;
  fit.first_rejected = task.at("first").at("rejected");
  fit.first = task.at("first").at("standing").get<Numbers>();
  fit.rejected_again = task.at("rejected_again");
  fit.alike_change = task.at("alike").at("change");
  fit.alike_rejected = task.at("alike").at("rejected");
  fit.seed_standing = task.at("seed_standing");
  fit.first_growth = task.at("size").at("first").at(0);
  fit.first_growth_spread = task.at("size").at("first").at(1);
  fit.score = task.at("score").get<Numbers>();
  fit.steps = {step_from(task, "large"), step_from(task, "small")};
  return fit;
}

}  // namespace

std::vector<BenchTask> fitted_tasks(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  const Json json = Json::parse(in);
  auto grid = std::make_shared<Grid>();
  grid->knots = json.at("knots").get<Numbers>();
  grid->probabilities = json.at("probabilities").get<Numbers>();
  grid->scale = json.at("scale").get<Numbers>();
  grid->max_gap = json.at("max_gap");
  grid->noise = json.at("noise");
  std::vector<BenchTask> tasks;
  for (const auto& [name, task] : json.at("tasks").items())
    tasks.push_back({name, task.at("family"),
                     [grid, fit = std::make_shared<const Fit>(fit_from(task))](std::uint64_t seed) {
                       return std::make_unique<Simulator>(grid, fit, seed);
                     }});
  return tasks;
}

}  // namespace kernelsmith::bench
