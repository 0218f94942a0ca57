#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

#include "compiler.hpp"
#include "judge.hpp"
#include "locate_runner.hpp"

namespace kernelsmith {
namespace {

/// Starting a sandbox on a busy machine takes its time, however short the task's calls are.
constexpr double kLeastLoadTimeoutS = 2;

class CpuBackend final : public Backend {
 public:
  CpuBackend(std::shared_ptr<const CpuCompiler> compiler, std::unique_ptr<Judge> judge)
      : compiler_(std::move(compiler)), judge_(std::move(judge)) {}

  Result<Compilation> compile(const Source& source, std::stop_token stop) override {
    const auto start = std::chrono::steady_clock::now();
    auto output = compiler_->compile(source, Precision::declared, std::move(stop));
    Report report;
    report.toolchain = compiler_->description();
    report.spent_ms["compile"] =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (output) {
      if (!output->log.empty()) report.artifacts.push_back({"compile.log", std::move(output->log)});
      return Compilation{BinaryPtr(std::move(output->binary)), std::move(report)};
    }
    const Failure failure = output.error();
    if (const Error* error = std::get_if<Error>(&failure)) return *error;
    Rejection rejection = std::get<Rejection>(failure);
    rejection.report = std::move(report);
    return Compilation{std::move(rejection), {}};
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    const std::lock_guard lock(mutex_);
    return judge_->evaluate(std::static_pointer_cast<const CpuBinary>(request.candidate),
                            std::static_pointer_cast<const CpuBinary>(request.rival),
                            request.remeasurement == Remeasurement::confirm, std::move(request.report),
                            std::move(stop));
  }

 private:
  const std::shared_ptr<const CpuCompiler> compiler_;
  std::mutex mutex_;  ///< guards judge_
  const std::unique_ptr<Judge> judge_;
};

Status check_supported(const Task& task) {
  if (task.backend != "cpu")
    return fail(ErrorCode::unsupported,
                "the task '" + task.name + "' is for the backend '" + task.backend + "'");
  for (const TensorSpec& tensor : task.tensors)
    if (cpp_type(tensor.dtype).empty())
      return fail(ErrorCode::refused,
                  "the cpu backend has no type for " + std::string(name_of(tensor.dtype)) + " (tensor '" +
                      tensor.name + "')",
                  "tensors", "use f32 or f64");
  return {};
}

Result<CpuBinaryPtr> build_trusted(const CpuCompiler& compiler, const Source& source, Precision precision,
                                   const std::string& what) {
  auto output = compiler.compile(source, precision, {});
  if (output) return std::move(output->binary);
  const Failure failure = output.error();
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  return fail(ErrorCode::refused,
              "the task's " + what + " does not compile" +
                  (precision == Precision::promoted ? " in a wider type" : "") + ": " +
                  std::get<Rejection>(failure).diagnostics,
              "files: " + what,
              precision == Precision::promoted
                  ? "write it with plain float, or add an oracle: the same function over double"
                  : "");
}

struct TrustedBinaries {
  CpuBinaryPtr oracle, baseline, yardstick;
};

/// Side by side: compilers are the slowest part of making an evaluator for a small task.
Result<TrustedBinaries> build_all_trusted(const Task& task, const CpuCompiler& compiler) {
  const bool own_oracle = !task.oracle.empty();
  const auto build = [&](const Source& source, Precision precision, const char* what) {
    return std::async(std::launch::async, [&compiler, &source, precision, what] {
      return build_trusted(compiler, source, precision, what);
    });
  };
  auto oracle = build(own_oracle ? task.oracle : task.reference,
                      needs_truth(task) ? Precision::promoted : Precision::declared,
                      own_oracle ? "oracle" : "reference");
  auto baseline = build(task.baseline, Precision::declared, "baseline");
  auto seed = build(task.seed.empty() ? task.baseline : task.seed, Precision::declared, "seed");
  auto oracle_built = oracle.get();
  auto baseline_built = baseline.get();
  auto seed_built = seed.get();
  if (!oracle_built) return oracle_built.error();
  if (!baseline_built) return baseline_built.error();
  if (!seed_built) return seed_built.error();
  return TrustedBinaries{*oracle_built, *baseline_built, task.seed.empty() ? *baseline_built : *seed_built};
}

}  // namespace

Result<std::shared_ptr<Evaluator>> make_cpu_evaluator(Task task, CpuOptions options) {
  if (auto s = check_supported(task); !s) return s.error();
  auto runner = locate_runner(options.runner);
  if (!runner) return runner.error();
  auto compiler = CpuCompiler::create(task, options);
  if (!compiler) return compiler.error();
  auto trusted = build_all_trusted(task, **compiler);
  if (!trusted) return trusted.error();

  const auto shared = std::make_shared<const Task>(std::move(task));
  JudgeParts parts;
  parts.task = shared;
  parts.runner.program = *runner;
  parts.runner.unsandboxed = options.unsandboxed;
  parts.runner.cgroup = !options.without_cgroup;
  parts.runner.threads = shared->threads;
  if (shared->threads > 1) parts.runner.cores = std::make_shared<const ReservedCores>(shared->threads);
  parts.runner.load_timeout_s = std::max(kLeastLoadTimeoutS, shared->timeout_s);
  parts.bank.bytes = options.bank_bytes;
  parts.bank.seconds = options.bank_seconds;
  parts.oracle = trusted->oracle;
  parts.baseline = trusted->baseline;
  parts.yardstick = trusted->yardstick;
  auto judge = Judge::create(std::move(parts));
  if (!judge) return judge.error();
  return make_staged_evaluator(shared, std::make_shared<CpuBackend>(*compiler, std::move(*judge)),
                               EvaluatorOptions::for_this_machine());
}

}  // namespace kernelsmith
