// Comparison of outputs: single elements, poison, special values, and the whole.
#include <cmath>
#include <cstring>
#include <limits>

#include <kernelsmith/evaluator/expected.hpp>

#include "fake_oracle.hpp"

namespace kernelsmith::fake {
namespace {

constexpr std::uint32_t kTestPoison = 0x7fa12345U;
constexpr float kFloatNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

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

CompareResult compare(const Expected& expected, const std::vector<float>& actual) {
  return compare_output(expected, bytes_from(actual), kTestPoison);
}

TEST(Compare, AcceptsWhatIsWithinTheBudget) {
  const CompareResult result = compare(reals({1, 2, 3, 4}, 0.125F), {1, 2.12F, 3, 4});
  EXPECT_EQ(result.fault, Fault::none);
  EXPECT_GT(result.error, 0.9);
}

TEST(Compare, FindsOneWrongElementAmongMany) {
  std::vector<float> values(5000, 1);
  std::vector<float> actual = values;
  actual[4321] = 1.5F;
  const CompareResult result = compare(reals(values, 0.125F), actual);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.faults.wrong.count, 1U);
  EXPECT_EQ(result.faults.wrong.first, 4321U);
}

TEST(Compare, FindsManySmallErrorsByTheirRms) {
  const std::vector<float> values(5000, 1), actual(5000, 1.0625F);
  const Expected expected = reals(values, 0.125F);
  const CompareResult result = compare(expected, actual);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.faults.wrong.count, 0U);
  EXPECT_NEAR(result.error, 0.5 / expected.rms_limit, 1e-3);
  EXPECT_DOUBLE_EQ(result.worst, 0.5);
}

TEST(Compare, TellsPoisonFromNan) {
  float poison = 0;
  std::memcpy(&poison, &kTestPoison, sizeof poison);
  EXPECT_EQ(compare(reals({1, 2}, 0.1F), {1, poison}).fault, Fault::not_written);
  EXPECT_EQ(compare(reals({1, 2}, 0.1F), {kFloatNan, poison}).fault, Fault::not_written);
  EXPECT_EQ(compare(reals({1, 2}, 0.1F), {1, kFloatNan}).fault, Fault::not_finite);
  EXPECT_EQ(compare(reals({1, 2}, 0.1F), {5, kFloatInfinity}).fault, Fault::not_finite);
}

TEST(Compare, WantsTheSameSpecials) {
  const Expected expected = reals({1, kFloatNan, kFloatInfinity, -kFloatInfinity}, 0.1F);
  EXPECT_EQ(compare(expected, {1, kFloatNan, kFloatInfinity, -kFloatInfinity}).fault, Fault::none);
  EXPECT_EQ(compare(expected, {1, 7, kFloatInfinity, -kFloatInfinity}).fault, Fault::not_finite);
  EXPECT_EQ(compare(expected, {1, kFloatNan, -kFloatInfinity, -kFloatInfinity}).fault, Fault::not_finite);
  EXPECT_EQ(compare(expected, {kFloatNan, kFloatNan, kFloatInfinity, -kFloatInfinity}).fault,
            Fault::not_finite);
}

TEST(Compare, WantsSpecialsWritten) {
  float poison = 0;
  std::memcpy(&poison, &kTestPoison, sizeof poison);
  EXPECT_EQ(compare(reals({1, kFloatNan}, 0.1F), {1, poison}).fault, Fault::not_written);
}

TEST(Compare, SpecialsHideNoErrorOfTheirNeighbours) {
  std::vector<float> values(3000, 1), actual(3000, 1.05F);
  for (std::size_t i = 0; i < values.size(); i += 500) values[i] = actual[i] = kFloatNan;
  EXPECT_EQ(compare(reals(values, 0.125F), actual).fault, Fault::wrong) << "a lower precision beside NaN";
  actual.assign(3000, 1);
  for (std::size_t i = 0; i < values.size(); i += 500) actual[i] = kFloatNan;
  EXPECT_EQ(compare(reals(values, 0.125F), actual).fault, Fault::none);
  Expected normwise = reals(values, 0.125F);
  normwise.per_element = false;
  actual[7] = 1.5F;
  EXPECT_EQ(compare(normwise, actual).fault, Fault::none) << "normwise forgives an element beside NaN too";
}

