// The secret generator: the same numbers for a key, others for another, and even.
#include <cmath>

#include <kernelsmith/evaluator/inputs.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

TEST(SecretStream, AKeyGivesTheSameNumbersEveryTime) {
  SecretStream one({1, 2}), same({1, 2}), other({1, 3}), another({2, 2});
  int equal = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t word = one.word();
    EXPECT_EQ(word, same.word());
    equal += word == other.word() || word == another.word() ? 1 : 0;
  }
  EXPECT_EQ(equal, 0);
}

TEST(SecretStream, KeysOfTheSystemAreNotTheSame) {
  EXPECT_NE(draw_key(), draw_key());
  EXPECT_NE(SecretStream().word(), SecretStream().word());
}

TEST(SecretStream, BelowReachesAllAndNoMore) {
  SecretStream random({3, 4});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen.size(), 7U);
  EXPECT_EQ(*seen.rbegin(), 6U);
  EXPECT_EQ(random.below(1), 0U);
}

/// The mean of the k-th powers.
double moment(const std::vector<float>& values, int power) {
  double sum = 0;
  for (const float value : values) sum += std::pow(static_cast<double>(value), power);
  return sum / static_cast<double>(values.size());
}

constexpr std::size_t kMany = 200'001;  // Odd: the last pair is cut short.

TEST(SecretStream, UniformNumbersFillTheirRange) {
  SecretStream random({5, 6});
  std::vector<float> values(kMany);
  random.fill_uniform(values);
  for (const float value : values) ASSERT_TRUE(value >= 0 && value < 1) << value;
  EXPECT_NEAR(moment(values, 1), 0.5, 0.005);
  EXPECT_NEAR(moment(values, 2), 1.0 / 3, 0.005);
  EXPECT_GT(values.back(), 0);
}

TEST(SecretStream, NormalsHaveTheMomentsOfNormals) {
  SecretStream random({7, 8});
  std::vector<float> values(kMany);
  random.fill_normal(values);
  EXPECT_NEAR(moment(values, 1), 0, 0.02);
  EXPECT_NEAR(moment(values, 2), 1, 0.02);
  EXPECT_NEAR(moment(values, 3), 0, 0.1);
  EXPECT_NEAR(moment(values, 4), 3, 0.15);
  double products = 0;
  std::size_t beyond_four = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    products += static_cast<double>(values[i]) * static_cast<double>(values[i + 1]);
    beyond_four += std::fabs(values[i]) > 4 ? 1U : 0U;
  }
  EXPECT_NEAR(products / static_cast<double>(kMany), 0, 0.02) << "neighbours are independent";
  EXPECT_GT(beyond_four, 2U);
  EXPECT_LT(beyond_four, 40U);
}

TEST(SecretStream, NormalsOfAnyNumberAreTheFirstOfMore) {
  std::vector<float> many(1030), few(515);
  SecretStream({9, 1}).fill_normal(many);
  for (const std::size_t count : {1U, 2U, 511U, 512U, 513U, 515U}) {
    SecretStream({9, 1}).fill_normal(std::span(few).first(count));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(few[i], many[i]) << count << " " << i;
  }
}

}  // namespace
}  // namespace kernelsmith
