// The cpu backend end to end: what is rejected, by which rule, and what the task's declarations change in it.
#include <future>

#include "bench.hpp"

namespace kernelsmith {
namespace {

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

TEST(CpuEvaluator, AMissingEntryIsToldInOurWords) {
  Bench bench;
  const auto answer = bench.evaluate(bench.job("int other() { return 1; }\n"));
  ASSERT_TRUE(answer) << describe(answer.error());
  ASSERT_NE(answer->rejection(), nullptr);
  EXPECT_EQ(answer->rejection()->diagnostics,
            "no function scaled with C linkage and the signature of task.hpp is defined");
}

TEST(CpuEvaluator, WhatIsReadInAdvanceDeclaresNothingThatACandidateLacks) {
  Bench bench;
  const auto with_headers = [](const std::string& headers, const std::string& body) {
    return headers + "#include \"task.hpp\"\n" +
           "void scaled(const float* x, float* y, std::int64_t rows, std::int64_t cols) {\n" + body + "}\n";
  };
  // Two that write nothing have <cmath> and <vector> made ready, and two <cmath>; the next one includes less.
  for (const char* const value : {"1", "2"}) {
    const auto both = bench.evaluate(
        bench.job(with_headers("#include <cmath>\n#include <vector>\n",
                               std::string("std::vector<float> v(") + value + ", std::sin(*x));\n")));
    ASSERT_TRUE(both) << describe(both.error());
    ASSERT_NE(both->rejection(), nullptr);
    EXPECT_EQ(both->rejection()->code, RejectionCode::output_not_written) << both->rejection()->diagnostics;
    const auto one = bench.evaluate(bench.job(
        with_headers("#include <cmath>\n", std::string("float v = std::sin(") + value + "); (void)v;\n")));
    ASSERT_TRUE(one) << describe(one.error());
  }
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

TEST(CpuEvaluator, SpecialFunctionsOfTheLibraryCanBeUsed) {
  Bench bench;
  const auto verdict = verdict_on(bench, kernel("y[0] = std::riemann_zetaf(2) + std::cyl_bessel_jf(0, "
                                                "std::fmin(std::fabs(*x), 1)) + std::laguerref(3, 1);" +
                                                kHonest));
  if (!verdict) return;
  EXPECT_TRUE(verdict->accepted()) << verdict->rejection()->diagnostics;
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
      {"wrong for few of the inputs of one element",
       "static int calls;\n" + kernel("if (rows == 1 && ++calls > 9) { *y = 7; return; }" + kHonest),
       Stage::correctness, RejectionCode::wrong_output},
  });
}

TEST(CpuEvaluator, SlowCallsAtASmallShapeAreFew) {
  Bench bench;
  const auto verdict = verdict_on(bench, kBusy + kernel("if (rows == 1) busy_ms(200);" + kHonest));
  if (!verdict) return;
  EXPECT_TRUE(verdict->accepted()) << verdict->rejection()->diagnostics;
}

TEST(CpuEvaluator, ACallThatFailsNamesItsShape) {
  Bench bench;
  const auto verdict = verdict_on(bench, kernel("if (rows == 3) std::abort();" + kHonest));
  ASSERT_TRUE(verdict);
  ASSERT_NE(verdict->rejection(), nullptr);
  EXPECT_NE(verdict->rejection()->diagnostics.find("at cols=33 rows=3: "), std::string::npos)
      << verdict->rejection()->diagnostics;
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
TEST(CpuEvaluator, ShowsSpecialsWhereTheTaskDeclaresThem) {
  Bench bench(task_with({}, yaml_with("init: normal", "specials: [nan, inf, denormals, large]")));
  expect_accepted(bench, kernel(kHonest));
  const std::string copied = "for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = y[i]";
  expect_rejection(bench, kernel(kHonest + copied + " != y[i] ? 0 : y[i];"), RejectionCode::not_finite);
  expect_rejection(bench,
                   kernel(kHonest + copied +
                          " == y[i] && std::fabs(x[i]) > 1e5f && std::fabs(x[i]) < "
                          "1e30f ? 0.25f : y[i];"),
                   RejectionCode::wrong_output);
}

// A row's own error is what its reference is off anywhere in it, so a denormal beside larger numbers is
// judged only if the reference has no error but rounding.
TEST(CpuEvaluator, JudgesDenormalsWhereTheReferenceOnlyRounds) {
  const auto halved = [](const std::string& y) {
    return kernel("for (std::int64_t i = 0; i < rows * cols; ++i) { y[i] = x[i] / 2; " + y + "}");
  };
  Bench bench(task_with({.reference = halved(""), .seed = halved("")},
                        yaml_with("init: normal", "specials: [denormals]")));
  expect_accepted(bench, halved(""));
  expect_rejection(bench, halved("if (std::fabs(y[i]) < 1.2e-38f) y[i] = 0;"), RejectionCode::wrong_output);
}

TEST(CpuEvaluator, AKernelThatIsHopelesslySlowEndsSoon) {
  Bench bench(task_with({}, yaml_with("timeout_s: 3", "timeout_s: 30")));
  expect_rejection(bench, kBusy + kernel("if (rows == 160) busy_ms(500);" + kHonest),
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
  const auto told = check_cpu_precision(task_with({}), quick());
  ASSERT_TRUE(told) << describe(told.error());
  ASSERT_EQ(told->size(), 2U);
  EXPECT_EQ(told->front().lower, "tf32");
  EXPECT_EQ(told->front().caught, told->front().sets);
  EXPECT_TRUE(told->front().tells());

  // Zeros are zeros in any precision.
  const auto zeros = check_cpu_precision(task_with({}, yaml_with("init: normal", "init: zeros")), quick());
  ASSERT_TRUE(zeros) << describe(zeros.error());
  EXPECT_FALSE(zeros->front().tells());

  const auto exact = check_cpu_precision(task_with({}, kTask + "tolerance: {policy: exact}\n"), quick());
  ASSERT_TRUE(exact) << describe(exact.error());
  EXPECT_TRUE(exact->empty());
}

// An element and the mean of a row of others, times a factor.
std::string mean_times(const char* factor) {
  return kernel(
      "for (std::int64_t r = 0; r < rows; ++r) { float sum = 0;"
      "for (std::int64_t c = 0; c < cols; ++c) sum += std::fabs(z[r * cols + c]);"
      "y[r] = x[r] + " +
      std::string(factor) + " * sum / cols; }");
}

TEST(CpuEvaluator, TellsWhichInputsHardlyMatter) {
  const std::string yaml = R"(version: 1
name: scaled
backend: cpu
entry: scaled
files: {reference: reference.cpp}
sizes: {rows: 64, cols: 1024}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [rows]}
  - {name: y, role: out, dtype: f32, shape: [rows]}
  - {name: z, role: in,  dtype: f32, shape: [rows, cols]}
)";
  const auto told_of = [&](const char* factor) {
    std::string reference = mean_times(factor);
    reference.replace(reference.find("float* y, "), 10, "float* y, const float* z, ");
    return check_cpu_precision(task_with({.reference = reference}, yaml), quick());
  };
  const auto matters = told_of("0.5f");
  ASSERT_TRUE(matters) << describe(matters.error());
  EXPECT_THAT(matters->front().negligible, ::testing::IsEmpty());
  const auto hardly = told_of("1e-9f");
  ASSERT_TRUE(hardly) << describe(hardly.error());
  EXPECT_THAT(hardly->front().negligible, ::testing::ElementsAre("z"));
}

TEST(CpuEvaluator, AnEntryMayHaveTheNameOfALibraryFunction) {
  // The C library keeps a function of this name for old programs; it is found by whoever searches all
  // libraries.
  std::string yaml = yaml_with("entry: scaled", "entry: step");
  std::string source = kernel(kHonest);
  source.replace(source.find("void scaled"), 11, "void step");
  Bench bench(task_with({.reference = source, .seed = source}, yaml));
  expect_accepted(bench, source);
}

TEST(CpuEvaluator, AWrongOutputTellsByHowMuch) {
  Bench bench;
  const auto far = verdict_on(bench, kernel(kHonest + "y[rows * cols - 1] += 1;"));
  ASSERT_TRUE(far && !far->accepted());
  EXPECT_THAT(far->rejection()->diagnostics,
              AllOf(HasSubstr("times what it may be"), HasSubstr("expected"), HasSubstr("got")));
  EXPECT_THAT(far->rejection()->diagnostics, ::testing::Not(HasSubstr("cancel")));
  const auto nearly = verdict_on(bench, kernel(kHonest + "y[rows * cols - 1] *= 1.0001f;"));
  ASSERT_TRUE(nearly && !nearly->accepted());
  EXPECT_THAT(nearly->rejection()->diagnostics, HasSubstr("cancel"));
}

TEST(CpuEvaluator, WhatIsComparedBitForBitSaysSo) {
  Bench bench(task_with({}, kTask + "tolerance: {policy: exact}\n"));
  const auto verdict = verdict_on(bench, kernel(kHonest + "y[0] = 7;"));
  ASSERT_TRUE(verdict && !verdict->accepted());
  EXPECT_THAT(verdict->rejection()->diagnostics,
              AllOf(HasSubstr("not the same bits"), HasSubstr("policy: exact")));
}

}  // namespace
}  // namespace kernelsmith
