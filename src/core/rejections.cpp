#include <kernelsmith/core/rejections.hpp>

namespace kernelsmith {

bool had_compiled(RejectionCode code) {
  using enum RejectionCode;
  switch (code) {
    case unreadable:
    case frozen_changed:
    case too_large:
    case forbidden_construct:
    case compile_failed:
    case compile_limit:
    case entry_missing:
      return false;
    default:
      return true;
  }
}

bool evades_measurement(RejectionCode code) {
  using enum RejectionCode;
  return code == background_work || code == protocol_forged || code == sandbox_violation ||
         code == implausible_speed;
}

bool lacks_own_kernel(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  if (!metrics) return false;
  const auto own_kernels = metrics->features().find("own_kernels");
  return own_kernels != metrics->features().end() && own_kernels->second == 0;
}

}  // namespace kernelsmith
