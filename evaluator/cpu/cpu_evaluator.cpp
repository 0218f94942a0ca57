#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/judge.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>
#include <kernelsmith/evaluator/supported.hpp>
#include <kernelsmith/sandbox/locate.hpp>

#include "cpu_host.hpp"
#include "cpu_oracle.hpp"
#include "memory_need.hpp"
#include "signature.hpp"
#include "toolchain/compiler.hpp"

namespace kernelsmith {
namespace cpu {
namespace {

/// Starting a sandbox on a busy machine takes time, even if the task's calls are short.
constexpr double kLeastLoadTimeoutS = 2;

class CpuBackend final : public Backend {
 public:
  CpuBackend(std::shared_ptr<const CpuCompiler> compiler, std::shared_ptr<CpuHost> host,
             std::unique_ptr<Judge> judge)
      : compiler_(std::move(compiler)), host_(std::move(host)), judge_(std::move(judge)) {}

  Result<Compilation> compile(const Source& source, std::stop_token stop) override {
    host_->expect_evaluation();
    const Stopwatch compiling;
    auto output = compiler_->compile(source, stop);
    Report report;
    report.toolchain = compiler_->description();
    const double compile_ms = compiling.ms();
    report.spent_ms["compile"] = compile_ms;
    if (output) {
      if (!output->log.empty()) report.artifacts.push_back({"compile.log", std::move(output->log)});
      return Compilation{BinaryPtr(std::move(output->binary)), std::move(report), {{kCompileMs, compile_ms}}};
    }
    return reported<Compilation>(output.error(), std::move(report));
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    const MutexLock lock(mutex_);
    auto evaluation = judge_->evaluate(request, stop);
    host_->evaluation_is_over();
    return evaluation;
  }

 private:
  const std::shared_ptr<const CpuCompiler> compiler_;
  const std::shared_ptr<CpuHost> host_;
  Mutex mutex_;  ///< also guards host_, except for CpuHost::expect_evaluation()
  const std::unique_ptr<Judge> judge_ KERNELSMITH_PT_GUARDED_BY(mutex_);
};

Status check_supported(const Task& task) {
  if (auto s = check_backend(task, "cpu"); !s) return s;
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
  return check_bounded_by_bytes(task);
}

/// Everything built from the task's own sources; null for a missing source.
struct Objects {
  CpuBinaryPtr declared, wide, generator;  ///< the oracles, and the generator of inputs
  CpuBinaryPtr baseline, seed, yardstick;
};

/// Builds the sources in parallel, because compiling takes most of the time of making an evaluator for a
/// small task.
class Builds {
 public:
  Builds(const Task& task, const CpuCompiler& compiler, std::stop_token stop)
      : task_(task), compiler_(compiler), stop_(std::move(stop)) {}

  Result<Objects> build() const {
    const OraclePrecision truth = truth_precision(task_);
    const bool own = !task_.oracle.empty();
    const TrustedSource oracle{own ? task_.oracle : task_.reference, own ? "oracle" : "reference", truth};
    const bool exact = truth == OraclePrecision::declared;
    const auto declared = exact ? start(oracle) : start({task_.reference, "reference"});
    const auto wide = exact ? Built() : start(oracle);
    const auto generator = start({task_.inputs, "inputs", OraclePrecision::declared, true});
    const bool is_reference = task_.baseline == task_.reference && !(exact && own);
    const auto baseline = is_reference ? declared : start({task_.baseline, "baseline"});
    const auto seed = start({task_.seed, "seed"});
    const auto yardstick = start({task_.yardstick, "yardstick"});
    for (const Built& built : {declared, wide, generator, baseline, seed, yardstick})
      if (built.valid() && !built.get()) return built.get().error();
    Objects objects{of(declared), of(wide), of(generator), of(baseline), of(seed), of(yardstick)};
    if (!objects.yardstick) objects.yardstick = objects.seed ? objects.seed : objects.baseline;
    return objects;
  }

 private:
  using Built = std::shared_future<Result<CpuBinaryPtr>>;

  /// Starts a build. The future is not valid if the source is empty.
  Built start(const TrustedSource& trusted) const {
    if (trusted.source.empty()) return {};
    return std::async(std::launch::async, [this, trusted] { return compiler_.build(trusted, stop_); })
        .share();
  }
  static CpuBinaryPtr of(const Built& built) { return built.valid() ? *built.get() : nullptr; }

