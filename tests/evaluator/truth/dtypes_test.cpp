#include <cmath>
#include <cstring>
#include <limits>

#include <kernelsmith/evaluator/dtypes.hpp>

#include "testing.hpp"
#include "truth/elements.hpp"

namespace kernelsmith {
namespace {

constexpr double kWideInfinity = std::numeric_limits<double>::infinity();
constexpr Dtype kAll[] = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2,
                          Dtype::i64, Dtype::i32, Dtype::i8,  Dtype::u8,   Dtype::boolean};

/// What is read of what was stored.
double stored(Dtype dtype, double value) {
  std::byte bytes[16] = {};
  store_element(dtype, bytes, 1, value);
  return load_element(dtype, bytes, 1);
}

std::uint32_t bits_of(Dtype dtype, double value) {
  std::byte bytes[8] = {};
  store_element(dtype, bytes, 0, value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

TEST(Dtypes, TraitsAreThoseOfTheFormats) {
  for (const Dtype dtype : kAll) EXPECT_EQ(traits_of(dtype).bytes, bytes_of(dtype)) << name_of(dtype);
  EXPECT_EQ(traits_of(Dtype::f16).highest, 65504);
  EXPECT_EQ(traits_of(Dtype::f16).least_denormal, 0x1p-24);
  EXPECT_EQ(traits_of(Dtype::bf16).digits, 8);
  EXPECT_EQ(traits_of(Dtype::bf16).least_normal, 0x1p-126);
  EXPECT_EQ(traits_of(Dtype::f8e4m3).highest, 448);
  EXPECT_EQ(traits_of(Dtype::f8e4m3).least_denormal, 0x1p-9);
  EXPECT_EQ(traits_of(Dtype::f8e5m2).highest, 57344);
  EXPECT_EQ(traits_of(Dtype::f8e5m2).least_denormal, 0x1p-16);
  EXPECT_EQ(traits_of(Dtype::f32).unit_roundoff, 0x1p-24);
  EXPECT_EQ(traits_of(Dtype::f64).unit_roundoff, 0x1p-53);
  EXPECT_EQ(traits_of(Dtype::i8).lowest, -128);
  EXPECT_EQ(traits_of(Dtype::boolean).highest, 1);
  EXPECT_FALSE(traits_of(Dtype::i32).real);
}

TEST(Dtypes, KnownPatterns) {
  EXPECT_EQ(bits_of(Dtype::f16, 1), 0x3c00U);
  EXPECT_EQ(bits_of(Dtype::f16, -2), 0xc000U);
  EXPECT_EQ(bits_of(Dtype::bf16, 1), 0x3f80U);
  EXPECT_EQ(bits_of(Dtype::f8e4m3, 1), 0x38U);
  EXPECT_EQ(bits_of(Dtype::f8e4m3, kWideInfinity), 0x7fU);
  EXPECT_EQ(bits_of(Dtype::f8e5m2, 1), 0x3cU);
  EXPECT_EQ(bits_of(Dtype::f8e5m2, -kWideInfinity), 0xfcU);
  EXPECT_EQ(bits_of(Dtype::f16, -0.0), 0x8000U);
}

template <class T>
void expect_every_value_to_come_back(Dtype dtype) {
  for (std::uint32_t bits = 0; bits < 1U << (8 * sizeof(T)); ++bits) {
    std::byte bytes[4] = {};
    std::memcpy(bytes, &bits, sizeof(T));
    const double value = load_element(dtype, bytes, 0);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(stored(dtype, value))) << bits;
    else
      EXPECT_EQ(bits_of(dtype, value), bits);
  }
}

TEST(Dtypes, EveryValueComesBack) {
  expect_every_value_to_come_back<truth::F16>(Dtype::f16);
  expect_every_value_to_come_back<truth::Bf16>(Dtype::bf16);
  expect_every_value_to_come_back<truth::F8e4m3>(Dtype::f8e4m3);
  expect_every_value_to_come_back<truth::F8e5m2>(Dtype::f8e5m2);
}

/// Between each two neighbours: the half to the even one, what is beyond it to the nearer one.
template <class T>
void expect_nearest_even(Dtype dtype) {
  for (std::uint32_t bits = 0; bits < T::kHighest; ++bits) {
    T low, high;
    low.bits = static_cast<decltype(low.bits)>(bits);
    high.bits = static_cast<decltype(high.bits)>(bits + 1);
    const double a = static_cast<double>(truth::widened(low)), b = static_cast<double>(truth::widened(high));
    const double half = (a + b) / 2;
    ASSERT_EQ(stored(dtype, half), bits % 2 == 0 ? a : b) << bits;
    ASSERT_EQ(stored(dtype, -half), bits % 2 == 0 ? -a : -b) << bits;
    ASSERT_EQ(stored(dtype, std::nextafter(half, 0.0)), a) << bits;
    ASSERT_EQ(stored(dtype, std::nextafter(half, kWideInfinity)), b) << bits;
  }
}

TEST(Dtypes, NarrowRealsAreRoundedToNearestEven) {
  expect_nearest_even<truth::F16>(Dtype::f16);
  expect_nearest_even<truth::Bf16>(Dtype::bf16);
  expect_nearest_even<truth::F8e4m3>(Dtype::f8e4m3);
  expect_nearest_even<truth::F8e5m2>(Dtype::f8e5m2);
}

TEST(Dtypes, LongDoublesAreRoundedOnce) {
  // By way of a double this is the half between two values, which goes to the even one.
  const long double above_half = 1 + 0x1p-11L + 0x1p-62L;
  EXPECT_EQ(truth::widened(truth::element_from<truth::F16>(above_half)), 1 + 0x1p-10F);
  EXPECT_EQ(truth::element_from<float>(1 + 0x1p-24L + 0x1p-60L), 1 + 0x1p-23F);
}

TEST(Dtypes, RealsBeyondTheRangeBecomeInfinite) {
  EXPECT_EQ(stored(Dtype::f16, 65519), 65504);
  EXPECT_EQ(stored(Dtype::f16, 65520), kWideInfinity);
  EXPECT_EQ(stored(Dtype::f16, -1e300), -kWideInfinity);
  EXPECT_EQ(stored(Dtype::bf16, 3.4e38), kWideInfinity);
  EXPECT_EQ(stored(Dtype::f32, 1e39), kWideInfinity);
  EXPECT_EQ(stored(Dtype::f8e5m2, 61439), 57344);
  EXPECT_EQ(stored(Dtype::f8e5m2, 61440), kWideInfinity);
  EXPECT_EQ(stored(Dtype::f8e4m3, 464), 448) << "the half goes to the even one";
  EXPECT_TRUE(std::isnan(stored(Dtype::f8e4m3, 465)));
  EXPECT_TRUE(std::isnan(stored(Dtype::f8e4m3, -1e9)));
  EXPECT_TRUE(std::isnan(stored(Dtype::f16, std::nan(""))));
}

TEST(Dtypes, WhatIsTooSmallBecomesZeroOfItsSign) {
  EXPECT_EQ(stored(Dtype::f16, 0x1p-25), 0);
  EXPECT_EQ(stored(Dtype::f16, 0x1.1p-25), 0x1p-24);
  EXPECT_TRUE(std::signbit(stored(Dtype::bf16, -1e-60)));
  EXPECT_EQ(stored(Dtype::f8e4m3, 5e-324), 0);
}

TEST(Dtypes, IntegersAreRoundedToNearestEvenAndSaturate) {
  EXPECT_EQ(stored(Dtype::i8, 2.5), 2);
  EXPECT_EQ(stored(Dtype::i8, 3.5), 4);
  EXPECT_EQ(stored(Dtype::i8, 127.5), 127);
  EXPECT_EQ(stored(Dtype::i8, -1000), -128);
  EXPECT_EQ(stored(Dtype::u8, -0.6), 0);
  EXPECT_EQ(stored(Dtype::u8, 256), 255);
  EXPECT_EQ(stored(Dtype::i32, 1e300), 2147483647);
  EXPECT_EQ(stored(Dtype::i32, -kWideInfinity), -2147483648.0);
  EXPECT_EQ(stored(Dtype::i32, std::nan("")), 0);
  EXPECT_EQ(truth::element_from<std::int64_t>(1e300), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(truth::element_from<std::int64_t>(-1e30F), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(truth::element_from<std::int32_t>(2147483648.0F), 2147483647);
}

TEST(Dtypes, ABoolIsTrueForAnythingButZero) {
  EXPECT_EQ(stored(Dtype::boolean, 0), 0);
  EXPECT_EQ(stored(Dtype::boolean, -0.0), 0);
  EXPECT_EQ(stored(Dtype::boolean, 0.1), 1);
  EXPECT_EQ(stored(Dtype::boolean, -7), 1);
  const std::byte any[] = {std::byte{42}};
  EXPECT_EQ(load_element(Dtype::boolean, any, 0), 1);
}

TEST(Dtypes, OnlyTheElementItselfIsWritten) {
  for (const Dtype dtype : kAll) {
    std::vector<std::byte> bytes(3 * bytes_of(dtype), std::byte{0x55});
    store_element(dtype, bytes.data(), 1, 1);
    EXPECT_EQ(load_element(dtype, bytes.data(), 1), 1) << name_of(dtype);
    for (std::size_t i = 0; i < bytes_of(dtype); ++i) {
      EXPECT_EQ(bytes[i], std::byte{0x55}) << name_of(dtype);
      EXPECT_EQ(bytes[2 * bytes_of(dtype) + i], std::byte{0x55}) << name_of(dtype);
    }
  }
}

}  // namespace
}  // namespace kernelsmith
