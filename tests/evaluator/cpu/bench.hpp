// A small task of the cpu backend and an evaluator of it: what the tests evaluate their candidates with.
// Making an evaluator takes a second or two, so the candidates of one test share it.
#pragma once

#include <cstdio>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "verdicts.hpp"

namespace kernelsmith {

inline const std::string kTask = R"(version: 1
name: scaled
backend: cpu
entry: scaled
files: {reference: reference.cpp, seed: seed.cpp}
sizes: {rows: 160, cols: 256}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [rows, cols], init: normal}
  - {name: y, role: out, dtype: f32, shape: [rows, cols]}
timed: [{}, {rows: 151, cols: 255}]
check: [{rows: 1, cols: 1}, {rows: 3, cols: 33}]
timeout_s: 3
)";

inline const std::string kSignature =
    "#include \"task.hpp\"\n#include <cmath>\n#include <cstdlib>\n"
    "void scaled(const float* x, float* y, std::int64_t rows, std::int64_t cols) {\n";

inline const std::string kHonest = R"(
  for (std::int64_t r = 0; r < rows; ++r) {
    float sum = 1;
    for (std::int64_t c = 0; c < cols; ++c) sum += std::fabs(x[r * cols + c]);
    for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] / sum;
  }
)";

inline std::string kernel(const std::string& body) { return kSignature + body + "}\n"; }

/// Before a kernel: `busy_ms(n)` takes n milliseconds of the processor's time on any processor. A loop that
/// counts takes a time that depends on the processor.
inline const std::string kBusy = R"(#include <ctime>
static void busy_ms(double ms) {
  const std::clock_t start = std::clock();
  while (std::clock() - start < ms * (CLOCKS_PER_SEC / 1e3)) {}
}
)";

struct Files {
  std::string reference = kernel(kHonest);
  std::string seed = kernel(kHonest);
};

inline Task task_with(const Files& files, const std::string& yaml = kTask) {
  return parse_task(yaml, "task.yaml",
                    [&](const std::string& path) -> Result<std::string> {
                      return path == "seed.cpp" ? files.seed : files.reference;
                    })
      .value();
}

inline CpuOptions quick() {
  CpuOptions options;
  options.bank_seconds = 0.5;
  return options;
}

/// An evaluator of the task above.
class Bench {
 public:
  explicit Bench(Task task = task_with({}), const CpuOptions& options = quick())
      : task_(std::move(task)), evaluator_(make_cpu_evaluator(task_, options).value()) {}

  std::future<Result<Evaluation>> start(EvaluationJob job) {
    return answer_of<Evaluation>([&](auto done) { evaluator_->start(std::move(job), {}, std::move(done)); });
  }
  Result<Evaluation> evaluate(const EvaluationJob& job) { return answer(start(job), job); }
  /// What was started; asked again if the machine was too noisy, like an engine.
  Result<Evaluation> answer(std::future<Result<Evaluation>> started, const EvaluationJob& job) {
    constexpr int kAttempts = 8;
    auto answer = started.get();
    for (int attempt = 1; attempt < kAttempts && is_unstable(answer); ++attempt) answer = start(job).get();
    return answer;
  }
  Result<Evaluation> evaluate(const std::string& source) { return evaluate(job(source)); }

  EvaluationJob job(const std::string& source) const {
    EvaluationJob job;
    job.task = task_.digest;
    job.source = Source::create({{"seed.cpp", source}}).value();
    return job;
  }

 private:
  static bool is_unstable(const Result<Evaluation>& answer) {
    return !answer && answer.error().code == ErrorCode::unstable;
  }

  Task task_;
  std::shared_ptr<Evaluator> evaluator_;
};

inline std::string yaml_with(const std::string& from, const std::string& to) {
  std::string yaml = kTask;
  const auto at = yaml.find(from);
  EXPECT_NE(at, yaml.npos) << from;
  return yaml.replace(at, from.size(), to);
}

/// Empty if the machine stayed too noisy for a verdict: that is reported, and is no rejection.
inline std::optional<Evaluation> verdict_on(Bench& bench, const std::string& source) {
  auto answer = bench.evaluate(source);
  if (answer) return std::move(*answer);
  if (answer.error().code == ErrorCode::unstable)
    std::printf("no verdict: %s\n", describe(answer.error()).c_str());
  else
    ADD_FAILURE() << describe(answer.error());
  return std::nullopt;
}

inline void expect_rejection(Bench& bench, const std::string& source, RejectionCode code) {
  const auto verdict = verdict_on(bench, source);
  if (!verdict) return;
  ASSERT_FALSE(verdict->accepted());
  EXPECT_EQ(name_of(verdict->rejection()->code), name_of(code)) << verdict->rejection()->diagnostics;
}

inline void expect_accepted(Bench& bench, const std::string& source) {
  const auto verdict = verdict_on(bench, source);
  if (!verdict) return;
  EXPECT_TRUE(verdict->accepted()) << verdict->rejection()->diagnostics;
}

}  // namespace kernelsmith
