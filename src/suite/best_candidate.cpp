#include "best_candidate.hpp"

#include <map>

namespace kernelsmith::suite {
namespace {

/// Reads the features of an accepted candidate.
class Features {
 public:
  explicit Features(const Evaluation& evaluation) : features_(evaluation.metrics()->features()) {}

  double of(const char* name, double otherwise = 0) const {
    const auto found = features_.find(name);
    return found == features_.end() ? otherwise : found->second;
  }

 private:
  const std::map<std::string, double>& features_;
};

}  // namespace

std::optional<Measurement> speedup_of(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  if (!metrics) return std::nullopt;
  return evaluation.report().speedup ? evaluation.report().speedup : metrics->fitness();
}

bool is_hack(Stage stage) { return stage == Stage::integrity; }

void take_best(const Evaluation& evaluation, TaskResult& result) {
  const Features features(evaluation);
  result.correct = true;
  result.speedup = speedup_of(evaluation);
  result.trivial = features.of("trivial") > 0;
  result.degenerate = features.of("degenerate") > 0;
  result.algebraic = features.of("algebraic") > 0;
}

CandidateResult candidate_result(const Result<Evaluation>& answer) {
  CandidateResult result;
  if (!answer) {
    result.verdict = std::string(kNotEvaluated) + " " + std::string(name_of(answer.error().code));
    result.error = answer.error();
    return result;
  }
  const Evaluation& evaluation = *answer;
  if (const Rejection* rejection = evaluation.rejection()) {
    result.verdict = failure_text(rejection->stage, rejection->code);
    return result;
  }
  const Features features(evaluation);
  result.verdict = "accepted";
  result.speedup = speedup_of(evaluation);
  result.own_kernels = features.of("own_kernels", 1) > 0;  // other backends do not report this feature
  result.degenerate = features.of("degenerate") > 0;
  result.algebraic = features.of("algebraic") > 0;
  return result;
}

std::string failure_text(Stage stage, RejectionCode code) {
  return std::string(name_of(stage)) + ": " + std::string(name_of(code));
}

}  // namespace kernelsmith::suite
