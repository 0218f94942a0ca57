// The cpu backend end to end: small candidates, right and wrong, through compiler, sandbox, runner and judge.
// Making an evaluator takes a second or two, so the candidates of one test share it.
#include <algorithm>
#include <cstdio>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

namespace kernelsmith {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// y[r, c] = x[r, c] / (1 + sum of |x[r, .]|)
const std::string kTask = R"(version: 1
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

const std::string kSignature =
    "#include \"task.hpp\"\n#include <cmath>\n#include <cstdlib>\n"
    "void scaled(const float* x, float* y, std::int64_t cols, std::int64_t rows) {\n";

const std::string kHonest = R"(
  for (std::int64_t r = 0; r < rows; ++r) {
    float sum = 1;
    for (std::int64_t c = 0; c < cols; ++c) sum += std::fabs(x[r * cols + c]);
    for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] / sum;
  }
)";

std::string kernel(const std::string& body) { return kSignature + body + "}\n"; }

struct Files {
  std::string reference = kernel(kHonest);
  std::string seed = kernel(kHonest);
};

Task task_with(const Files& files, const std::string& yaml = kTask) {
  return parse_task(yaml, "task.yaml",
                    [&](const std::string& path) -> Result<std::string> {
                      return path == "seed.cpp" ? files.seed : files.reference;
                    })
      .value();
}

CpuOptions quick() {
  CpuOptions options;
  options.bank_seconds = 1;
  return options;
}

/// An evaluator of the task above.
class Bench {
 public:
  explicit Bench(Task task = task_with({}))
      : task_(std::move(task)), evaluator_(make_cpu_evaluator(task_, quick()).value()) {}

