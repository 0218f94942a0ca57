#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

template <class T>
struct Ends {
  T least, most;
};

/// Over many tensors: what a mixture draws is in some of them.
template <class T>
Ends<T> ends_of(Dtype dtype, TensorInit init) {
  constexpr std::size_t kElements = 4096;
  TensorSpec spec;
  spec.dtype = dtype;
  spec.init = init;
  TensorExtent extent;
  extent.shape = {kElements};
  extent.elements = kElements;
  extent.bytes = kElements * sizeof(T);
  SecretStream random;
  std::vector<T> all;
  for (int tensor = 0; tensor < 40; ++tensor) {
    const Bytes bytes = draw_tensor(spec, extent, random);
    std::vector<T> values(kElements);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    all.insert(all.end(), values.begin(), values.end());
  }
  const auto [least, most] = std::ranges::minmax(all);
  return {least, most};
}

TEST(Inputs, IntegersGoBeyondAByte) {
  const auto plain = ends_of<std::int32_t>(Dtype::i32, TensorInit::normal);
  EXPECT_LT(plain.least, -1900);
  EXPECT_GT(plain.most, 1900);
  const auto positive = ends_of<std::int64_t>(Dtype::i64, TensorInit::positive);
  EXPECT_EQ(positive.least, 1);
  EXPECT_GT(positive.most, 1900);
}

TEST(Inputs, BytesAreAnyBytes) {
  const auto signed_ends = ends_of<std::int8_t>(Dtype::i8, TensorInit::normal);
  EXPECT_EQ(signed_ends.least, -128);
  EXPECT_EQ(signed_ends.most, 127);
  const auto unsigned_ends = ends_of<std::uint8_t>(Dtype::u8, TensorInit::normal);
  EXPECT_EQ(unsigned_ends.least, 0);
  EXPECT_EQ(unsigned_ends.most, 255);
}

TEST(Inputs, WholeNumbersOfARealTypeStayExactInShortProducts) {
  const auto whole = ends_of<float>(Dtype::f32, TensorInit::integer);
  EXPECT_EQ(whole.least, -100);
  EXPECT_EQ(whole.most, 100);
}

/// How unlike the values are in the two halves of each so many, by the ratio of their squares' sums.
double unlikeness(const std::vector<float>& values, std::size_t period) {
  double squares[2] = {};
  for (std::size_t i = 0; i < values.size(); ++i)
    squares[i / (period / 2) % 2] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return std::max(squares[0], squares[1]) / std::min(squares[0], squares[1]);
}

TEST(Inputs, SomeAreOfTwoKindsThatTakeTurns) {
  constexpr std::size_t kElements = 4096, kPeriod = 128;
  TensorSpec spec;
  TensorExtent extent;
  extent.shape = {kElements};
  extent.elements = kElements;
  extent.bytes = kElements * sizeof(float);
  SecretStream random;
  int unlike = 0, alike = 0;
  for (int tensor = 0; tensor < 600; ++tensor) {
    const Bytes bytes = draw_tensor(spec, extent, random);
    std::vector<float> values(kElements);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    const double seen = unlikeness(values, kPeriod);
    unlike += seen > 4 ? 1 : 0;
    alike += seen < 1.5 ? 1 : 0;
  }
  EXPECT_GT(unlike, 0);
  EXPECT_GT(alike, 100);
}

TEST(Inputs, EachSetShowsEveryKindOfSpecialInAFewRows) {
  constexpr std::size_t kRows = 32, kCols = 512;
  TensorSpec spec;
  spec.dtype = Dtype::f32;
  spec.specials = {true, true, true, true};
  TensorExtent extent;
  extent.shape = {kRows, kCols};
  extent.elements = kRows * kCols;
  extent.bytes = extent.elements * sizeof(float);
  SecretStream random;
  int complete = 0;
  for (int tensor = 0; tensor < 100; ++tensor) {
    const Bytes bytes = with_specials(spec, extent, draw_tensor(spec, extent, random), random);
    std::vector<float> values(extent.elements);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    std::set<std::string> kinds;
    std::set<std::size_t> rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float x = values[i];
      const bool large = std::fabs(x) >= 1024 && std::isfinite(x);
      const bool denormal = std::fpclassify(x) == FP_SUBNORMAL;
      if (std::isfinite(x) && !large && !denormal) continue;
      rows.insert(i / kCols);
      const std::string kind = std::isnan(x) ? "nan" : denormal ? "denormal" : large ? "large" : "infinite";
      kinds.insert(x < 0 && !denormal ? "-" + kind : kind);
    }
    EXPECT_LE(rows.size(), kRows / 4);
    if (kinds.size() == 6) ++complete;
  }
  EXPECT_GE(complete, 90) << "one may come to lie on another";
}

}  // namespace
}  // namespace kernelsmith
