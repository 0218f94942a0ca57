#include "best_candidate.hpp"

namespace kernelsmith::suite {

std::optional<Measurement> speedup_of(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  if (!metrics) return std::nullopt;
  return evaluation.report().speedup ? evaluation.report().speedup : metrics->fitness();
}

bool is_hack(Stage stage) { return stage == Stage::integrity; }

bool is_trivial(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  if (!metrics) return false;
  const auto found = metrics->features().find("trivial");
  return found != metrics->features().end() && found->second > 0;
}

std::string failure_text(Stage stage, RejectionCode code) {
  return std::string(name_of(stage)) + ": " + std::string(name_of(code));
}

}  // namespace kernelsmith::suite