TEST(Compare, WideWeightsTellDenormalsFromZero) {
  const std::vector<float> values(100, 1e-40F);
  Expected expected = reals(values, 1);
  expected.weights = bytes_from(std::vector<double>(values.size(), 1e44));
  expected.wide_weights = true;
  EXPECT_EQ(compare(expected, values).fault, Fault::none);
  EXPECT_EQ(compare(expected, std::vector<float>(values.size(), 0)).fault, Fault::wrong);
}

TEST(Compare, NormwiseForgivesNoErrorThatIsTooLargeToBeSquared) {
  Expected expected = reals(std::vector<float>(1000, 1), 1e-5F);
  expected.per_element = false;
  std::vector<float> actual(1000, 1);
  EXPECT_EQ(compare(expected, actual).fault, Fault::none);
  for (const float huge : {1e20F, 1e37F, 3e38F, -3e38F}) {
    actual.assign(1000, huge);
    EXPECT_EQ(compare(expected, actual).fault, Fault::wrong) << huge << " everywhere";
    actual.assign(1000, 1);
    actual[7] = huge;
    EXPECT_EQ(compare(expected, actual).fault, Fault::wrong) << huge << " in one place";
  }
  expected.dtype = Dtype::f64;
  expected.values = bytes_from(std::vector<double>(1000, 1));
  expected.weights = bytes_from(std::vector<double>(1000, 1e5));
  for (const double huge : {1e160, 1.7e308})
    EXPECT_EQ(compare_output(expected, bytes_from(std::vector<double>(1000, huge)), kTestPoison).fault,
              Fault::wrong)
        << huge;
}

TEST(Compare, NormwiseForgivesElementsButNotTheWhole) {
  Expected expected = reals(std::vector<float>(1000, 1), 0.1F);
  expected.per_element = false;
  expected.rms_limit = 1;
  std::vector<float> actual(1000, 1);
  actual[7] = 2;
  EXPECT_EQ(compare(expected, actual).fault, Fault::none);
  for (float& value : actual) value = 1.2F;
  EXPECT_EQ(compare(expected, actual).fault, Fault::wrong);
}

/// As compare_output(), in parts.
CompareResult compare_in_parts(const Expected& expected, const Bytes& actual, std::size_t parts) {
  std::vector<PartFindings> found;
  for (std::size_t part = 0; part < parts; ++part)
    found.push_back(look_through(expected, actual, kTestPoison, part, parts));
  return conclude(expected, found);
}

TEST(Compare, FindsTheSameInPartsAsInTheWhole) {
  for (const std::size_t count : {1U, 1023U, 1024U, 1025U, 5000U, 10240U}) {
    const std::vector<float> values(count, 1);
    const Expected expected = reals(values, 0.125F);
    for (const std::size_t wrong : {std::size_t{0}, count / 2, count - 1})
      for (const float value : {1.1F, 1.5F, kFloatNan}) {
        std::vector<float> actual = values;
        actual[wrong] = value;
        const CompareResult whole = compare(expected, actual);
        for (const std::size_t parts : {1U, 2U, 3U, 4U}) {
          SCOPED_TRACE(testing::Message()
                       << count << " elements, " << wrong << " is " << value << ", " << parts);
          const CompareResult result = compare_in_parts(expected, bytes_from(actual), parts);
          EXPECT_EQ(result.fault, whole.fault);
          EXPECT_EQ(result.faults.wrong.count, whole.faults.wrong.count);
          EXPECT_EQ(result.faults.wrong.first, whole.faults.wrong.first);
          EXPECT_EQ(result.faults.not_finite.first, whole.faults.not_finite.first);
          EXPECT_NEAR(result.error, whole.error, 1e-9);
        }
      }
  }
}

