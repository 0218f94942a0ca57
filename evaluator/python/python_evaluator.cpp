#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/as_written.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>

#include "evaluator_process.hpp"
#include "evaluator_program.hpp"

namespace kernelsmith {
namespace {

using python_process::Answer;
using python_process::EvaluatorProcess;
using python_process::WorkerReply;

constexpr std::size_t kDiagnosticBytes = 4000;
/// The prompt for a program's child shows this much of each artifact's end, and of all together. The texts
/// are kept in memory.
constexpr std::size_t kAdviceBytesOfEach = 1000, kAdviceBytes = 4000;
/// A dead process is replaced once: only a candidate that ends two of them is to blame.
constexpr int kAttempts = 2;

/// The end of standard error.
std::string said_in(const std::vector<Artifact>& artifacts) {
  const auto err = std::ranges::find(artifacts, "python.err", &Artifact::name);
  return err == artifacts.end() ? "" : tail_of(err->text, kDiagnosticBytes);
}

/// The artifacts that the evaluator returned, and standard error.
std::string advice_of(const std::vector<Artifact>& artifacts) {
  std::string advice;
  for (const Artifact& one : artifacts) {
    if (one.name == "python.out") continue;
    const std::string part = one.name + ":\n" + tail_of(one.text, kAdviceBytesOfEach) + "\n";
    if (advice.size() + part.size() <= kAdviceBytes) advice += part;
  }
  return advice;
}

Stage stage_of(RejectionCode code) {
  const bool integrity = code == RejectionCode::sandbox_violation || code == RejectionCode::protocol_forged;
  return integrity ? Stage::integrity : Stage::run;
}

class PythonBackend final : public Backend {
 public:
  PythonBackend(PythonSettings task, double timeout_s, SandboxSpec spec, const PythonOptions& options,
                std::size_t slots)
      : task_(std::move(task)),
        spec_(std::move(spec)),
        limits_{timeout_s, python_process::memory_bytes(task_), options.processes},
        tier_(runs_unsandboxed(task_, options) ? "unsandboxed" : "unverified"),
        processes_(slots) {}

  /// Starts the first process, so that errors in the evaluator are reported before the search starts.
  Status prepare(const std::stop_token& stop) { return process_of(0, stop); }

  Result<Compilation> compile(const Source& source, std::stop_token) override {
    return Compilation{std::make_shared<AsWritten>(source), {}};
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    const Source& candidate = static_cast<const AsWritten&>(*request.candidate).source;
    Answer answer;
    std::optional<Error> failed;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (const Status ready = process_of(request.device, stop); !ready) return ready.error();
      auto& process = processes_[request.device];
      request.report.toolchain = "Python " + process->version();
      answer = process->evaluate(candidate, limits_, stop);
      failed.reset();
      if (answer.kind == Answer::Kind::reply) {
        auto reply = python_process::read_evaluation(answer.message);
        if (!reply || reply->spoiled) process.reset();
        if (reply) return judge(std::move(*reply), std::move(request.report));
        failed = reply.error();  // a fault of the machine or of an earlier program
        continue;
      }
      process.reset();
      if (answer.kind != Answer::Kind::ended) break;
    }
    if (failed) return *failed;
    return without_reply(answer, std::move(request.report));
  }

 private:
  /// A slot's process belongs to the run that has the slot.
  Status process_of(std::size_t slot, const std::stop_token& stop) {
    auto& process = processes_.at(slot);
    if (process) return {};
    auto started = EvaluatorProcess::start(spec_, task_, stop);
    if (!started) return started.error();
    process = std::move(*started);
    return {};
  }

  Result<Evaluation> judge(WorkerReply reply, Report report) const {
    report.tier = tier_;
    report.spent_ms["run"] = reply.wall_ms;
    report.advice = advice_of(reply.artifacts);
    report.artifacts.insert(report.artifacts.end(), reply.artifacts.begin(), reply.artifacts.end());
    if (reply.rejected) {
      const std::string said = said_in(reply.artifacts);
      return reject(*reply.rejected, reply.words + (said.empty() ? "" : "\n" + said), std::move(report));
    }
    auto metrics = Metrics::create(Measurement::exact(reply.fitness), std::move(reply.features));
    if (!metrics) return reject(RejectionCode::bad_metrics, describe(metrics.error()), std::move(report));
    return Evaluation(Acceptance{std::move(*metrics), std::move(report)});
  }

  Result<Evaluation> without_reply(const Answer& answer, Report report) const {
    report.tier = tier_;
    switch (answer.kind) {
      case Answer::Kind::stopped:
        return fail(ErrorCode::cancelled, "the evaluation was stopped");
      case Answer::Kind::late:
        return reject(RejectionCode::timed_out,
                      "past its time, and the process that watches the time gave no answer",
                      std::move(report));
      case Answer::Kind::garbage:
        return reject(RejectionCode::protocol_forged, "the worker's channel carried " + answer.words,
                      std::move(report));
      default:
        return reject(RejectionCode::crashed,
                      "the process that watches the evaluation was ended: " + answer.words,
                      std::move(report));
    }
  }

  static Evaluation reject(RejectionCode code, std::string why, Report report) {
    return Evaluation(Rejection{stage_of(code), code, std::move(why), std::move(report)});
  }

  PythonSettings task_;
  SandboxSpec spec_;
  python_process::EvaluateLimits limits_;
  std::string tier_;
  /// Processes by slot, started at the slot's first run.
  std::vector<std::unique_ptr<EvaluatorProcess>> processes_;
};

}  // namespace

std::string named_python(const PythonSettings& task, const PythonOptions& options) {
  return options.python.empty() ? task.python : options.python;
}

bool runs_unsandboxed(const PythonSettings& task, const PythonOptions& options) {
  if (options.sandbox == PythonSandbox::as_task) return !task.sandbox;
  return options.sandbox == PythonSandbox::none;
}

Result<std::shared_ptr<Evaluator>> make_python_evaluator(Task task, const PythonOptions& options) {
  if (task.backend != "python")
    return fail(ErrorCode::unsupported, "this is a task of the backend '" + task.backend + "', not 'python'",
                task.name);
  auto settings = python_settings(task);
  if (!settings) return settings.error();
  const auto program = python_process::find_program(named_python(*settings, options));
  if (!program) return program.error();
  const auto confinement =
      runs_unsandboxed(*settings, options) ? Confinement::unsandboxed : Confinement::sandboxed;
  if (confinement == Confinement::sandboxed)
    if (const Status readable = python_process::check_readable(*settings); !readable) return readable.error();
  SandboxSpec spec = python_process::program_spec(*program, *settings, options.processes, confinement);
  const EvaluatorOptions stages = EvaluatorOptions::for_programs(options.runs_at_a_time);
  auto shared = std::make_shared<const Task>(std::move(task));
  auto backend = std::make_shared<PythonBackend>(std::move(*settings), shared->timeout_s, std::move(spec),
                                                 options, stages.run_slots);
  if (const Status ready = backend->prepare(options.stop); !ready) return ready.error();
  return make_staged_evaluator(std::move(shared), std::move(backend), stages);
}

}  // namespace kernelsmith
