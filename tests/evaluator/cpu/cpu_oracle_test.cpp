// The reference's answers in every precision, and generated inputs.
#include "cpu_oracle.hpp"

#include <cmath>
#include <cstring>
#include <thread>

#include "workshop.hpp"

namespace kernelsmith::cpu {
namespace {

using ::testing::DoubleNear;

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::unique_ptr<Oracle> oracle_of(const Workshop& workshop, const std::string& source,
                                  OraclePrecision precision = OraclePrecision::declared,
                                  const std::stop_token& stop = {}) {
  return CpuOracle::create(*workshop.task, workshop.shapes, *workshop.build(source, precision), precision,
                           workshop.settings, stop)
      .value();
}

template <class T>
std::vector<T> ask(const Workshop& workshop, const std::string& source, OraclePrecision precision, T input) {
  const auto oracle = oracle_of(workshop, source, precision);
  const auto x = oracle->input(0, 0);
  EXPECT_EQ(x.size(), 8 * sizeof(T));
  for (std::size_t i = 0; i < 8; ++i) std::memcpy(x.data() + i * sizeof(T), &input, sizeof(T));
  oracle->answer(0).value();
  return values_of<T>(oracle->output(0, 1));
}

TEST(CpuOracle, AnswersInThePrecisionAskedFor) {
  const Workshop workshop(task_of(kTwice));
  const std::string third = twice("for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] / 3.0f;");
  EXPECT_THAT(ask<float>(workshop, third, OraclePrecision::declared, 1), Each(1.0F / 3));
  EXPECT_THAT(ask<double>(workshop, third, OraclePrecision::f64, 1), Each(1.0 / 3));
  EXPECT_THAT(ask<long double>(workshop, third, OraclePrecision::long_double, 1), Each(1.0L / 3));
}

/// The frequencies of a rotary embedding are made of literals and integers alone.
TEST(CpuOracle, LiteralsAreAsWideAsTensors) {
  const Workshop workshop(task_of(kTwice));
  const auto each = [](const std::string& value) {
    return "#include <cmath>\n" + twice("for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * " + value + ";");
  };
  const std::string frequency = each("std::pow(10000.0f, -2.0f * 3 / (n - 1)) * 0.1f");
  EXPECT_THAT(ask<double>(workshop, frequency, OraclePrecision::f64, 3),
              Each(DoubleNear(3 * std::pow(10000.0, -6.0 / 7) * static_cast<double>(0.1F), 1e-16)));
  const std::string sum = each("(1.0f / 3 + 0.5 / 7)");
  EXPECT_THAT(ask<long double>(workshop, sum, OraclePrecision::long_double, 1), Each(1.0L / 3 + 0.5L / 7));
}

TEST(CpuOracle, ACrashOfTheReferenceNamesTheUsualCauses) {
  std::string yaml = kTwice;
  yaml.replace(yaml.find("{n: 8}"), 6, "{n: 8, m: 2}");
  const Workshop workshop(task_of(yaml));
  const auto oracle =
      oracle_of(workshop,
                "#include \"task.hpp\"\n#include <cstdlib>\n"
                "void twice(const float*, float*, std::int64_t n, std::int64_t m) { std::abort(); }\n");
  EXPECT_THAT(oracle->answer(0).error().hint,
              HasSubstr("another order than task.yaml's (n, m); else call it yourself"));
}

TEST(CpuOracle, ZeroesOutputsBeforeEachAnswer) {
  const Workshop workshop(task_of(kTwice));
  const std::string adds = twice("for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];");
  const auto oracle = oracle_of(workshop, adds);
  for (int again = 0; again < 2; ++again) {
    for (std::size_t i = 0; i < 8; ++i) reinterpret_cast<float*>(oracle->input(0, 0).data())[i] = 1;
    ASSERT_TRUE(oracle->answer(0));
    EXPECT_THAT(values_of<float>(oracle->output(0, 1)), Each(1.0F));
  }
}

TEST(CpuOracle, AReferenceThatFailsMakesTheTaskUnusable) {
  const Workshop workshop(task_of(kTwice));
  const Status answered = oracle_of(workshop, twice("std::abort();"))->answer(0);
  EXPECT_EQ(answered.error().code, ErrorCode::refused);
  EXPECT_THAT(describe(answered.error()), HasSubstr("the task's reference fails at n=8"));
  EXPECT_THAT(answered.error().hint, HasSubstr("-fsanitize=address"));
}

TEST(CpuOracle, AStopEndsAnAnswerThatNeverComes) {
  const Workshop workshop(task_of(kTwice));
  std::stop_source stop;
  const auto oracle = oracle_of(workshop, twice("while (true) asm volatile(\"\");"),
                                OraclePrecision::declared, stop.get_token());
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(oracle->answer(0).error().code, ErrorCode::cancelled);
}

Task generated() {
  Task task = task_of(
      "version: 1\nname: picked\nbackend: cpu\nentry: picked\nfiles: {reference: reference.cpp}\n"
      "sizes: {n: 4}\ntensors:\n  - {name: x, role: in, dtype: f32, shape: [n]}\n"
      "  - {name: at, role: in, dtype: i32, shape: [n]}\n"
      "  - {name: y, role: out, dtype: f32, shape: [n]}\n");
  task.tensors[1].init = TensorInit::generated;
  task.inputs = one_file("//\n");
  return task;
}

std::string generator(const std::string& body) {
  return "#include \"task.hpp\"\n#include <cstdlib>\n"
         "void picked_inputs(const float* x, std::int32_t* at, std::int64_t n, std::uint64_t seed) {\n" +
         body + "}\n";
}

Inputs drawn() {
  Inputs inputs(3);
  const float x[] = {4, 3, 2, 1};
  inputs[0].resize(sizeof x);
  std::memcpy(inputs[0].data(), x, sizeof x);
  inputs[1].resize(4 * sizeof(std::int32_t));
  return inputs;
}

TEST(CpuInputGenerator, FillsTheTensorsThatAreGenerated) {
  const Workshop workshop(generated());
  const auto binary = workshop.build(
      generator("for (std::int64_t i = 0; i < n; ++i) at[i] = std::int32_t(x[i]) + std::int32_t(seed);"),
      OraclePrecision::declared, true);
  auto made = CpuInputGenerator::create(*workshop.task, workshop.shapes, *binary, workshop.settings).value();
  for (const std::int32_t seed : {10, 20}) {
    Inputs inputs = drawn();
    const Status status = made->generate(0, static_cast<std::uint64_t>(seed), inputs);
    ASSERT_TRUE(status) << describe(status.error());
    EXPECT_THAT(values_of<std::int32_t>(inputs[1]), ElementsAre(seed + 4, seed + 3, seed + 2, seed + 1));
    EXPECT_THAT(values_of<float>(inputs[0]), ElementsAre(4, 3, 2, 1));
  }
}

TEST(CpuInputGenerator, OneThatFailsMakesTheTaskUnusable) {
  const Workshop workshop(generated());
  const auto binary = workshop.build(generator("std::abort();"), OraclePrecision::declared, true);
  auto made = CpuInputGenerator::create(*workshop.task, workshop.shapes, *binary, workshop.settings).value();
  Inputs inputs = drawn();
  const Status status = made->generate(0, 1, inputs);
  EXPECT_EQ(status.error().code, ErrorCode::refused);
  EXPECT_THAT(describe(status.error()), HasSubstr("the task's inputs fails at n=4"));
}

}  // namespace
}  // namespace kernelsmith::cpu
