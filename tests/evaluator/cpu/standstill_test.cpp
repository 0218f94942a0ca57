#include "standstill.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

constexpr std::size_t kLine = 64;

TEST(Standstill, HoldsWhileNothingChanges) {
  SecretStream random;
  Standstill standstill;
  EXPECT_TRUE(standstill.holds()) << "nothing was noted";
  std::vector<std::byte> output(1000, std::byte{1});
  standstill.note(output, 4, random);
  EXPECT_TRUE(standstill.holds());
}

TEST(Standstill, EachByteOfASmallOutputCounts) {
  SecretStream random;
  for (const std::size_t size : {1U, 63U, 64U, 65U, 1000U}) {
    std::vector<std::byte> output(size, std::byte{1});
    Standstill standstill;
    standstill.note(output, 16, random);
    for (std::byte& byte : output) {
      byte = std::byte{2};
      EXPECT_FALSE(standstill.holds()) << "byte " << &byte - output.data() << " of " << size;
      byte = std::byte{1};
    }
    EXPECT_TRUE(standstill.holds());
  }
}

TEST(Standstill, EachPartOfALargeOutputIsLookedAt) {
  constexpr std::size_t kParts = 8, kLinesOfPart = 100;
  SecretStream random;
  std::vector<std::byte> output(kParts * kLinesOfPart * kLine);
  for (std::size_t part = 0; part < kParts; ++part) {
    Standstill standstill;
    standstill.note(output, kParts, random);
    std::fill_n(output.begin() + static_cast<std::ptrdiff_t>(part * kLinesOfPart * kLine),
                kLinesOfPart * kLine, std::byte{static_cast<unsigned char>(part + 1)});
    EXPECT_FALSE(standstill.holds()) << part;
  }
}

TEST(Standstill, ThePlacesAreOthersEachTime) {
  SecretStream random;
  std::vector<std::byte> output(1000 * kLine);
  std::size_t seen = 0;
  for (int attempt = 0; attempt < 200; ++attempt) {
    Standstill standstill;
    standstill.note(output, 10, random);
    std::fill_n(output.begin(), 10 * kLine, static_cast<std::byte>(attempt % 255 + 1));
    seen += standstill.holds() ? 0U : 1U;
  }
  EXPECT_GT(seen, 3U);
  EXPECT_LT(seen, 60U) << "one time in ten, in the mean";
}

TEST(Standstill, WhatWasNotedIsForgotten) {
  SecretStream random;
  std::vector<std::byte> output(100);
  Standstill standstill;
  standstill.note(output, 4, random);
  output.assign(100, std::byte{9});
  EXPECT_FALSE(standstill.holds());
  standstill.clear();
  EXPECT_TRUE(standstill.holds());
}

}  // namespace
}  // namespace kernelsmith