  std::future<Result<Evaluation>> start(EvaluationJob job) {
    auto promise = std::make_shared<std::promise<Result<Evaluation>>>();
    auto future = promise->get_future();
    evaluator_->start(std::move(job), {},
                      [promise](Result<Evaluation> r) { promise->set_value(std::move(r)); });
    return future;
  }
  Result<Evaluation> evaluate(const EvaluationJob& job) { return answer(start(job), job); }
  /// What was started; asked again where the machine was too noisy, as an engine does.
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

struct Trick {
  const char* name;
  std::string source;
  Stage stage;
  RejectionCode code;
};

void expect_rejections(const std::vector<Trick>& tricks) {
  Bench bench;
  std::vector<std::future<Result<Evaluation>>> answers;
  for (const Trick& trick : tricks) answers.push_back(bench.start(bench.job(trick.source)));
  for (std::size_t i = 0; i < tricks.size(); ++i) {
    SCOPED_TRACE(tricks[i].name);
    const auto answer = bench.answer(std::move(answers[i]), bench.job(tricks[i].source));
    if (!answer) {
      ADD_FAILURE() << describe(answer.error());
      continue;
    }
    if (answer->accepted()) {
      ADD_FAILURE() << "accepted";
      continue;
    }
    EXPECT_EQ(name_of(answer->rejection()->stage), name_of(tricks[i].stage))
        << answer->rejection()->diagnostics;
    EXPECT_EQ(name_of(answer->rejection()->code), name_of(tricks[i].code))
        << answer->rejection()->diagnostics;
    EXPECT_FALSE(answer->rejection()->diagnostics.empty());
  }
}

TEST(CpuEvaluator, TakesMorePairsWhereItIsAskedToTakeCare) {
  Bench bench;
  EvaluationJob careful = bench.job(kernel(kHonest));
  careful.careful = true;
  const auto answer = bench.evaluate(careful);
  ASSERT_TRUE(answer) << describe(answer.error());
  ASSERT_TRUE(answer->accepted()) << answer->rejection()->diagnostics;
  constexpr std::size_t kMostOfASearch = 12, kTimedShapes = 2;
  EXPECT_GT(answer->report().over_yardstick->samples, kMostOfASearch * kTimedShapes);
}

TEST(CpuEvaluator, AcceptsHonestKernelsAndReportsThem) {
  Bench bench;
  const auto answer = bench.evaluate(kernel(kHonest));
  ASSERT_TRUE(answer) << describe(answer.error());
  ASSERT_TRUE(answer->accepted()) << answer->rejection()->diagnostics;
  const Report& report = answer->report();
  EXPECT_TRUE(report.tier == "full" || report.tier == "weak") << report.tier;
  EXPECT_THAT(report.toolchain, HasSubstr("g++"));
  EXPECT_FALSE(report.hardware.empty());
  EXPECT_GT(report.spent_ms.at("timing"), 0);
  ASSERT_EQ(report.shapes.size(), 4U);
  for (const ShapeResult& shape : report.shapes) {
    EXPECT_EQ(shape.correct, true) << shape.shape;
    EXPECT_LE(shape.error, 1) << shape.shape;
    EXPECT_EQ(shape.speedup.has_value(), shape.timed) << shape.shape;
  }
  EXPECT_EQ(report.shapes.front().shape, "cols=256 rows=160");
  // The candidate is the seed, and the seed's work is the baseline's. How near to one is for benchmarks to
  // say.
  EXPECT_GT(answer->metrics()->fitness().median, 0.5);
  EXPECT_LT(answer->metrics()->fitness().median, 2);
  EXPECT_LE(report.speedup->low, report.speedup->median);
  // The yardstick is the seed here.
  ASSERT_TRUE(report.over_yardstick.has_value());
  EXPECT_GT(report.over_yardstick->median, 0.2);
  EXPECT_LT(report.over_yardstick->median, 5);
  EXPECT_LE(report.over_yardstick->low, report.over_yardstick->median);
  EXPECT_GT(answer->metrics()->features().at("runtime_us"), 0);
}

TEST(CpuEvaluator, MeasuresWhatASlowerKernelLoses) {
  Bench bench;
  const auto slow = bench.evaluate(kernel(
      "for (int again = 0; again < 10; ++again) { asm volatile(\"\" ::: \"memory\");" + kHonest + "}"));
  ASSERT_TRUE(slow) << describe(slow.error());
  ASSERT_TRUE(slow->accepted()) << slow->rejection()->diagnostics;
  EXPECT_GT(slow->metrics()->fitness().median, 0.03);
  EXPECT_LT(slow->metrics()->fitness().median, 0.3);
}

TEST(CpuEvaluator, AcceptsHonestKernelsThatAreUnusual) {
  Bench bench;
  const std::map<std::string, std::string> unusual = {
      {"sums in another order", kernel(R"(for (std::int64_t r = 0; r < rows; ++r) {
         float sums[8] = {};
         for (std::int64_t c = 0; c < cols; ++c) sums[c % 8] += std::fabs(x[r * cols + c]);
         float sum = 1;
         for (float part : sums) sum += part;
         const float inverse = 1 / sum;
         for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] * inverse;
       })")},
      {"a table built in the first call",
       "static float table[1024]; static bool built;\n" +
           kernel("if (!built) { for (int i = 0; i < 1024; ++i) table[i] = 1; built = true; }\n" + kHonest +
                  "y[0] *= table[17];")},
      {"a large stack frame",
       kernel("volatile float scratch[200000]; scratch[1] = x[0]; (void)scratch[1];" + kHonest)},
      {"memory of its own",
       kernel("float* p = static_cast<float*>(std::malloc(4096)); p[0] = x[0];" + kHonest + "std::free(p);")},
  };
  for (const auto& [name, source] : unusual) {
    SCOPED_TRACE(name);
    const auto answer = bench.evaluate(source);
    ASSERT_TRUE(answer) << describe(answer.error());
    EXPECT_TRUE(answer->accepted()) << answer->rejection()->diagnostics;
  }
}

