#include "check.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

constexpr std::uint32_t kPoison = 0x7fa12345U;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
std::vector<std::byte> bytes_from(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Expected reals(const std::vector<float>& values, float budget) {
  std::vector<float> weights;
  for (const float value : values) weights.push_back(std::isfinite(value) ? 1 / budget : 0);
  return {Dtype::f32, false, true, bytes_from(values), bytes_from(weights)};
}

CheckResult check(const Expected& expected, const std::vector<float>& actual) {
  return check_output(expected, bytes_from(actual), kPoison);
}

TEST(Check, AcceptsWhatIsWithinTheBudget) {
  const CheckResult result = check(reals({1, 2, 3, 4}, 0.125F), {1, 2.12F, 3, 4});
  EXPECT_EQ(result.fault, Fault::none);
  EXPECT_GT(result.error, 0.9);
}

TEST(Check, FindsOneWrongElementAmongMany) {
  std::vector<float> values(5000, 1);
  std::vector<float> actual = values;
  actual[4321] = 1.5F;
  const CheckResult result = check(reals(values, 0.125F), actual);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.bad, 1U);
  EXPECT_EQ(result.first_bad, 4321U);
}

TEST(Check, FindsManySmallErrorsByTheirRms) {
  const std::vector<float> values(5000, 1), actual(5000, 1.0625F);
  const CheckResult result = check(reals(values, 0.125F), actual);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.bad, 0U);
  EXPECT_NEAR(result.error, 2, 1e-3);
}

TEST(Check, TellsPoisonFromNan) {
  float poison = 0;
  std::memcpy(&poison, &kPoison, sizeof poison);
  EXPECT_EQ(check(reals({1, 2}, 0.1F), {1, poison}).fault, Fault::not_written);
  EXPECT_EQ(check(reals({1, 2}, 0.1F), {kNan, poison}).fault, Fault::not_written);
  EXPECT_EQ(check(reals({1, 2}, 0.1F), {1, kNan}).fault, Fault::not_finite);
  EXPECT_EQ(check(reals({1, 2}, 0.1F), {5, kInfinity}).fault, Fault::not_finite);
}

TEST(Check, WantsTheSameSpecials) {
  const Expected expected = reals({1, kNan, kInfinity, -kInfinity}, 0.1F);
  EXPECT_EQ(check(expected, {1, kNan, kInfinity, -kInfinity}).fault, Fault::none);
  EXPECT_EQ(check(expected, {1, 7, kInfinity, -kInfinity}).fault, Fault::not_finite);
  EXPECT_EQ(check(expected, {1, kNan, -kInfinity, -kInfinity}).fault, Fault::not_finite);
  EXPECT_EQ(check(expected, {kNan, kNan, kInfinity, -kInfinity}).fault, Fault::not_finite);
}

TEST(Check, NormwiseForgivesElementsButNotTheWhole) {
  Expected expected = reals(std::vector<float>(1000, 1), 0.1F);
  expected.per_element = false;
  std::vector<float> actual(1000, 1);
  actual[7] = 2;
  EXPECT_EQ(check(expected, actual).fault, Fault::none);
  for (float& value : actual) value = 1.2F;
  EXPECT_EQ(check(expected, actual).fault, Fault::wrong);
}

TEST(Check, ComparesIntegersBitForBit) {
  const std::vector<std::int32_t> values = {1, -2, 3};
  const Expected expected{Dtype::i32, true, true, bytes_from(values), {}};
  EXPECT_EQ(check_output(expected, bytes_from(values), kPoison).fault, Fault::none);
  const CheckResult wrong = check_output(expected, bytes_from(std::vector<std::int32_t>{1, -2, 4}), kPoison);
  EXPECT_EQ(wrong.fault, Fault::wrong);
  EXPECT_EQ(wrong.first_bad, 2U);
  const CheckResult unwritten =
      check_output(expected, bytes_from(std::vector<std::uint32_t>{1, kPoison, 3}), kPoison);
  EXPECT_EQ(unwritten.fault, Fault::not_written);
}

}  // namespace
}  // namespace kernelsmith
