// An Evaluator double that breaks its contract on purpose: it answers twice, too late, never, and in any
// order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/rng.hpp>

namespace kernelsmith::testing {

/// Probabilities. What becomes of the n-th job depends on the seed alone, never on the threads' timing.
struct Mischief {
  std::uint64_t seed = 1;
  double duplicate = 0;  ///< the answer comes twice
  double late = 0;       ///< the answer comes only once the engine has given the job up
  double lose = 0;       ///< no answer ever comes
  double fail = 0;       ///< the answer is an Error (`unstable`)
};

/// What became of the jobs.
struct LoopbackCounts {
  std::uint64_t started = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t failed = 0;
};

/// Answers from one thread, always with a job drawn at random among those that wait. A job that is lost or
/// late counts on EngineOptions::answer_timeout_s. Thread-safe.
class Loopback final : public Evaluator {
 public:
  using Score = std::function<Evaluation(const EvaluationJob&)>;

  Loopback(Score score, Mischief mischief);
  ~Loopback() override;
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  void start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) override;

  LoopbackCounts counts() const;

 private:
  struct Waiting {
    EvaluationJob job;
    Sink<Evaluation> done;
    bool fail = false;
  };
  struct Late;

  void serve(std::stop_token stop);
  void answer(const Waiting& waiting) const;

  const Score score_;
  const Mischief mischief_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Rng fates_;  ///< drawn in start() only
  Rng order_;  ///< drawn in serve() only
  LoopbackCounts counts_;
  std::vector<Waiting> waiting_;
  std::list<std::unique_ptr<Late>> late_;
  std::jthread server_;  ///< last: it uses all the others
};

}  // namespace kernelsmith::testing