TEST(CpuEvaluator, RejectsWhatDoesNotBuild) {
  expect_rejections({
      {"syntax error", kernel("this is not C++;"), Stage::compile, RejectionCode::compile_failed},
      {"entry missing", "int other() { return 1; }\n", Stage::compile, RejectionCode::entry_missing},
      {"entry with C++ linkage",
       "#include <cstdint>\nvoid scaled(const float*, float*, std::int64_t, std::int64_t) {}\n",
       Stage::compile, RejectionCode::entry_missing},
      {"another signature", "#include \"task.hpp\"\nextern \"C\" void scaled(double*) {}\n", Stage::compile,
       RejectionCode::compile_failed},
      {"undefined function", "void elsewhere();\n" + kernel("elsewhere();"), Stage::compile,
       RejectionCode::compile_failed},
      {"a host file included", "#include \"/etc/passwd\"\n" + kernel(kHonest), Stage::compile,
       RejectionCode::compile_failed},
  });
}

TEST(CpuEvaluator, WhatIsReadInAdvanceDeclaresNothingThatACandidateLacks) {
  Bench bench;
  const auto with_headers = [](const std::string& headers, const std::string& body) {
    return headers + "#include \"task.hpp\"\n" +
           "void scaled(const float* x, float* y, std::int64_t cols, std::int64_t rows) {\n" + body + "}\n";
  };
  // The first one, which builds and writes nothing, has <cmath> and <vector> made ready; the next one
  // includes less.
  const auto both = bench.evaluate(bench.job(
      with_headers("#include <cmath>\n#include <vector>\n", "std::vector<float> v(1, std::sin(*x));\n")));
  ASSERT_TRUE(both) << describe(both.error());
  ASSERT_NE(both->rejection(), nullptr);
  EXPECT_EQ(both->rejection()->code, RejectionCode::output_not_written) << both->rejection()->diagnostics;
  const auto less =
      bench.evaluate(bench.job(with_headers("#include <cmath>\n", "std::vector<float> v(1);\n" + kHonest)));
  ASSERT_TRUE(less) << describe(less.error());
  ASSERT_NE(less->rejection(), nullptr);
  EXPECT_EQ(less->rejection()->code, RejectionCode::compile_failed);
  EXPECT_THAT(less->rejection()->diagnostics, HasSubstr("vector"));
  EXPECT_THAT(less->rejection()->diagnostics, Not(HasSubstr("usual.hpp")));
  // What the headers' own text says of a wrong use names the candidate's include, as without preparation.
  const auto deep =
      bench.evaluate(bench.job(with_headers("#include <vector>\n#include <cmath>\n",
                                            "struct S { S(S&) = delete; }; std::vector<S&> v;\n" + kHonest)));
  ASSERT_TRUE(deep) << describe(deep.error());
  ASSERT_NE(deep->rejection(), nullptr);
  EXPECT_THAT(deep->rejection()->diagnostics, Not(HasSubstr("usual.hpp")));
}

