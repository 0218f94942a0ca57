#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

const Metrics* Evaluation::metrics() const {
  const auto* acceptance = std::get_if<Acceptance>(&outcome_);
  return acceptance ? &acceptance->metrics : nullptr;
}

const Report& Evaluation::report() const {
  return std::visit([](const auto& outcome) -> const Report& { return outcome.report; }, outcome_);
}

Evaluation Evaluation::without_artifacts() const {
  Evaluation copy = *this;
  std::visit([](auto& outcome) { outcome.report.artifacts.clear(); }, copy.outcome_);
  return copy;
}

}  // namespace kernelsmith