TEST(Compare, TheRmsIsThatOfAllParts) {
  const std::vector<float> values(8192, 1);
  std::vector<float> actual = values;
  const Expected expected = reals(values, 0.125F);
  for (std::size_t i = 0; i < 2048; ++i) actual[i] = 1.0625F;
  EXPECT_EQ(compare_in_parts(expected, bytes_from(actual), 4).fault, Fault::none)
      << "one part of four is bad";
  for (float& value : actual) value = 1.0625F;
  const CompareResult result = compare_in_parts(expected, bytes_from(actual), 4);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_NEAR(result.error, 0.5 / expected.rms_limit, 1e-3);
}

TEST(Compare, TheGravestFaultOfAllPartsIsTold) {
  const std::vector<float> values(5000, 1);
  std::vector<float> actual = values;
  const Expected expected = reals(values, 0.125F);
  actual[4999] = 5;
  actual[10] = kFloatNan;
  EXPECT_EQ(compare_in_parts(expected, bytes_from(actual), 2).fault, Fault::not_finite);
  std::memcpy(&actual[2500], &kTestPoison, sizeof kTestPoison);
  const CompareResult result = compare_in_parts(expected, bytes_from(actual), 2);
  EXPECT_EQ(result.fault, Fault::not_written);
  EXPECT_EQ(result.faults.not_written.count, 1U);
  EXPECT_EQ(result.faults.not_written.first, 2500U);
  EXPECT_EQ(result.faults.not_finite.count, 1U);
  EXPECT_EQ(result.faults.wrong.first, 4999U);
}

TEST(Compare, IntegersAreComparedInPartsToo) {
  std::vector<std::int32_t> values(5000, 7);
  Expected expected;
  expected.dtype = Dtype::i32;
  expected.exact = true;
  expected.values = bytes_from(values);
  EXPECT_EQ(compare_in_parts(expected, bytes_from(values), 3).fault, Fault::none);
  values[4999] = 8;
  const CompareResult result = compare_in_parts(expected, bytes_from(values), 3);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.faults.wrong.count, 1U);
  EXPECT_EQ(result.faults.wrong.first, 4999U);
  EXPECT_GT(result.error, 1);
}

template <class T>
Expected exactly(Dtype dtype, const std::vector<T>& values) {
  Expected expected;
  expected.dtype = dtype;
  expected.exact = true;
  expected.values = bytes_from(values);
  return expected;
}

template <class T>
CompareResult compare_exact(const Expected& expected, const std::vector<T>& actual) {
  return compare_output(expected, bytes_from(actual), kTestPoison);
}

TEST(Compare, ComparesIntegersBitForBit) {
  const std::vector<std::int32_t> values = {1, -2, 3};
  const Expected expected = exactly(Dtype::i32, values);
  EXPECT_EQ(compare_exact(expected, values).fault, Fault::none);
  const CompareResult wrong = compare_exact<std::int32_t>(expected, {1, -2, 4});
  EXPECT_EQ(wrong.fault, Fault::wrong);
  EXPECT_EQ(wrong.faults.wrong.first, 2U);
  EXPECT_EQ(wrong.worst_at, 2U);
  const CompareResult unwritten = compare_exact<std::uint32_t>(expected, {1, kTestPoison, 3});
  EXPECT_EQ(unwritten.fault, Fault::not_written);
  EXPECT_EQ(unwritten.worst_at, 1U);
}

TEST(Compare, LongIntegersAreComparedInAllTheirBits) {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  const Expected expected = exactly<std::int64_t>(Dtype::i64, {large, -large});
  EXPECT_EQ(compare_exact<std::int64_t>(expected, {large, -large}).fault, Fault::none);
  EXPECT_EQ(compare_exact<std::int64_t>(expected, {large, 1 - large}).fault, Fault::wrong);
}

TEST(Compare, RealsThatMustBeExactAreComparedBitForBit) {
  const Expected expected = exactly<float>(Dtype::f32, {0, kFloatNan});
  EXPECT_EQ(compare_exact<float>(expected, {0, kFloatNan}).fault, Fault::none);
  EXPECT_EQ(compare_exact<float>(expected, {-0.0F, kFloatNan}).fault, Fault::wrong);
}