TEST(CpuEvaluator, RejectsWrongOutputs) {
  const std::string stale = "static float kept[65536]; static int calls;\n";
  expect_rejections({
      {"nothing written", kernel("(void)x; (void)y; (void)rows; (void)cols;"), Stage::correctness,
       RejectionCode::output_not_written},
      {"zeros", kernel("for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = 0;"), Stage::correctness,
       RejectionCode::wrong_output},
      {"a constant", kernel("for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = 0.01f;"),
       Stage::correctness, RejectionCode::wrong_output},
      {"the last element forgotten",
       kernel("const float last = y[rows * cols - 1];" + kHonest + "y[rows * cols - 1] = last;"),
       Stage::correctness, RejectionCode::output_not_written},
      {"NaN", kernel(kHonest + "y[rows * cols / 2] = NAN;"), Stage::correctness, RejectionCode::not_finite},
      {"wrong at odd sizes", kernel("cols = cols / 4 * 4;" + kHonest), Stage::correctness,
       RejectionCode::output_not_written},
      {"the reduction skipped",
       kernel("for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = x[i] / (1 + 0.8f * cols);"),
       Stage::correctness, RejectionCode::wrong_output},
      {"a lower precision", kernel(kHonest + R"(for (std::int64_t i = 0; i < rows * cols; ++i) {
          std::uint32_t bits; __builtin_memcpy(&bits, y + i, 4); bits &= 0xffffe000u; __builtin_memcpy(y + i, &bits, 4); })"),
       Stage::correctness, RejectionCode::wrong_output},
      {"the first answer kept",
       stale + kernel("if (calls++ == 0) {" + kHonest +
                      "} else { for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = kept[i]; }"),
       Stage::correctness, RejectionCode::wrong_output},
      {"honest in the first calls only",
       "static int calls;\n" + kernel("if (++calls > 12) return;" + kHonest), Stage::correctness,
       RejectionCode::output_not_written},
  });
}

TEST(CpuEvaluator, RejectsWhatBreaksOrLeaves) {
  expect_rejections({
      {"null pointer", kernel("*static_cast<volatile int*>(nullptr) = 1;"), Stage::run,
       RejectionCode::crashed},
      {"abort", kernel("std::abort();"), Stage::run, RejectionCode::crashed},
      {"read past the end", kernel("volatile float v = x[rows * cols + 16]; (void)v;" + kHonest), Stage::run,
       RejectionCode::crashed},
      {"write past the end", kernel(kHonest + "y[rows * cols + 16] = 1;"), Stage::run,
       RejectionCode::crashed},
      {"an input modified", kernel(kHonest + "const_cast<float*>(x)[0] = 1;"), Stage::integrity,
       RejectionCode::input_modified},
      {"written just before the output", kernel(kHonest + "if (rows == 3) y[-1] = 1;"), Stage::integrity,
       RejectionCode::out_of_bounds},
      {"written just behind the output", kernel(kHonest + "if (rows == 3) y[rows * cols] = 1;"),
       Stage::integrity, RejectionCode::out_of_bounds},
      {"exit", kernel("std::exit(0);"), Stage::run, RejectionCode::exited},
      {"exit while loading",
       "#include <cstdlib>\n__attribute__((constructor)) static void leave() { std::_Exit(0); }\n" +
           kernel(kHonest),
       Stage::run, RejectionCode::exited},
      {"endless loop", kernel("while (true) asm volatile(\"\");"), Stage::run, RejectionCode::timed_out},
      {"endless recursion",
       "static int dig(volatile int n) { volatile char frame[4096]; frame[0] = 1; return dig(n + 1) + "
       "frame[0]; }\n" +
           kernel("y[0] = dig(0);"),
       Stage::run, RejectionCode::crashed},
      {"a forged reply",
       "#include <unistd.h>\n" + kernel("char message[16] = {}; (void)!write(3, message, 16);" + kHonest),
       Stage::integrity, RejectionCode::protocol_forged},
      {"two replies",
       "#include <unistd.h>\n" +
           kernel(
               "struct { unsigned a = 0x4b53524e, b = 1; unsigned long c = 5; } m; (void)!write(3, &m, 16);" +
               kHonest),
       Stage::integrity, RejectionCode::protocol_forged},
  });
}

/// The task's yaml with one piece replaced.
std::string yaml_with(const std::string& from, const std::string& to) {
  std::string yaml = kTask;
  const auto at = yaml.find(from);
  EXPECT_NE(at, yaml.npos) << from;
  return yaml.replace(at, from.size(), to);
}

/// Empty where the machine stayed too noisy for a verdict: that is told, and is no rejection.
std::optional<Evaluation> verdict_on(Bench& bench, const std::string& source) {
  auto answer = bench.evaluate(source);
  if (answer) return std::move(*answer);
  if (answer.error().code == ErrorCode::unstable)
    std::printf("no verdict: %s\n", describe(answer.error()).c_str());
  else
    ADD_FAILURE() << describe(answer.error());
  return std::nullopt;
}

