#include "eval_server.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace kernelsmith::bench {

EvalServer::EvalServer(Problem& problem, std::size_t budget, std::uint64_t seed, std::size_t in_flight)
    : problem_(problem), budget_(budget), seed_(seed), in_flight_(in_flight) {
  if (const auto made = problem.seed()) add(*made);
}

std::optional<std::size_t> EvalServer::begin() {
  if (problem_.seed()) return 0;
  Asked translation = Step::large;
  translation.translate = true;
  while (const auto child = make(translation, 0))
    if (trials_[*child].accepted) return child;
  return std::nullopt;
}

std::optional<std::size_t> EvalServer::make(const Asked& asked, std::size_t parent,
                                            std::span<const std::size_t> shown) {
  if (!open()) return std::nullopt;
  add(problem_.make(asked, parent, shown));
  return trials_.size() - 1;
}

std::optional<std::size_t> EvalServer::make_new(const Asked& asked, std::size_t parent,
                                                std::span<const std::size_t> shown) {
  if (!open()) return std::nullopt;
  Made made = problem_.make(asked, parent, shown);
  if (!made.same) {
    add(made);
    return trials_.size() - 1;
  }
  made.accepted = false;  // its number stays unused
  trials_.push_back({.size = made.size, .structure = made.structure});
  made_.push_back(made);
  return made.same;
}

bool EvalServer::launch(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown,
                        Learn learn) {
  const auto child = make(asked, parent, shown);
  if (!child) return false;
  under_way_.emplace_back(*child, std::move(learn));
  // What an arm learns may make it launch another child.
  while (under_way_.size() >= in_flight_) {
    const auto [known, told] = std::move(under_way_.front());
    under_way_.pop_front();
    told(known);
  }
  return true;
}

std::vector<std::size_t> EvalServer::known() const {
  const std::size_t told = under_way_.empty() ? trials_.size() : under_way_.front().first;
  std::vector<std::size_t> accepted;
  for (std::size_t i = 0; i < told; ++i)
    if (trials_[i].accepted) accepted.push_back(i);
  std::ranges::stable_sort(accepted, std::greater{}, [&](std::size_t i) { return trials_[i].speedup; });
  return accepted;
}

double EvalServer::score() const {
  return best_ ? made_[*best_].score : -std::numeric_limits<double>::infinity();
}

std::map<std::vector<std::size_t>, double> EvalServer::best_of_structures() const {
  std::map<std::vector<std::size_t>, double> best;
  for (const Made& made : made_)
    if (made.accepted) {
      double& share = best[made.structure];
      share = std::max(share, std::exp(made.score - problem_.highest()));
    }
  return best;
}

double EvalServer::qd_score() const {
  double sum = 0;
  for (const auto& [structure, share] : best_of_structures()) sum += share;
  return sum;
}

std::size_t EvalServer::filled() const { return best_of_structures().size(); }

std::size_t EvalServer::seen() const {
  std::set<std::vector<std::size_t>> structures;
  for (const Made& made : made_) structures.insert(made.structure);
  return structures.size();
}

double EvalServer::remeasure(std::size_t program) {
  const double again = measure_again(program);
  count();
  return again;
}

double EvalServer::measured_beside(std::size_t program) { return measure_again(program); }

double EvalServer::measure_again(std::size_t program) {
  Trial& trial = trials_[program];
  ++trial.measurements;
  const double again = measured(program);
  trial.speedup += (again - trial.speedup) / static_cast<double>(trial.measurements);
  for (std::size_t i = 0; i < trials_.size(); ++i)
    if (trials_[i].accepted && trials_[i].speedup > trials_[*best_].speedup) best_ = i;
  return again;
}

/// Noise is a function of (instance, program, how often it was measured).
double EvalServer::measured(std::size_t program) const {
  Rng rng(seed_, program * 64 + trials_[program].measurements, Purpose::evaluation);
  return std::exp(made_[program].score + problem_.noise() * rng.normal());
}

void EvalServer::add(const Made& made) {
  made_.push_back(made);
  trials_.push_back({made.accepted, 0, made.size, 1, made.structure});
  const std::size_t program = trials_.size() - 1;
  if (made.accepted) trials_.back().speedup = measured(program);
  if (made.accepted && (!best_ || trials_.back().speedup > trials_[*best_].speedup)) best_ = program;
  count();
}

void EvalServer::count() { curve_.push_back(best_ ? made_[*best_].progress : 0); }

}  // namespace kernelsmith::bench
