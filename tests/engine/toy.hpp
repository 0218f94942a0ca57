// A toy search: a program is a whole number, its fitness peaks at 70, and numbers that end in 3 do not
// compile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/engine/search_state.hpp>

#include "memory_journal.hpp"

namespace kernelsmith::testing {

inline Source number(long x) { return Source::create({{"x.txt", std::to_string(x)}}).value(); }
inline long number_in(const Source& source) { return std::stol(std::string(source.main_text())); }

inline Evaluation accepted(Measurement fitness, std::map<std::string, double> features = {}) {
  return Acceptance{Metrics::create(std::move(fitness), std::move(features)).value(), {}};
}
inline Evaluation rejected(Stage stage = Stage::compile, RejectionCode code = RejectionCode::compile_failed) {
  return Rejection{stage, code, "it was told to fail", {}};
}

inline Evaluation score_of(long x) {
  if (x % 10 == 3) return rejected();
  const auto distance = static_cast<double>(x > 70 ? x - 70 : 70 - x);
  return accepted(Measurement::exact(100 - distance), {{"x", double(x)}});
}

inline Evaluation score(const EvaluationJob& job) { return score_of(number_in(job.source)); }

inline IndividualPtr evaluated(Evaluation evaluation) {
  auto program = std::make_shared<Program>(Program{{1}, number(1), {}, Origin::seed});
  return std::make_shared<Individual>(Individual{std::move(program), std::move(evaluation)});
}

/// What `evaluation` is if the source was compiled to these bytes.
inline Evaluation of_binary(const std::string& bytes, const Evaluation& evaluation) {
  Report report = evaluation.report();
  report.binary = digest_of(bytes);
  if (const Metrics* metrics = evaluation.metrics()) return Acceptance{*metrics, report};
  Rejection rejection = *evaluation.rejection();
  rejection.report = report;
  return rejection;
}

/// With noise that is a function of (candidate, attempt), so that duels happen too. An even number and the
/// next one are compiled to the same bytes.
inline Evaluation noisy_score(const EvaluationJob& job) {
  const long x = number_in(job.source);
  const std::string bytes = std::to_string(x / 2);
  if (x % 10 == 3) return of_binary(bytes, rejected());
  Rng rng(7, job.candidate.value * 64 + job.attempt, Purpose::evaluation);
  const double median = score_of(x).metrics()->fitness().median + rng.normal();
  return of_binary(bytes, accepted({median, median - 2, median + 2, 5, ""}, {{"x", double(x)}}));
}

/// A step of at most 10 from the parent.
inline Source nudge(const ProposalRequest& request) {
  const auto& parent = request.selection.parent;
  Rng rng = request.rng();
  return number((parent ? number_in(parent->program->source) : 0) + long(rng.below(21)) - 10);
}

/// 12 iterations from a seed of 0 over ten cells, one island. Parents are drawn from the archive.
inline EngineOptions toy_options(std::uint64_t iterations = 12) {
  EngineOptions options;
  options.budgets.iterations = iterations;
  options.seeds = {number(0)};
  options.axes = {{"x", LinearScale{0, 100, 10}}};
  options.sampler = std::make_shared<MixtureSampler>(MixtureSampler::create().value());
  options.retry_delay_s = 0;
  return options;
}

inline std::shared_ptr<Operators> weighted(std::vector<WeightedOperators::Entry> entries) {
  return std::make_shared<WeightedOperators>(WeightedOperators::create(std::move(entries)).value());
}

inline Engine open_engine(const EngineOptions& options, const Events& events,
                          std::shared_ptr<Evaluator> evaluator = nullptr,
                          std::shared_ptr<Proposer> proposer = nullptr) {
  return Engine::create(std::make_unique<MemoryJournal>(events), options, std::move(evaluator),
                        std::move(proposer))
      .value();
}

/// A run with a time in which this machine, however busy, gets as far as it must: as its counts tell.
template <class Run, class Enough>
Outcome in_time(Run run, Enough enough) {
  for (double wall_s = 0.05;; wall_s *= 4) {
    Outcome outcome = run(wall_s).value();
    if (enough(outcome.counts) || wall_s > 60) return outcome;
  }
}

/// Answers `cancelled` when it is stopped, and not before.
template <class Answer>
class UntilStopped {
 public:
  void wait(std::stop_token stop, Sink<Answer> done) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
        std::move(stop), [done = std::move(done)] { done(fail(ErrorCode::cancelled, "stopped")); }));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> waiting_;
};

inline Ticket next(Engine& engine) { return engine.ask().value().value(); }

inline std::string text_of(const Engine& engine) {
  std::string text;
  engine.inspect([&](const SearchState& state) { text = state.to_text(); });
  return text;
}

inline std::string replayed(const EngineOptions& options, const Events& events) {
  return replay(MemoryJournal(events), options).value().to_text();
}

}  // namespace kernelsmith::testing
