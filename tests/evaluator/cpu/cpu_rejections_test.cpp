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
  CpuOptions options;
  options.bank_seconds = 10;  // A sanitizer makes the sets slowly, and some tricks are found by few of them.
  Bench bench(task_with({}), options);
  std::vector<std::future<Result<Evaluation>>> answers;
  for (const Trick& trick : tricks) answers.push_back(bench.start(bench.job(trick.source)));
  for (std::size_t i = 0; i < tricks.size(); ++i) {
    SCOPED_TRACE(tricks[i].name);
    const auto answer = bench.answer(std::move(answers[i]), bench.job(tricks[i].source));
    if (!answer || answer->accepted()) {
      ADD_FAILURE() << (answer ? "accepted" : describe(answer.error()));
      continue;
    }
    const Rejection& told = *answer->rejection();
    EXPECT_EQ(name_of(told.stage), name_of(tricks[i].stage)) << told.diagnostics;
    EXPECT_EQ(name_of(told.code), name_of(tricks[i].code)) << told.diagnostics;
    EXPECT_FALSE(told.diagnostics.empty());
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
  EXPECT_EQ(rejection_of(bench.evaluate("int other() { return 1; }\n")).diagnostics,
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
    const Rejection both = rejection_of(
        bench.evaluate(with_headers("#include <cmath>\n#include <vector>\n",
                                    std::string("std::vector<float> v(") + value + ", std::sin(*x));\n")));
    EXPECT_EQ(both.code, RejectionCode::output_not_written) << both.diagnostics;
    bench
        .evaluate(
            with_headers("#include <cmath>\n", std::string("float v = std::sin(") + value + "); (void)v;\n"))
        .value();
  }
  const Rejection less = rejection_of(
      bench.evaluate(with_headers("#include <cmath>\n", "std::vector<float> v(1);\n" + kHonest)));
  EXPECT_EQ(less.code, RejectionCode::compile_failed);
  EXPECT_THAT(less.diagnostics, AllOf(HasSubstr("vector"), Not(HasSubstr("usual.hpp"))));
  // What the headers' own text says of a wrong use names the candidate's include, as without preparation.
  EXPECT_THAT(rejection_of(bench.evaluate(
                               with_headers("#include <vector>\n#include <cmath>\n",
                                            "struct S { S(S&) = delete; }; std::vector<S&> v;\n" + kHonest)))
                  .diagnostics,
              Not(HasSubstr("usual.hpp")));
}

TEST(CpuEvaluator, SpecialFunctionsOfTheLibraryCanBeUsed) {
  Bench bench;
  expect_accepted(bench, kernel("y[0] = std::riemann_zetaf(2) + std::cyl_bessel_jf(0, "
                                "std::fmin(std::fabs(*x), 1)) + std::laguerref(3, 1);" +
                                kHonest));
}

/// The red team's tasks have the other ways to be wrong, to break and to leave.
TEST(CpuEvaluator, RejectsWrongOutputs) {
  expect_rejections({
      {"a lower precision", kernel(kHonest + R"(for (std::int64_t i = 0; i < rows * cols; ++i) {
          std::uint32_t bits; __builtin_memcpy(&bits, y + i, 4); bits &= 0xffffe000u; __builtin_memcpy(y + i, &bits, 4); })"),
       Stage::correctness, RejectionCode::wrong_output},
      {"wrong for few of the inputs of one element",
       "static int calls;\n" + kernel("if (rows == 1 && ++calls > 9) { *y = 7; return; }" + kHonest),
       Stage::correctness, RejectionCode::wrong_output},
  });
}

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
  const auto told = check_cpu_precision(task_with({}), quick()).value();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told.front().lower, "tf32");
  EXPECT_EQ(told.front().caught, told.front().sets);
  EXPECT_TRUE(told.front().tells());

  // Zeros are zeros in any precision.
  const Task zeros = task_with({}, yaml_with("init: normal", "init: zeros"));
  EXPECT_FALSE(check_cpu_precision(zeros, quick()).value().front().tells());

  const Task exact = task_with({}, kTask + "tolerance: {policy: exact}\n");
  EXPECT_TRUE(check_cpu_precision(exact, quick()).value().empty());
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
  const auto matters = told_of("0.5f").value();
  EXPECT_THAT(matters.front().negligible, IsEmpty());
  const auto hardly = told_of("1e-9f").value();
  EXPECT_THAT(hardly.front().negligible, ElementsAre("z"));
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

}  // namespace
}  // namespace kernelsmith
