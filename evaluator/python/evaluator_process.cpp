#include "evaluator_process.hpp"

#include <utility>

namespace kernelsmith::python_process {
namespace {

/// An evaluator may import whole frameworks, from a cold disk.
constexpr double kImportS = 300;
/// The process watches the time itself. If it is stopped or starved, it is given up after this additional
/// time.
constexpr double kBackstopS = 5;
/// Time for a discarded process to end its children.
constexpr double kGraceS = 2;
constexpr std::size_t kMostStages = 3;

Error not_imported(const std::string& why, const PythonSettings& task) {
  return fail(ErrorCode::refused, "the evaluator cannot be imported: " + why, task.evaluator);
}

Result<std::string> load(PythonProcess& process, const PythonSettings& task, const std::stop_token& stop) {
  const Answer answer = process.ask(load_request(task.evaluator, task.cascade), kImportS, stop);
  switch (answer.kind) {
    case Answer::Kind::reply:
      return read_loaded(answer.message);
    case Answer::Kind::stopped:
      return fail(ErrorCode::cancelled, "the evaluation was stopped");
    case Answer::Kind::late:
      return not_imported("it takes longer than 300 s", task);
    case Answer::Kind::ended:
    case Answer::Kind::garbage:
      break;
  }
  return not_imported(answer.words, task);
}

}  // namespace

Result<std::unique_ptr<EvaluatorProcess>> EvaluatorProcess::start(const SandboxSpec& spec,
                                                                  const PythonSettings& task,
                                                                  const std::stop_token& stop) {
  SandboxSpec own = spec;
  std::optional<ScratchFolder> scratch;
  if (spec.confinement == Confinement::unsandboxed) {
    auto made = ScratchFolder::create();
    if (!made) return made.error();
    own.environment["TMPDIR"] = made->path().string();
    scratch.emplace(std::move(*made));
  }
  auto process = PythonProcess::start(std::move(own));
  if (!process) return process.error();
  std::unique_ptr<EvaluatorProcess> started(new EvaluatorProcess(
      std::move(scratch), std::move(*process), task.cascade.empty() ? std::size_t{1} : kMostStages));
  auto version = load(started->process_, task, stop);
  if (!version) return version.error();
  started->version_ = std::move(*version);
  started->process_.grant_grace(kGraceS);  // only now, because a hanging import would use it up
  return started;
}

Answer EvaluatorProcess::evaluate(const Source& candidate, const EvaluateLimits& limits,
                                  const std::stop_token& stop) {
  const double timeout_s = limits.timeout_s * static_cast<double>(stages_) + kBackstopS;
  return process_.ask(evaluate_request(candidate, limits), timeout_s, stop);
}

}  // namespace kernelsmith::python_process
