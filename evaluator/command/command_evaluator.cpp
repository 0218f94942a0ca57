#include <string>
#include <utility>

#include <kernelsmith/evaluator/as_written.hpp>
#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "answer.hpp"
#include "command_line.hpp"

namespace kernelsmith {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestAnswer = 1 << 20;
constexpr std::size_t kDiagnosticBytes = 4000;
constexpr const char* kAnswerFile = "answer.json";

// The folders of one run, and their paths in the sandbox.
struct RunFolders {
  ScratchFolder task, candidate, answer;
};

Status write_all(const ScratchFolder& folder, const std::vector<SourceFile>& files) {
  for (const SourceFile& file : files)
    if (Status written = folder.write(file.path, file.text); !written) return written;
  return {};
}

Result<RunFolders> lay_out(const Task& task, const Source& candidate) {
  Result<ScratchFolder> task_folder = ScratchFolder::create(), candidate_folder = ScratchFolder::create(),
                        answer_folder = ScratchFolder::create();
  if (!task_folder) return task_folder.error();
  if (!candidate_folder) return candidate_folder.error();
  if (!answer_folder) return answer_folder.error();
  if (Status written = write_all(*task_folder, task.files); !written) return written.error();
  if (Status written = write_all(*candidate_folder, candidate.files()); !written) return written.error();
  return RunFolders{std::move(*task_folder), std::move(*candidate_folder), std::move(*answer_folder)};
}

RejectionCode code_of(const SandboxResult& result) {
  switch (result.kind) {
    case ExitKind::wall_limit:
      return RejectionCode::timed_out;
    case ExitKind::memory_limit:
      return RejectionCode::out_of_memory;
    case ExitKind::signalled:
      return RejectionCode::crashed;
    case ExitKind::exited:
    case ExitKind::output_limit:
    case ExitKind::killed:
      break;
  }
  return RejectionCode::command_failed;
}

class CommandBackend final : public Backend {
 public:
  CommandBackend(std::shared_ptr<const Task> task, std::string program, CommandOptions options)
      : task_(std::move(task)), program_(std::move(program)), options_(options) {}

  Result<Compilation> compile(const Source& source, std::stop_token) override {
    return Compilation{std::make_shared<AsWritten>(source), {}};
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    const Source& candidate = static_cast<const AsWritten&>(*request.candidate).source;
    const Result<RunFolders> folders = lay_out(*task_, candidate);
    if (!folders) return folders.error();
    const Result<SandboxResult> result = run_sandboxed(describe_run(*folders, candidate), stop);
    if (!result) return result.error();
    return judge(*result, folders->answer, complete(std::move(request.report), *result));
  }

 private:
  SandboxSpec describe_run(const RunFolders& folders, const Source& candidate) const {
    // Without a sandbox the program sees the host's paths.
    const bool inside = !options_.unsandboxed;
    const fs::path task = inside ? "/task" : folders.task.path();
    const fs::path sources = inside ? "/candidate" : folders.candidate.path();
    const fs::path answer = inside ? "/answer" : folders.answer.path();

    SandboxSpec spec;
    spec.argv = fill_in(task_->command, {sources / candidate.files().front().path, answer / kAnswerFile});
    spec.argv.front() = program_;
    spec.environment = {{"PATH", kProgramPath}, {"HOME", "/tmp"}, {"LANG", "C.UTF-8"}};
    add_toolchain(spec);
    spec.read_only.push_back({folders.task.path(), task});
    spec.read_only.push_back({folders.candidate.path(), sources});
    spec.read_write.push_back({folders.answer.path(), answer});
    spec.working_directory = task;
    spec.limits.wall_s = task_->timeout_s;
    spec.limits.memory_bytes = options_.memory_bytes;
    spec.profile = SandboxProfile::command;
    spec.confinement = inside ? Confinement::sandboxed : Confinement::unsandboxed;
    return spec;
  }

  Report complete(Report report, const SandboxResult& result) const {
    report.tier = options_.unsandboxed ? "unsandboxed" : "unverified";
    report.toolchain = program_;
    report.spent_ms["run"] = result.wall_s * 1000;
    report.artifacts.push_back({"command.out", escape_controls(result.out)});
    report.artifacts.push_back({"command.err", escape_controls(result.err)});
    return report;
  }

  static Evaluation judge(const SandboxResult& result, const ScratchFolder& answer, Report report) {
    const auto reject = [&](RejectionCode code, const std::string& why) {
      const std::string said = tail_of(result.err, kDiagnosticBytes);
      return Evaluation(
          Rejection{Stage::run, code, said.empty() ? why : why + "\n" + said, std::move(report)});
    };
    if (!result.succeeded()) return reject(code_of(result), "the task's command: " + describe(result));
    const Result<std::string> text = answer.read(kAnswerFile, kLargestAnswer);
    if (!text)
      return reject(RejectionCode::bad_metrics,
                    "the task's command left no usable answer file: " + text.error().message);
    Result<Metrics> metrics = parse_answer(*text);
    if (!metrics)
      return reject(RejectionCode::bad_metrics,
                    "the answer of the task's command: " + describe(metrics.error()));
    return Evaluation(Acceptance{std::move(*metrics), std::move(report)});
  }

  std::shared_ptr<const Task> task_;
  std::string program_;
  CommandOptions options_;
};

// Checks that the sandbox shows the program. A hidden program is reported once, before the search starts.
Status try_sandbox(const std::string& program, const CommandOptions& options) {
  SandboxSpec spec;
  add_toolchain(spec);
  spec.argv = {"/usr/bin/test", "-x", program};
  if (options.unsandboxed) return {};
  const Result<SandboxResult> result = run_sandboxed(spec, options.stop);
  if (!result) return result.error();
  if (result->succeeded()) return {};
  return fail(ErrorCode::tool_missing, "the task's program is not visible in the sandbox", program,
              "install it in /usr: untrusted programs do not see home folders");
}

}  // namespace

Result<std::shared_ptr<Evaluator>> make_command_evaluator(Task task, CommandOptions options) {
  if (task.backend != "command")
    return fail(ErrorCode::unsupported, "this is a task of the backend '" + task.backend + "', not 'command'",
                task.name);
  Result<std::string> program = find_program(task.command);
  if (!program) return program.error();
  if (Status works = try_sandbox(*program, options); !works) return works.error();
  auto shared = std::make_shared<const Task>(std::move(task));
  auto backend = std::make_shared<CommandBackend>(shared, std::move(*program), options);
  return make_staged_evaluator(std::move(shared), std::move(backend),
                               EvaluatorOptions::for_programs(options.runs_at_a_time));
}

}  // namespace kernelsmith
