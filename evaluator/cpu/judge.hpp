// Judge: decides about one object at a time. Holds the bank, the arenas and the trusted runners.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/backend.hpp>

#include "bank.hpp"
#include "loaded_object.hpp"
#include "roofline.hpp"

namespace kernelsmith {

/// The trusted and the untrusted objects that a judge is made of.
struct JudgeParts {
  std::shared_ptr<const Task> task;
  RunnerSettings runner;
  BankLimits bank;
  CpuBinaryPtr oracle, baseline;
  CpuBinaryPtr seed;       ///< null where the task has none
  CpuBinaryPtr yardstick;  ///< the task's own, else the seed, else the baseline
  TrustedBuilder build;    ///< for the roofline's own kernels
};

struct Examination {
  bool fresh = false;    ///< a new bank is drawn first
  bool careful = false;  ///< as EvaluationJob::careful
};

/// Not thread-safe, but for expect_evaluation(): what it times, it times alone.
class Judge {
 public:
  /// Makes the bank, checks baseline and yardstick, and measures the one against the other. Errors: refused.
  static Result<std::unique_ptr<Judge>> create(JudgeParts parts);

  /// Prepares for an evaluation in the background, until one begins.
  void expect_evaluation();

  /// Checks and times `candidate`, against `rival` too where there is one.
  Result<Evaluation> evaluate(const CpuBinaryPtr& candidate, const CpuBinaryPtr& rival, Examination how,
                              Report report, const std::stop_token& stop);

  /// "full", "weak" or "unsandboxed".
  const std::string& tier() const { return tier_; }

 private:
  explicit Judge(JudgeParts parts);

  // When it is made (judge_setup.cpp).
  Status prepare();
  Status draw_bank();
  Result<Arena> make_arena() const;
  Status verify(const CpuBinaryPtr& object, const char* what);
  Status measure_empty_request();
  Status compare_baseline();

  // For each candidate (judge.cpp).
  LoadedObject object_for(CpuBinaryPtr binary, Arena& arena, Trust trust,
                          const std::stop_token& stop = {}) const;
  Judged<Measurement> examine(LoadedObject& candidate, const CpuBinaryPtr& binary, const CpuBinaryPtr& rival,
                              Examination how, Report& report, const std::stop_token& stop);
  Judged<void> check_all_shapes(LoadedObject& candidate, bool again, const std::stop_token& stop,
                                std::vector<ShapeResult>* results = nullptr);
  Judged<void> check_speed(LoadedObject& candidate, std::size_t shape);
  Judged<void> check_plausible(const Report& report);
  Judged<Measurement> time_all_shapes(LoadedObject& candidate, const Digest& binary, bool careful,
                                      Report& report, const std::stop_token& stop);
  Judged<void> duel(LoadedObject& candidate, const CpuBinaryPtr& rival, Report& report,
                    const std::stop_token& stop);

  /// All that was ever measured of a binary: ratios to the yardstick and times, by timed shape.
  struct Pool {
    std::vector<std::vector<double>> ratios;
    std::vector<std::vector<double>> times_us;
  };

  JudgeParts parts_;
  std::vector<TaskShape> shapes_;
  Bank bank_;
  std::unique_ptr<Arena> candidate_arena_, yardstick_arena_, rival_arena_;
  std::unique_ptr<RunnerPool> runners_;  ///< over the arenas
  std::unique_ptr<LoadedObject> yardstick_;
  std::vector<Measurement> baseline_over_yardstick_;  ///< by timed shape
  Measurement scale_;                                 ///< their geometric mean
  std::map<Digest, Pool> pools_;
  Roofline roofline_;
  double empty_request_us_ = 0;
  std::string tier_;
  std::string hardware_;
};

}  // namespace kernelsmith