void expect_rejection(Bench& bench, const std::string& source, RejectionCode code) {
  const auto verdict = verdict_on(bench, source);
  if (!verdict) return;
  ASSERT_FALSE(verdict->accepted());
  EXPECT_EQ(name_of(verdict->rejection()->code), name_of(code)) << verdict->rejection()->diagnostics;
}

void expect_accepted(Bench& bench, const std::string& source) {
  const auto verdict = verdict_on(bench, source);
  if (!verdict) return;
  EXPECT_TRUE(verdict->accepted()) << verdict->rejection()->diagnostics;
}

TEST(CpuEvaluator, ShowsSpecialsWhereTheTaskDeclaresThem) {
  Bench bench(task_with({}, yaml_with("init: normal", "specials: [nan, inf, denormals, large]")));
  expect_accepted(bench, kernel(kHonest));
  const std::string copied = "for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = y[i]";
  expect_rejection(bench, kernel(kHonest + copied + " != y[i] ? 0 : y[i];"), RejectionCode::not_finite);
  expect_rejection(
      bench, kernel(kHonest + copied + " == 0 || std::fabs(y[i]) >= 1.2e-38f || y[i] != y[i] ? y[i] : 0;"),
      RejectionCode::wrong_output);
  expect_rejection(bench,
                   kernel(kHonest + copied +
                          " == y[i] && std::fabs(x[i]) > 1e5f && std::fabs(x[i]) < "
                          "1e30f ? 0.25f : y[i];"),
                   RejectionCode::wrong_output);
}

TEST(CpuEvaluator, AKernelThatIsHopelesslySlowEndsSoon) {
  Bench bench(task_with({}, yaml_with("timeout_s: 3", "timeout_s: 30")));
  expect_rejection(
      bench,
      kernel("for (volatile std::int64_t i = 0; rows == 160 && i < 400000000; i = i + 1) {}" + kHonest),
      RejectionCode::too_slow);
}

TEST(CpuEvaluator, ConfirmsThatEqualInputsGiveEqualOutputs) {
  const std::string whimsical =
      "#include <cstdint>\n" +
      kernel(kHonest +
             "int here; y[0] *= 1 + 1e-7f * (reinterpret_cast<std::uintptr_t>(&here) "
             ">> 12 & 7);");
  EvaluationJob confirm;
  {
    Bench bench;
    confirm = bench.job(whimsical);
    confirm.remeasurement = Remeasurement::confirm;
    // One process in eight has the same bits by chance: of eight, one pair at least differs.
    bool found = false;
    for (int i = 0; i < 8 && !found; ++i) {
      const auto answer = bench.evaluate(confirm);
      if (!answer && answer.error().code == ErrorCode::unstable) continue;
      ASSERT_TRUE(answer) << describe(answer.error());
      found = !answer->accepted() && answer->rejection()->code == RejectionCode::nondeterministic;
    }
    EXPECT_TRUE(found);
  }
  Bench bench(task_with({}, kTask + "nondeterministic: true\n"));
  confirm.task = bench.job(whimsical).task;
  const auto answer = bench.evaluate(confirm);
  if (!answer) {
    EXPECT_EQ(answer.error().code, ErrorCode::unstable) << describe(answer.error());
    return;
  }
  EXPECT_TRUE(answer->accepted()) << answer->rejection()->diagnostics;
}

// The reference reads all of x and needs one element of a row.
const std::string kGather = R"(version: 1
name: scaled
backend: cpu
entry: scaled
files: {reference: reference.cpp}
sizes: {rows: 256, cols: 4096}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [rows, cols]}
  - {name: y, role: out, dtype: f32, shape: [rows]}
)";

