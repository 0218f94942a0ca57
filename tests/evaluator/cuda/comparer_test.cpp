#include "comparer.hpp"

#include <cstring>
#include <limits>

#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

/// Elements on the device.
struct ComparerBench {
  std::uint64_t put(Dtype dtype, const std::vector<double>& values) {
    memory.push_back(device.allocate(values.size() * bytes_of(dtype)).value());
    auto* const to = reinterpret_cast<std::byte*>(memory.back().address());
    for (std::size_t i = 0; i < values.size(); ++i) store_element(dtype, to, i, values[i]);
    return memory.back().address();
  }
  Look within(Dtype dtype, const std::vector<double>& actual, const std::vector<double>& expected,
              const std::vector<double>& weights, bool wide = false) {
    Look look{Look::Kind::within_weights, put(dtype, actual), put(dtype, expected)};
    look.weights = put(wide ? Dtype::f64 : Dtype::f32, weights);
    look.bytes = actual.size() * bytes_of(dtype);
    look.dtype = dtype;
    look.wide_weights = wide;
    return look;
  }
  Look same(const std::vector<double>& a, const std::vector<double>& b) {
    Look look{Look::Kind::same_bytes, put(Dtype::f32, a), put(Dtype::f32, b)};
    look.bytes = 4 * a.size();
    return look;
  }
  std::vector<LookResult> look(const std::vector<Look>& looks) { return comparer->look(looks).value(); }

  FakeDevice device;
  std::vector<PrivateMemory> memory;
  std::unique_ptr<Comparer> comparer = Comparer::create(device, {}).value();
};

TEST(Comparer, AnswersInTheOrderOfTheQuestions) {
  ComparerBench bench;
  const auto seen = bench.look({bench.same({1, 2}, {1, 2}), bench.same({1, 2}, {1, 3}),
                                bench.within(Dtype::f32, {1, 2}, {1, 2.5}, {1, 1}),
                                bench.within(Dtype::f32, {1, 2}, {1, 4}, {1, 1})});
  ASSERT_EQ(seen.size(), 4);
  EXPECT_FALSE(seen[0].suspect);
  EXPECT_TRUE(seen[1].suspect);
  EXPECT_FALSE(seen[2].suspect);
  EXPECT_EQ(seen[2].worst, 0.5);
  EXPECT_EQ(seen[2].squares, 0.25);
  EXPECT_TRUE(seen[3].suspect);
}

TEST(Comparer, AnswersOfEarlierQuestionsAreGone) {
  ComparerBench bench;
  EXPECT_TRUE(bench.look({bench.same({1}, {2}), bench.same({1}, {1})})[0].suspect);
  EXPECT_FALSE(bench.look({bench.same({1}, {1})})[0].suspect);
  const std::vector<Look> many(100, bench.same({1}, {1}));
  for (const LookResult& result : bench.look(many)) EXPECT_FALSE(result.suspect);
}

TEST(Comparer, AsksTheKernelOfTheTypeAndTheWeights) {
  ComparerBench bench;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2})
    bench.look({bench.within(dtype, {1}, {1}, {1}, true)});
  bench.look({bench.within(Dtype::bf16, {1}, {1}, {1})});
  EXPECT_THAT(bench.device.launched,
              ElementsAre("compare_f64", "compare_f32_wide", "compare_f16_wide", "compare_bf16_wide",
                          "compare_f8e4m3_wide", "compare_f8e5m2_wide", "compare_bf16"));
}

TEST(Comparer, EveryKernelThatItAsksForIsInTheSource) {
  std::ifstream file(std::filesystem::path(KERNELSMITH_SOURCE_DIR) /
                     "evaluator/cuda/device/judge_kernels.cu");
  const std::string source((std::istreambuf_iterator<char>(file)), {});
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2}) {
    const std::string name = "compare_" + std::string(name_of(dtype));
    EXPECT_NE(source.find("COMPARE(" + name + ","), source.npos) << name;
    if (dtype == Dtype::f64) continue;
    EXPECT_NE(source.find("COMPARE(" + name + "_wide,"), source.npos) << name;
  }
}

TEST(Comparer, FollowsThePoisonFromAnyByteOfAWord) {
  ComparerBench bench;
  constexpr std::uint32_t kPoison = 0x7ff12345;
  const auto memory = bench.device.allocate(64).value();
  const Device::Move fill{memory.address(), 0, 64, kPoison};
  ASSERT_TRUE(bench.device.move({&fill, 1}));
  for (std::uint32_t from = 0; from < 8; ++from) {
    Look look{Look::Kind::untouched, memory.address() + from};
    look.bytes = 64 - from;
    look.poison = kPoison;
    look.phase = from % 4;
    EXPECT_FALSE(bench.look({look})[0].suspect) << from;
    look.phase = (from + 1) % 4;
    EXPECT_TRUE(bench.look({look})[0].suspect) << from;
  }
}

TEST(Comparer, NoByteOfAMarginIsLeftOut) {
  ComparerBench bench;
  const auto memory = bench.device.allocate(4096).value();
  for (const std::size_t bytes : {1UL, 255UL, 256UL, 257UL, 4096UL}) {
    const Device::Move fill{memory.address(), 0, bytes, 0x7ff12345};
    ASSERT_TRUE(bench.device.move({&fill, 1}));
    reinterpret_cast<std::byte*>(memory.address())[bytes - 1] ^= std::byte{1};
    Look look{Look::Kind::untouched, memory.address()};
    look.bytes = bytes;
    look.poison = 0x7ff12345;
    EXPECT_TRUE(bench.look({look})[0].suspect) << bytes;
  }
}

TEST(Comparer, NothingAskedIsNothingLaunched) {
  ComparerBench bench;
  EXPECT_TRUE(bench.look({}).empty());
  EXPECT_EQ(bench.device.launches, 0);
}

TEST(Comparer, WhatTheDeviceRefusesIsAnError) {
  ComparerBench bench;
  bench.device.missing = {"same_bytes"};
  const Look same = bench.same({1}, {1});
  EXPECT_EQ(bench.comparer->look({{same}}).error().code, ErrorCode::not_found);
  bench.device.missing.clear();
  EXPECT_TRUE(bench.comparer->look({{same}}));
  bench.device.broken = fail(ErrorCode::tool_failed, "a sticky error");
  EXPECT_EQ(bench.comparer->look({{same}}).error().message, "a sticky error");
}

}  // namespace
}  // namespace kernelsmith::cuda
