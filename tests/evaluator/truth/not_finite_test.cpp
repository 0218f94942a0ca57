// What is NaN, infinite or denormal.
#include <cmath>
#include <limits>

#include "judging.hpp"

namespace kernelsmith::fake {
namespace {

constexpr float kAnyNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kAnyInfinity = std::numeric_limits<float>::infinity();

/// y: what the truth is and what the reference answers, by the input's value.
constexpr auto kUnlike = [](auto& call) {
  for (std::size_t i = 0; i < call.in(0).size(); ++i) {
    const auto x = call.in(0)[i];
    call.out(1)[i] = x;
    if (x == 100) call.out(1)[i] = call.declared ? kAnyNan : 7;
    if (x == 200) call.out(1)[i] = call.declared ? 7 : kAnyInfinity;
    if (x == 300) call.out(1)[i] = call.declared ? 7 : kAnyNan;
    if (x == 400) call.out(1)[i] = call.declared ? -kAnyInfinity : kAnyInfinity;
  }
};

TEST(NotFinite, IsWantedWhereTruthAndReferenceAgree) {
  Judging judging(rows_task(1, 4), kUnlike);
  const Expected expected =
      judging.expect({bytes_from<float>({1, kAnyNan, kAnyInfinity, -kAnyInfinity}), {}});
  EXPECT_EQ(expected.judged, 1U);
  EXPECT_EQ(fault_of<float>(expected, {1, kAnyNan, kAnyInfinity, -kAnyInfinity}), Fault::none);
  EXPECT_EQ(fault_of<float>(expected, {1, 0, kAnyInfinity, -kAnyInfinity}), Fault::not_finite);
  EXPECT_EQ(fault_of<float>(expected, {1, kAnyNan, kAnyNan, -kAnyInfinity}), Fault::not_finite);
  EXPECT_EQ(fault_of<float>(expected, {kAnyNan, kAnyNan, kAnyInfinity, -kAnyInfinity}), Fault::not_finite);
}

TEST(NotFinite, WhereOnlyOneOfThemIsAnythingMayBeWritten) {
  Judging judging(rows_task(1, 5), kUnlike);
  const Expected expected = judging.expect({bytes_from<float>({1, 100, 200, 300, 400}), {}});
  EXPECT_EQ(expected.judged, 1U);
  for (const float any : {0.0F, 7.0F, -1e30F, kAnyNan, kAnyInfinity}) {
    EXPECT_EQ(fault_of<float>(expected, {1, any, any, any, any}), Fault::none) << any;
    EXPECT_EQ(fault_of<float>(expected, {2, any, any, any, any}), Fault::wrong) << any;
  }
  EXPECT_EQ(allowed_error(expected, 2), std::numeric_limits<double>::infinity());
}

TEST(NotFinite, WhatOverflowsInTheOutputsTypeIsInfinite) {
  Judging judging(rows_task(1, 3), elementwise([](auto x) { return std::exp(x); }));
  const Expected expected = judging.expect({bytes_from<float>({0, 100, 1}), {}});
  EXPECT_EQ(fault_of<float>(expected, {1, kAnyInfinity, std::exp(1.0F)}), Fault::none);
  EXPECT_EQ(fault_of<float>(expected, {1, 3e38F, std::exp(1.0F)}), Fault::not_finite);
}

TEST(NotFinite, DenormalsCountWhereTheyAreDeclared) {
  for (const bool declared : {false, true}) {
    Task task = rows_task(1, 100);
    task.tensors[0].specials.denormals = declared;
    Judging judging(task, elementwise([](auto x) { return x; }));
    const Expected expected = judging.expect(all_of(judging, 1e-40F));
    EXPECT_EQ(fault_with(expected, [](std::size_t) { return 0; }), Fault::none);
    EXPECT_EQ(fault_with(expected, [](std::size_t) { return -1e-40; }), declared ? Fault::wrong : Fault::none)
        << "flushed to zero";
  }
}

TEST(NotFinite, DenormalsOfBf16CountWhereTheyAreDeclared) {
  for (const bool declared : {false, true}) {
    Task task = rows_task(1, 100, Dtype::bf16);
    task.tensors[0].specials.denormals = declared;
    Judging judging(task, elementwise([](auto x) { return x; }));
    const std::vector<std::uint16_t> denormals(100, 0x20), zeros(100, 0);
    const Expected expected = judging.expect({bytes_from(denormals), {}});
    EXPECT_EQ(fault_of(expected, denormals), Fault::none);
    EXPECT_EQ(fault_of(expected, zeros), declared ? Fault::wrong : Fault::none) << "flushed to zero";
  }
}

}  // namespace
}  // namespace kernelsmith::fake