TEST(Compare, ABoolIsZeroOrOne) {
  const Expected expected = exactly<std::uint8_t>(Dtype::boolean, {1, 0, 1});
  EXPECT_EQ(compare_exact<std::uint8_t>(expected, {1, 0, 1}).fault, Fault::none);
  EXPECT_EQ(compare_exact<std::uint8_t>(expected, {1, 1, 1}).fault, Fault::wrong);
  EXPECT_EQ(compare_exact<std::uint8_t>(expected, {1, 0, 2}).fault, Fault::wrong);
}

TEST(Compare, AByteThatIsThePoisonsByChanceWasWritten) {
  // 0x45 and 0x23 are the poison's first bytes.
  const Expected expected = exactly<std::uint8_t>(Dtype::u8, {1, 2, 3, 4, 5});
  EXPECT_EQ(compare_exact<std::uint8_t>(expected, {0x45, 2, 3, 4, 5}).fault, Fault::wrong);
  const CompareResult unwritten = compare_exact<std::uint8_t>(expected, {0x45, 0x23, 0xa1, 0x7f, 5});
  EXPECT_EQ(unwritten.fault, Fault::not_written);
  EXPECT_EQ(unwritten.faults.not_written.count, 4U);
  EXPECT_EQ(compare_exact<std::uint8_t>(expected, {1, 2, 3, 4, 0x45}).fault, Fault::not_written)
      << "the last bytes are less than a word";
}

TEST(Compare, AStepIsForgivenWhereItIsForeseen) {
  Expected expected = exactly<std::int8_t>(Dtype::i8, {5, 5, -128, 127});
  expected.steps = bytes_from<std::uint8_t>({1, 0, 1, 1});
  EXPECT_EQ(compare_exact<std::int8_t>(expected, {6, 5, -127, 126}).fault, Fault::none);
  EXPECT_EQ(compare_exact<std::int8_t>(expected, {4, 5, -128, 127}).fault, Fault::none);
  EXPECT_EQ(compare_exact<std::int8_t>(expected, {7, 5, -128, 127}).fault, Fault::wrong);
  EXPECT_EQ(compare_exact<std::int8_t>(expected, {5, 5, 127, 127}).fault, Fault::wrong) << "no step round";
  const CompareResult other = compare_exact<std::int8_t>(expected, {5, 6, -128, 127});
  EXPECT_EQ(other.fault, Fault::wrong);
  EXPECT_EQ(other.worst_at, 1U);
}

TEST(Compare, AFewOtherStepsAreForgivenInAllPartsTogether) {
  Expected expected = exactly(Dtype::i32, std::vector<std::int32_t>(4096, 7));
  expected.steps = Bytes(4096, std::byte{0});
  expected.more_steps = 2;
  std::vector<std::int32_t> actual(4096, 7);
  actual[10] = actual[4000] = 8;
  EXPECT_EQ(compare_in_parts(expected, bytes_from(actual), 3).fault, Fault::none);
  actual[2000] = 6;
  const CompareResult result = compare_in_parts(expected, bytes_from(actual), 3);
  EXPECT_EQ(result.fault, Fault::wrong);
  EXPECT_EQ(result.faults.wrong.count, 3U);
  EXPECT_EQ(result.faults.wrong.first, 10U);
  EXPECT_GT(result.error, 1);
}

/// As reals(), of a narrow dtype.
template <class T>
Expected narrow(Dtype dtype, const std::vector<float>& values, float budget) {
  Expected expected = reals(values, budget);
  expected.dtype = dtype;
  expected.values.resize(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i)
    store_element(dtype, expected.values.data(), i, static_cast<double>(values[i]));
  return expected;
}

