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
Bytes bytes_from(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Expected reals(const std::vector<float>& values, float budget) {
  std::vector<float> weights;
  for (const float value : values) weights.push_back(std::isfinite(value) ? 1 / budget : 0);
  Expected expected;
  expected.values = bytes_from(values);
  expected.weights = bytes_from(weights);
  expected.rms_limit = 0.25 + 1 / std::sqrt(static_cast<double>(values.size()));
  for (const float value : values) expected.judged += std::isfinite(value) ? 1U : 0U;
  return expected;
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
  EXPECT_EQ(result.faults.wrong.count, 1U);
  EXPECT_EQ(result.faults.wrong.first, 4321U);
}

TEST(Check, FindsManySmallErrorsByTheirRms) {
  const std::vector<float> values(5000, 1), actual(5000, 1.0625F);
  const Expected expected = reals(values, 0.125F);
  const CheckResult result = check(expected, actual);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.faults.wrong.count, 0U);
  EXPECT_NEAR(result.error, 0.5 / expected.rms_limit, 1e-3);
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

TEST(Check, WantsSpecialsWritten) {
  float poison = 0;
  std::memcpy(&poison, &kPoison, sizeof poison);
  EXPECT_EQ(check(reals({1, kNan}, 0.1F), {1, poison}).fault, Fault::not_written);
}

TEST(Check, SpecialsHideNoErrorOfTheirNeighbours) {
  std::vector<float> values(3000, 1), actual(3000, 1.05F);
  for (std::size_t i = 0; i < values.size(); i += 500) values[i] = actual[i] = kNan;
  EXPECT_EQ(check(reals(values, 0.125F), actual).fault, Fault::wrong) << "a lower precision beside NaN";
  actual.assign(3000, 1);
  for (std::size_t i = 0; i < values.size(); i += 500) actual[i] = kNan;
  EXPECT_EQ(check(reals(values, 0.125F), actual).fault, Fault::none);
  Expected normwise = reals(values, 0.125F);
  normwise.per_element = false;
  actual[7] = 1.5F;
  EXPECT_EQ(check(normwise, actual).fault, Fault::none) << "normwise forgives an element beside NaN too";
}

TEST(Check, WideWeightsTellDenormalsFromZero) {
  const std::vector<float> values(100, 1e-40F);
  Expected expected = reals(values, 1);
  expected.weights = bytes_from(std::vector<double>(values.size(), 1e44));
  expected.wide_weights = true;
  EXPECT_EQ(check(expected, values).fault, Fault::none);
  EXPECT_EQ(check(expected, std::vector<float>(values.size(), 0)).fault, Fault::wrong);
}

TEST(Check, NormwiseForgivesNoErrorThatIsTooLargeToBeSquared) {
  Expected expected = reals(std::vector<float>(1000, 1), 1e-5F);
  expected.per_element = false;
  std::vector<float> actual(1000, 1);
  EXPECT_EQ(check(expected, actual).fault, Fault::none);
  for (const float huge : {1e20F, 1e37F, 3e38F, -3e38F}) {
    actual.assign(1000, huge);
    EXPECT_EQ(check(expected, actual).fault, Fault::wrong) << huge << " everywhere";
    actual.assign(1000, 1);
    actual[7] = huge;
    EXPECT_EQ(check(expected, actual).fault, Fault::wrong) << huge << " in one place";
  }
  expected.dtype = Dtype::f64;
  expected.values = bytes_from(std::vector<double>(1000, 1));
  expected.weights = bytes_from(std::vector<double>(1000, 1e5));
  for (const double huge : {1e160, 1.7e308})
    EXPECT_EQ(check_output(expected, bytes_from(std::vector<double>(1000, huge)), kPoison).fault,
              Fault::wrong)
        << huge;
}

TEST(Check, NormwiseForgivesElementsButNotTheWhole) {
  Expected expected = reals(std::vector<float>(1000, 1), 0.1F);
  expected.per_element = false;
  expected.rms_limit = 1;
  std::vector<float> actual(1000, 1);
  actual[7] = 2;
  EXPECT_EQ(check(expected, actual).fault, Fault::none);
  for (float& value : actual) value = 1.2F;
  EXPECT_EQ(check(expected, actual).fault, Fault::wrong);
}

/// As check_output(), in parts.
CheckResult check_in_parts(const Expected& expected, const Bytes& actual, std::size_t parts) {
  std::vector<Findings> found;
  for (std::size_t part = 0; part < parts; ++part)
    found.push_back(look_through(expected, actual, kPoison, part, parts));
  return conclude(expected, found);
}

TEST(Check, FindsTheSameInPartsAsInTheWhole) {
  for (const std::size_t count : {1U, 1023U, 1024U, 1025U, 5000U, 10240U}) {
    const std::vector<float> values(count, 1);
    const Expected expected = reals(values, 0.125F);
    for (const std::size_t wrong : {std::size_t{0}, count / 2, count - 1})
      for (const float value : {1.1F, 1.5F, kNan}) {
        std::vector<float> actual = values;
        actual[wrong] = value;
        const CheckResult whole = check(expected, actual);
        for (const std::size_t parts : {1U, 2U, 3U, 4U}) {
          SCOPED_TRACE(testing::Message()
                       << count << " elements, " << wrong << " is " << value << ", " << parts);
          const CheckResult result = check_in_parts(expected, bytes_from(actual), parts);
          EXPECT_EQ(result.fault, whole.fault);
          EXPECT_EQ(result.faults.wrong.count, whole.faults.wrong.count);
          EXPECT_EQ(result.faults.wrong.first, whole.faults.wrong.first);
          EXPECT_EQ(result.faults.not_finite.first, whole.faults.not_finite.first);
          EXPECT_NEAR(result.error, whole.error, 1e-9);
        }
      }
  }
}

TEST(Check, TheRmsIsThatOfAllParts) {
  const std::vector<float> values(8192, 1);
  std::vector<float> actual = values;
  const Expected expected = reals(values, 0.125F);
  for (std::size_t i = 0; i < 2048; ++i) actual[i] = 1.0625F;
  EXPECT_EQ(check_in_parts(expected, bytes_from(actual), 4).fault, Fault::none) << "one part of four is bad";
  for (float& value : actual) value = 1.0625F;
  const CheckResult result = check_in_parts(expected, bytes_from(actual), 4);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_NEAR(result.error, 0.5 / expected.rms_limit, 1e-3);
}

TEST(Check, TheGravestFaultOfAllPartsIsTold) {
  const std::vector<float> values(5000, 1);
  std::vector<float> actual = values;
  const Expected expected = reals(values, 0.125F);
  actual[4999] = 5;
  actual[10] = kNan;
  EXPECT_EQ(check_in_parts(expected, bytes_from(actual), 2).fault, Fault::not_finite);
  std::memcpy(&actual[2500], &kPoison, sizeof kPoison);
  const CheckResult result = check_in_parts(expected, bytes_from(actual), 2);
  EXPECT_EQ(result.fault, Fault::not_written);
  EXPECT_EQ(result.faults.not_written.count, 1U);
  EXPECT_EQ(result.faults.not_written.first, 2500U);
  EXPECT_EQ(result.faults.not_finite.count, 1U);
  EXPECT_EQ(result.faults.wrong.first, 4999U);
}

TEST(Check, IntegersAreComparedInPartsToo) {
  std::vector<std::int32_t> values(5000, 7);
  Expected expected;
  expected.dtype = Dtype::i32;
  expected.exact = true;
  expected.values = bytes_from(values);
  EXPECT_EQ(check_in_parts(expected, bytes_from(values), 3).fault, Fault::none);
  values[4999] = 8;
  const CheckResult result = check_in_parts(expected, bytes_from(values), 3);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.faults.wrong.count, 1U);
  EXPECT_EQ(result.faults.wrong.first, 4999U);
  EXPECT_GT(result.error, 1);
}

TEST(Check, ComparesIntegersBitForBit) {
  const std::vector<std::int32_t> values = {1, -2, 3};
  Expected expected;
  expected.dtype = Dtype::i32;
  expected.exact = true;
  expected.values = bytes_from(values);
  EXPECT_EQ(check_output(expected, bytes_from(values), kPoison).fault, Fault::none);
  const CheckResult wrong = check_output(expected, bytes_from(std::vector<std::int32_t>{1, -2, 4}), kPoison);
  EXPECT_EQ(wrong.fault, Fault::wrong);
  EXPECT_EQ(wrong.faults.wrong.first, 2U);
  const CheckResult unwritten =
      check_output(expected, bytes_from(std::vector<std::uint32_t>{1, kPoison, 3}), kPoison);
  EXPECT_EQ(unwritten.fault, Fault::not_written);
}

}  // namespace
}  // namespace kernelsmith
