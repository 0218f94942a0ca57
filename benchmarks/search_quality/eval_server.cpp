#include "eval_server.hpp"

#include <cmath>

namespace kernelsmith::bench {

EvalServer::EvalServer(Problem& problem, Limits limits, std::uint64_t seed)
    : problem_(problem), limits_(limits), seed_(seed) {
  add(problem.seed(), 0);
}

bool EvalServer::open(const Asked& asked) const {
  if (limits_.evaluations && curve_.size() >= *limits_.evaluations) return false;
  return !limits_.cost || cost_ + problem_.cost(asked) <= *limits_.cost + 1e-9;
}

std::optional<std::size_t> EvalServer::make(const Asked& asked, std::size_t parent,
                                            std::span<const std::size_t> shown) {
  if (!open(asked)) return std::nullopt;
  cost_ += problem_.cost(asked);
  add(problem_.make(asked, parent, shown), parent);
  return trials_.size() - 1;
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
  best_ = 0;
  for (std::size_t i = 1; i < trials_.size(); ++i)
    if (trials_[i].accepted && trials_[i].speedup > trials_[best_].speedup) best_ = i;
  return again;
}

/// Noise is a function of (instance, program, how often it was measured).
double EvalServer::measured(std::size_t program) const {
  Rng rng(seed_, program * 64 + trials_[program].measurements, Purpose::evaluation);
  return std::exp(made_[program].score + problem_.noise() * rng.normal());
}

void EvalServer::add(const Made& made, std::size_t parent) {
  made_.push_back(made);
  wasted_ += made.wasted ? 1 : 0;
  trials_.push_back({parent, made.accepted, 0, made.size, 1});
  const std::size_t program = trials_.size() - 1;
  if (made.accepted) trials_.back().speedup = measured(program);
  if (made.accepted && trials_.back().speedup > trials_[best_].speedup) best_ = program;
  count();
}

void EvalServer::count() { curve_.push_back(made_[best_].progress); }

}  // namespace kernelsmith::bench