template <class T>
void expect_narrow_reals_to_be_judged(Dtype dtype) {
  SCOPED_TRACE(name_of(dtype));
  const Expected expected = narrow<T>(dtype, {1, 2, -4, kFloatNan, 8}, 0.25F);
  const auto compare_with = [&](const std::vector<float>& actual) {
    return compare_output(expected, narrow<T>(dtype, actual, 1).values, kTestPoison).fault;
  };
  EXPECT_EQ(compare_with({1, 2, -4, kFloatNan, 8}), Fault::none);
  EXPECT_EQ(compare_with({1.25F, 2, -4, kFloatNan, 8}), Fault::none);
  EXPECT_EQ(compare_with({1.5F, 2, -4, kFloatNan, 8}), Fault::wrong);
  EXPECT_EQ(compare_with({1, 2, 4, kFloatNan, 8}), Fault::wrong);
  EXPECT_EQ(compare_with({1, kFloatNan, -4, kFloatNan, 8}), Fault::not_finite);
  EXPECT_EQ(compare_with({1, 2, -4, 0, 8}), Fault::not_finite);
}

TEST(Compare, NarrowRealsAreJudgedByTheirValues) {
  expect_narrow_reals_to_be_judged<truth::F16>(Dtype::f16);
  expect_narrow_reals_to_be_judged<truth::Bf16>(Dtype::bf16);
  expect_narrow_reals_to_be_judged<truth::F8e4m3>(Dtype::f8e4m3);
  expect_narrow_reals_to_be_judged<truth::F8e5m2>(Dtype::f8e5m2);
}

TEST(Compare, WhatIsNotJudgedMayBeAnythingThatWasWritten) {
  Expected expected = reals({1, 0}, 0.125F);
  expected.weights = bytes_from<float>({8, 0});
  expected.judged = 1;
  for (const float any : {0.0F, 1e30F, kFloatNan, kFloatInfinity})
    EXPECT_EQ(compare(expected, {1, any}).fault, Fault::none) << any;
  float poison = 0;
  std::memcpy(&poison, &kTestPoison, sizeof poison);
  EXPECT_EQ(compare(expected, {1, poison}).fault, Fault::not_written);
}

TEST(Compare, TheErrorIsAShareOfWhatIsAllowed) {
  Expected expected = reals(std::vector<float>(100, 1), 0.5F);
  expected.rms_limit = 1;
  std::vector<float> actual(100, 1);
  actual[42] = 1.25F;
  const CompareResult result = compare(expected, actual);
  EXPECT_DOUBLE_EQ(result.error, 0.5);
  EXPECT_EQ(result.worst_at, 42U);
}

TEST(AllowedError, IsOneOverTheWeight) {
  Expected expected = reals({1, kFloatNan}, 0.125F);
  EXPECT_DOUBLE_EQ(allowed_error(expected, 0), 0.125);
  EXPECT_EQ(allowed_error(expected, 1), std::numeric_limits<double>::infinity());
  expected.wide_weights = true;
  expected.weights = bytes_from<double>({4, 0});
  EXPECT_DOUBLE_EQ(allowed_error(expected, 0), 0.25);
}

TEST(AllowedError, OfIntegersIsAStepOrNothing) {
  Expected expected = exactly<std::int32_t>(Dtype::i32, {5, 5});
  EXPECT_EQ(allowed_error(expected, 0), 0);
  expected.steps = bytes_from<std::uint8_t>({0, 1});
  EXPECT_EQ(allowed_error(expected, 0), 0);
  EXPECT_EQ(allowed_error(expected, 1), 1);
}

TEST(Untouched, IsThePoisonFromTheFirstByteToTheLast) {
  Bytes bytes = bytes_from<std::uint32_t>({kTestPoison, kTestPoison});
  bytes.push_back(std::byte{0x45});
  EXPECT_TRUE(untouched(bytes, kTestPoison));
  for (const std::size_t i : {0U, 5U, 8U}) {
    Bytes touched = bytes;
    touched[i] = std::byte{0};
    EXPECT_FALSE(untouched(touched, kTestPoison)) << i;
  }
}

}  // namespace
}  // namespace kernelsmith::fake
