#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

Result<std::string> EvaluatorProvider::describe_plan(const Task& task, const Source&) const {
  return fail(ErrorCode::unsupported, "candidates of the backend '" + task.backend + "' have no plan", {},
              "kernelsmith evaluate measures them");
}

Result<GpuProfile> EvaluatorProvider::profile(const Task& task, const Source&, const std::stop_token&) const {
  return fail(ErrorCode::unsupported,
              "launches and counters are measured for candidates in CUDA C++, not for the backend '" +
                  task.backend + "'");
}

Result<PlainVerdict> EvaluatorProvider::verify(const Task& task, const Source&,
                                               const std::stop_token&) const {
  return fail(
      ErrorCode::unsupported,
      "candidates of the backend '" + task.backend + "' are not programs that run without kernelsmith", {},
      "kernelsmith evaluate measures them; verify is for torch");
}

}  // namespace kernelsmith
