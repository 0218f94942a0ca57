#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

#include "budget.hpp"
#include "compiler.hpp"
#include "judge.hpp"
#include "locate_runner.hpp"
#include "memory_need.hpp"
#include "parameter_order.hpp"
#include "truth.hpp"

namespace kernelsmith {
namespace {

/// Starting a sandbox on a busy machine takes its time, however short the task's calls are.
constexpr double kLeastLoadTimeoutS = 2;

class CpuBackend final : public Backend {
 public:
  CpuBackend(std::shared_ptr<const CpuCompiler> compiler, std::unique_ptr<Judge> judge)
      : compiler_(std::move(compiler)), judge_(std::move(judge)) {}

  Result<Compilation> compile(const Source& source, std::stop_token stop) override {
    judge_->expect_evaluation();
    const auto start = std::chrono::steady_clock::now();
    auto output = compiler_->compile(source, Precision::declared, stop);
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
    return judge_->evaluate(
        std::static_pointer_cast<const CpuBinary>(request.candidate),
        std::static_pointer_cast<const CpuBinary>(request.rival),
        {.fresh = request.remeasurement == Remeasurement::confirm, .careful = request.careful},
        std::move(request.report), stop);
  }

 private:
  const std::shared_ptr<const CpuCompiler> compiler_;
  std::mutex mutex_;  ///< guards judge_, but for what it is told to expect
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
  const auto has = [&](auto&& what) { return std::ranges::any_of(task.tensors, what); };
  if (has([](const TensorSpec& tensor) { return tensor.specials.denormals; }) &&
      has([](const TensorSpec& tensor) { return tensor.dtype == Dtype::f64; }))
    return fail(ErrorCode::unsupported,
                "the cpu backend judges denormals of f32 only, and the task has f64 tensors", "tensors",
                "declare specials without denormals");
  return {};
}

/// The task's own sources; what a model writes is told by its outputs.
Status check_parameters(const Task& task) {
  const std::pair<const Source&, const char*> sources[] = {{task.reference, "reference"},
                                                           {task.baseline, "baseline"},
                                                           {task.seed, "seed"},
                                                           {task.yardstick, "yardstick"},
                                                           {task.oracle, "oracle"}};
  for (const auto& [source, what] : sources)
    if (auto s = check_parameter_order(task, source, what); !s) return s;
  return {};
}

/// How many make a bank at the same time: cores that are reserved for timing are one runner's.
std::size_t oracles_of(const Task& task) { return task.threads > 1 ? 1 : 2; }

/// What declares something that this backend cannot honour is refused, never ignored.
Status check_declared(const Task& task) {
  if (task.declared.operations_are_minimal)
    return fail(ErrorCode::unsupported, "the cpu backend bounds no speed by the number of operations",
                "declared: operations_are_minimal", "leave it out; the bytes are bounded");
  return {};
}

Result<CpuBinaryPtr> build_trusted(const CpuCompiler& compiler, const Source& source, Precision precision,
                                   const std::string& what) {
  auto output = compiler.compile(source, precision, {});
  if (output) return std::move(output->binary);
  const Failure failure = output.error();
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  // Where it fails as it stands, the wider type is not the reason.
  if (precision == Precision::promoted)
    if (auto plain = build_trusted(compiler, source, Precision::declared, what); !plain) return plain;
  const bool promoted = precision == Precision::promoted;
  return fail(ErrorCode::refused,
              "the task's " + what + " does not compile" + (promoted ? " in a wider type" : "") + ": " +
                  std::get<Rejection>(failure).diagnostics,
              "files: " + what,
              promoted ? "write it with plain float, or add an oracle: the same function over double" : "");
}

Result<CpuBinaryPtr> build_oracle(const Task& task, const CpuCompiler& compiler) {
  const bool own = !task.oracle.empty();
  return build_trusted(compiler, own ? task.oracle : task.reference,
                       needs_truth(task) ? Precision::promoted : Precision::declared,
                       own ? "oracle" : "reference");
}

struct TrustedBinaries {
  CpuBinaryPtr oracle, baseline;
  CpuBinaryPtr seed;  ///< null where the task has none
  CpuBinaryPtr yardstick;
};

/// Side by side: compilers are the slowest part of making an evaluator for a small task.
Result<TrustedBinaries> build_all_trusted(const Task& task, const CpuCompiler& compiler) {
  const auto build = [&](const Source& source, Precision precision, const char* what) {
    return std::async(std::launch::async, [&compiler, &source, precision, what] {
      return source.empty() ? Result<CpuBinaryPtr>(nullptr)
                            : build_trusted(compiler, source, precision, what);
    });
  };
  auto oracle = std::async(std::launch::async, [&] { return build_oracle(task, compiler); });
  auto baseline = build(task.baseline, Precision::declared, "baseline");
  auto seed = build(task.seed, Precision::declared, "seed");
  auto yardstick = build(task.yardstick, Precision::declared, "yardstick");
  auto oracle_built = oracle.get();
  auto baseline_built = baseline.get();
  auto seed_built = seed.get();
  auto yardstick_built = yardstick.get();
  for (const auto* built : {&oracle_built, &baseline_built, &seed_built, &yardstick_built})
    if (!*built) return built->error();
  TrustedBinaries built{*oracle_built, *baseline_built, *seed_built, *yardstick_built};
  if (!built.yardstick) built.yardstick = built.seed ? built.seed : built.baseline;
  return built;
}

Result<RunnerFiles::Ptr> files_of_runners(const CpuCompiler& compiler, const CpuOptions& options) {
  auto program = locate_runner(options.runner);
  if (!program) return program.error();
  if (options.unsandboxed) return RunnerFiles::unconfined(std::move(*program));
  const auto linked = compiler.link_all_libraries();
  if (!linked) return linked.error();
  return RunnerFiles::create(std::move(*program), (*linked)->object());
}

Result<RunnerSettings> runner_settings(const Task& task, const CpuOptions& options,
                                       const CpuCompiler& compiler) {
  auto files = files_of_runners(compiler, options);
  if (!files) return files.error();
  RunnerSettings settings;
  settings.files = std::move(*files);
  settings.unsandboxed = options.unsandboxed;
  settings.cgroup = !options.without_cgroup;
  settings.threads = task.threads;
  if (task.threads > 1) {
    settings.cores = std::make_shared<const ReservedCores>(task.threads);
  } else {
    settings.core = std::make_shared<const TimingCore>(TimingCore::choose());
  }
  settings.load_timeout_s = std::max(kLeastLoadTimeoutS, task.timeout_s);
  return settings;
}

/// Those of which leaving out half changes something, and is never found to be wrong.
Result<std::vector<std::string>> negligible_inputs(const Task& task, Truth& truth, std::size_t shape,
                                                   std::size_t sets) {
  std::vector<bool> told(task.tensors.size()), passed(task.tensors.size());
  for (std::size_t set = 0; set < sets; ++set) {
    const auto halves = truth.tell_halves(shape);
    if (!halves) return halves.error();
    bool all_told = true;
    for (std::size_t t = 0; t < halves->size(); ++t) {
      told[t] = told[t] || (*halves)[t] == Truth::Half::told;
      passed[t] = passed[t] || (*halves)[t] == Truth::Half::not_told;
      all_told = all_told && (told[t] || !passed[t]);
    }
    if (all_told) break;
  }
  std::vector<std::string> names;
  for (std::size_t t = 0; t < told.size(); ++t)
    if (passed[t] && !told[t]) names.push_back(task.tensors[t].name);
  return names;
}

}  // namespace

Result<std::shared_ptr<Evaluator>> make_cpu_evaluator(Task task, const CpuOptions& options) {
  if (auto s = check_supported(task); !s) return s.error();
  if (auto s = check_declared(task); !s) return s.error();
  if (auto s = check_parameters(task); !s) return s.error();
  if (auto s = check_memory(task, shapes_of(task), BankLimits{}.least, oracles_of(task)); !s)
    return s.error();
  auto compiler = CpuCompiler::create(task, options);
  if (!compiler) return compiler.error();
  auto runner = runner_settings(task, options, **compiler);
  if (!runner) return runner.error();
  auto trusted = build_all_trusted(task, **compiler);
  if (!trusted) return trusted.error();

  const auto shared = std::make_shared<const Task>(std::move(task));
  JudgeParts parts;
  parts.task = shared;
  parts.runner = std::move(*runner);
  parts.bank.bytes = options.bank_bytes;
  parts.bank.seconds = options.bank_seconds;
  parts.oracle = trusted->oracle;
  parts.baseline = trusted->baseline;
  parts.seed = trusted->seed;
  parts.yardstick = trusted->yardstick;
  parts.build = [compiler = *compiler](const Source& source) {
    return build_trusted(*compiler, source, Precision::declared, "roofline kernel");
  };
  auto judge = Judge::create(std::move(parts));
  if (!judge) return judge.error();
  return make_staged_evaluator(shared, std::make_shared<CpuBackend>(*compiler, std::move(*judge)),
                               EvaluatorOptions::for_this_machine());
}

Result<std::vector<PrecisionCheck>> check_precision(const Task& task, const CpuOptions& options) {
  constexpr std::size_t kSets = 6;
  if (auto s = check_supported(task); !s) return s.error();
  std::vector<PrecisionCheck> checks;
  if (!needs_truth(task)) return checks;
  const std::vector<TaskShape> shapes = shapes_of(task);
  if (auto s = check_memory(task, shapes, 1, 1); !s) return s.error();
  const auto compiler = CpuCompiler::create(task, options);
  if (!compiler) return compiler.error();
  const auto runner = runner_settings(task, options, **compiler);
  if (!runner) return runner.error();
  const auto oracle = build_oracle(task, **compiler);
  if (!oracle) return oracle.error();
  auto truth = Truth::create(task, shapes, **oracle, *runner);
  if (!truth) return truth.error();
  const auto is_output = [](const TensorSpec& tensor) {
    return tensor.role != TensorRole::in && is_real(tensor.dtype);
  };
  const char* const lower = lower_precision(task, std::ranges::find_if(task.tensors, is_output)->dtype).name;
  for (std::size_t shape = 0; shape < task.timed.size(); ++shape) {
    PrecisionCheck& check = checks.emplace_back(PrecisionCheck{shapes[shape].name, lower, kSets, 0});
    for (std::size_t set = 0; set < kSets; ++set) {
      const auto tells = truth->tells_lower_precision(shape);
      if (!tells) return tells.error();
      check.caught += *tells ? 1U : 0U;
    }
    auto negligible = negligible_inputs(task, *truth, shape, kSets);
    if (!negligible) return negligible.error();
    check.negligible = std::move(*negligible);
  }
  return checks;
}

}  // namespace kernelsmith
