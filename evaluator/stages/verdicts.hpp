// Verdicts shared by candidates with the same binary.
#pragma once

#include <optional>

#include <kernelsmith/evaluator/backend.hpp>

#include "recent.hpp"

namespace kernelsmith::stages {

/// Shares verdicts by the rules of make_staged_evaluator(), for one task and one backend. Thread-safe.
class Verdicts {
 public:
  explicit Verdicts(std::size_t capacity) : known_(capacity) {}

  /// The verdict of another source that compiled to the same bytes, with this compilation's report.
  std::optional<Evaluation> find(const EvaluationJob& job, const Binary& binary, const Report& compiled);

  /// Keeps a verdict that may be shared, and sets the binary in the report.
  Evaluation keep(const EvaluationJob& job, const Binary& binary, const Evaluation& evaluation);

 private:
  struct Verdict {
    Digest source;
    Evaluation evaluation;
  };
  Recent<Verdict> known_;
};

}  // namespace kernelsmith::stages
