#include "best_candidate.hpp"

namespace kernelsmith::suite {

std::optional<Measurement> speedup_of(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  if (!metrics) return std::nullopt;
  return evaluation.report().speedup ? evaluation.report().speedup : metrics->fitness();
}

bool is_hack(Stage stage) { return stage == Stage::integrity; }

void take_best(const Evaluation& evaluation, TaskResult& result) {
  const auto& features = evaluation.metrics()->features();
  const auto has = [&](const char* name) {
    const auto found = features.find(name);
    return found != features.end() && found->second > 0;
  };
  result.correct = true;
  result.speedup = speedup_of(evaluation);
  result.trivial = has("trivial");
  result.degenerate = has("degenerate");
  result.algebraic = has("algebraic");
}

std::string failure_text(Stage stage, RejectionCode code) {
  return std::string(name_of(stage)) + ": " + std::string(name_of(code));
}

}  // namespace kernelsmith::suite