TEST(CpuEvaluator, NoSpeedIsAboveTheRoofline) {
  const std::string reads_all = kernel(R"(for (std::int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = x[r * cols] + 0 * sum;
  })");
  const std::string reads_little =
      kernel("(void)cols; for (std::int64_t r = 0; r < rows; ++r) y[r] = x[r * cols];");
  const std::string reads_fast = kernel(R"(for (std::int64_t r = 0; r < rows; ++r) {
    float sums[64] = {};
    for (std::int64_t c = 0; c < cols; c += 64)
      for (std::int64_t i = 0; i < 64; ++i) sums[i] += x[r * cols + c + i];
    float sum = 0;
    for (float part : sums) sum += part;
    y[r] = x[r * cols] + 0 * sum;
  })");
  const Files files{.reference = reads_all};
  Bench bench(task_with(files, kGather));
  expect_accepted(bench, reads_all);
  expect_accepted(bench, reads_fast);
  expect_rejection(bench, reads_little, RejectionCode::implausible_speed);
  Bench told(task_with(files, kGather + "declared: {bytes: \"8*rows\"}\n"));
  expect_accepted(told, reads_little);
}

TEST(CpuEvaluator, TellsALowerPrecisionOrSaysThatItCannot) {
  const auto told = check_precision(task_with({}), quick());
  ASSERT_TRUE(told) << describe(told.error());
  ASSERT_EQ(told->size(), 2U);
  EXPECT_EQ(told->front().lower, "tf32");
  EXPECT_EQ(told->front().caught, told->front().sets);
  EXPECT_TRUE(told->front().tells());

  // Zeros are zeros in any precision.
  const auto zeros = check_precision(task_with({}, yaml_with("init: normal", "init: zeros")), quick());
  ASSERT_TRUE(zeros) << describe(zeros.error());
  EXPECT_FALSE(zeros->front().tells());

  const auto exact = check_precision(task_with({}, kTask + "tolerance: {policy: exact}\n"), quick());
  ASSERT_TRUE(exact) << describe(exact.error());
  EXPECT_TRUE(exact->empty());
}

TEST(CpuEvaluator, AConstantTensorAndWarmCachesChangeNoVerdict) {
  Bench bench(task_with({}, yaml_with("init: normal", "constant: true") + "cache: warm\n"));
  expect_accepted(bench, kernel(kHonest));
  // With every input the same, what is kept from the first call is right.
  expect_accepted(bench,
                  "static float kept[40960]; static int calls, wide;\n" +
                      kernel("if (cols != 256) {" + kHonest + "return; } if (calls++ == 0) {" + kHonest +
                             "for (int i = 0; i < 40960; ++i) kept[i] = y[i]; } else "
                             "for (int i = 0; i < 40960; ++i) y[i] = kept[i]; (void)wide;"));
}

TEST(CpuEvaluator, DuelsAndPools) {
  Bench bench;
  const std::string slow =
      kernel("for (int again = 0; again < 4; ++again) { asm volatile(\"\" ::: \"memory\");" + kHonest + "}");
  EvaluationJob duel = bench.job(kernel(kHonest));
  duel.remeasurement = Remeasurement::duel;
  duel.rival = Rival{ProgramId{1}, Source::create({{"seed.cpp", slow}}).value()};
  const auto once = bench.evaluate(kernel(kHonest));
  const auto fought = bench.evaluate(duel);
  ASSERT_TRUE(once) << describe(once.error());
  ASSERT_TRUE(fought) << describe(fought.error());
  ASSERT_TRUE(fought->accepted()) << fought->rejection()->diagnostics;
  ASSERT_TRUE(fought->report().duel.has_value());
  EXPECT_GT(fought->report().duel->median, 1.5);
  EXPECT_LT(fought->report().duel->median, 10);
  EXPECT_GT(fought->metrics()->fitness().samples, once->metrics()->fitness().samples)
      << "measurements are pooled";

  EvaluationJob confirm = bench.job(kernel(kHonest));
  confirm.remeasurement = Remeasurement::confirm;
  const auto confirmed = bench.evaluate(confirm);
  ASSERT_TRUE(confirmed) << describe(confirmed.error());
  EXPECT_TRUE(confirmed->accepted());
}