  const Task& task_;
  const CpuCompiler& compiler_;
  const std::stop_token stop_;
};

Result<RunnerFiles::Ptr> files_of_runners(const CpuCompiler& compiler, const CpuOptions& options) {
  auto program = locate_program("kernelsmith-runner", "KERNELSMITH_RUNNER", options.runner);
  if (!program) return program.error();
  if (options.unsandboxed) return RunnerFiles::unconfined(std::move(*program));
  const auto linked = compiler.link_all_libraries(options.stop);
  if (!linked) return linked.error();
  return RunnerFiles::create(std::move(*program), (*linked)->object());
}

RunnerSettings runner_settings(const Task& task, const CpuOptions& options, RunnerFiles::Ptr files) {
  RunnerSettings settings;
  settings.files = std::move(files);
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

/// What an evaluator and a check of the task both need first.
struct Prepared {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const CpuCompiler> compiler;
  Objects objects;
  RunnerSettings settings;

  OracleFactory oracles() const;
};

Result<Prepared> prepare(std::shared_ptr<const Task> task, const CpuOptions& options) {
  if (auto s = check_supported(*task); !s) return s.error();
  if (auto s = check_memory(*task, shapes_of(*task), JudgeParts{}.oracle_threads); !s) return s.error();
  auto compiler = CpuCompiler::create(*task, options);
  if (!compiler) return compiler.error();
  auto files = std::async(std::launch::async, [&] { return files_of_runners(**compiler, options); });
  auto objects = Builds(*task, **compiler, options.stop).build();
  auto shown = files.get();
  if (!shown) return shown.error();
  if (!objects) return objects.error();
  RunnerSettings settings = runner_settings(*task, options, std::move(*shown));
  return Prepared{std::move(task), std::move(*compiler), std::move(*objects), std::move(settings)};
}

/// Each oracle is a process of its own; they start in parallel.
OracleFactory Prepared::oracles() const {
  const auto shapes = std::make_shared<const std::vector<TaskShape>>(shapes_of(*task));
  return [task = task, shapes, objects = objects,
          settings = settings](const std::stop_token& stop) -> Result<Oracles> {
    using Made = Result<std::unique_ptr<CpuOracle>>;
    auto wide = std::async(std::launch::async, [&]() -> Made {
      if (!objects.wide) return nullptr;
      return CpuOracle::create(*task, *shapes, *objects.wide, truth_precision(*task), settings, stop);
    });
    auto declared =
        CpuOracle::create(*task, *shapes, *objects.declared, OraclePrecision::declared, settings, stop);
    auto made = wide.get();
    if (!declared) return declared.error();
    if (!made) return made.error();
    Oracles oracles{std::move(*declared), std::move(*made), nullptr};
    if (!objects.generator) return oracles;
    auto generator = CpuInputGenerator::create(*task, *shapes, *objects.generator, settings, stop);
    if (!generator) return generator.error();
    oracles.generator = std::move(*generator);
    return oracles;
  };
}

}  // namespace
}  // namespace cpu

Result<std::shared_ptr<Backend>> make_cpu_backend(std::shared_ptr<const Task> task,
                                                  const CpuOptions& options) {
  auto prepared = cpu::prepare(std::move(task), options);
  if (!prepared) return prepared.error();
  const auto& [shared, compiler, objects, settings] = *prepared;
  const auto build_roofline = [compiler = compiler](const Source& source) {
    return compiler->build({source, "roofline kernel"});
  };
  auto host = cpu::CpuHost::create(shared, settings, *objects.declared, build_roofline, options.stop);
  if (!host) return host.error();
  (*host)->expect_evaluation();
  JudgeParts parts;
  parts.task = shared;
  parts.host = *host;
  parts.oracles = prepared->oracles();
  parts.bank.bytes = options.bank_bytes;
  parts.bank.seconds = options.bank_seconds;
  parts.baseline = objects.baseline;
  parts.seed = objects.seed;
  parts.yardstick = objects.yardstick;
  auto judge = Judge::create(std::move(parts), options.stop);
  if (!judge) return judge.error();
  (*host)->evaluation_is_over();
  return std::make_shared<cpu::CpuBackend>(compiler, *host, std::move(*judge));
}

Result<std::shared_ptr<Evaluator>> make_cpu_evaluator(Task task, const CpuOptions& options) {
  const auto shared = std::make_shared<const Task>(std::move(task));
  auto backend = make_cpu_backend(shared, options);
  if (!backend) return backend.error();
  return make_staged_evaluator(shared, std::move(*backend), EvaluatorOptions::for_this_machine());
}

Result<std::vector<PrecisionCheck>> check_cpu_precision(const Task& task, const CpuOptions& options) {
  const auto prepared = cpu::prepare(std::make_shared<const Task>(task), options);
  if (!prepared) return prepared.error();
  return check_precision(task, prepared->oracles());
}

}  // namespace kernelsmith