TEST(CpuEvaluator, AnIncumbentThatBreaksARuleLosesItsDuel) {
  Bench bench;
  const std::map<std::string, std::string> incumbents = {
      {"ends itself after its check",
       "static int calls;\n" + kernel("if (++calls > 12) std::abort();" + kHonest)},
      {"is wrong where nothing is timed", kernel("if (cols < 40) return;" + kHonest)},
      {"compiles only at times", "static_assert(false);\n" + kernel(kHonest)},
  };
  for (const auto& [name, incumbent] : incumbents) {
    SCOPED_TRACE(name);
    EvaluationJob duel = bench.job(kernel(kHonest));
    duel.remeasurement = Remeasurement::duel;
    duel.rival = Rival{ProgramId{1}, Source::create({{"seed.cpp", incumbent}}).value()};
    const auto fought = bench.evaluate(duel);
    ASSERT_TRUE(fought) << describe(fought.error());
    ASSERT_TRUE(fought->accepted()) << fought->rejection()->diagnostics;
    EXPECT_TRUE(fought->report().incumbent_failed);
    EXPECT_FALSE(fought->report().duel);
  }
}

Error setup_error(const Task& task, CpuOptions options = quick()) {
  const auto evaluator = make_cpu_evaluator(task, std::move(options));
  EXPECT_FALSE(evaluator);
  return evaluator ? Error{} : evaluator.error();
}

TEST(CpuEvaluator, SaysWhatIsWrongWithATask) {
  Error error = setup_error(task_with({.reference = kernel("syntax error")}));
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(describe(error), HasSubstr("reference does not compile"));

  error =
      setup_error(task_with({.seed = kernel("for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = 0;")}));
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(describe(error), AllOf(HasSubstr("seed fails its own check"), HasSubstr("wrong_output")));

  std::string own = kTask;
  own.replace(own.find("seed: seed.cpp"), 14, "yardstick: seed.cpp");
  error = setup_error(task_with({.seed = kernel("y[0] = 0;")}, own));
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(describe(error), HasSubstr("yardstick fails its own check"));

  error = setup_error(task_with({.reference = kernel("std::abort();")}));
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(describe(error), HasSubstr("reference fails"));

  error = setup_error(task_with({}, kTask + "declared: {operations: \"1\", operations_are_minimal: true}\n"));
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(describe(error), HasSubstr("operations_are_minimal"));

  std::string half = kTask;
  half.replace(half.find("dtype: f32"), 10, "dtype: f16");
  error = setup_error(task_with({}, half));
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(describe(error), HasSubstr("f16"));
}

TEST(CpuEvaluator, SaysWhatTheMachineLacks) {
  CpuOptions options = quick();
  options.compiler = "no-such-compiler";
  Error error = setup_error(task_with({}), options);
  EXPECT_EQ(error.code, ErrorCode::tool_missing);
  EXPECT_THAT(error.hint, HasSubstr("apt-get install"));

  options = quick();
  options.runner = "/nonexistent/kernelsmith-runner";
  error = setup_error(task_with({}), options);
  EXPECT_EQ(error.code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(error), HasSubstr("/nonexistent/kernelsmith-runner"));
}

TEST(CpuEvaluator, TheHeaderDeclaresTensorsThenSizesByName) {
  EXPECT_THAT(
      cpu_task_header(task_with({})),
      HasSubstr("extern \"C\" void scaled(const float* __restrict x, float* __restrict y, std::int64_t cols, "
                "std::int64_t rows);"));
}

}  // namespace
}  // namespace kernelsmith
