#include <limits>

#include <gtest/gtest.h>

#include <kernelsmith/archive/axis.hpp>

namespace kernelsmith {
namespace {

Axis axis(decltype(AxisSpec::scale) scale) { return Axis::create({"x", std::move(scale)}).value(); }

struct Refused {
  const char* name;
  AxisSpec spec;
  const char* message;
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RefusedAxis : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedAxis, SaysWhatIsWrong) {
  const auto made = Axis::create(GetParam().spec);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(made.error().message.find(GetParam().message), std::string::npos) << describe(made.error());
  EXPECT_EQ(made.error().where, GetParam().spec.feature.empty() ? "" : "axis 'x'");
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, RefusedAxis,
    ::testing::Values(
        Refused{"nameless", {"", LinearScale{}}, "needs the name"},
        Refused{"descending", {"x", LinearScale{2, 1, 4}}, "low must be"},
        Refused{"empty_range", {"x", LinearScale{1, 1, 4}}, "low must be"},
        Refused{"infinite", {"x", LinearScale{0, kInfinity, 4}}, "low must be"},
        Refused{"no_bins", {"x", LinearScale{0, 1, 0}}, "1 to 10000 bins, not 0"},
        Refused{"many_bins", {"x", LinearScale{0, 1, 10'001}}, "not 10001"},
        Refused{"narrow", {"x", LinearScale{1, 1 + 1e-15, 100}}, "too narrow"},
        Refused{"log_of_zero", {"x", LogarithmicScale{0, 1, 4}}, "above zero"},
        Refused{"log_of_negative", {"x", LogarithmicScale{-1, 1, 4}}, "above zero"},
        Refused{"one_edge", {"x", EdgeScale{{1}}}, "at least two"},
        Refused{"equal_edges", {"x", EdgeScale{{1, 2, 2, 3}}}, "strictly ascending"},
        Refused{"edge_not_a_number",
                {"x", EdgeScale{{1, std::numeric_limits<double>::quiet_NaN(), 3}}},
                "finite"},
        Refused{"no_categories", {"x", CategoricalScale{}}, "not 0"},
        Refused{"repeated_category", {"x", CategoricalScale{{"a", "b", "a"}}}, "'a' is listed twice"},
        Refused{"nameless_category", {"x", CategoricalScale{{"a", ""}}}, "needs a name"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Axis, LinearBinsHaveEqualWidth) {
  const Axis a = axis(LinearScale{0, 10, 5});
  EXPECT_EQ(a.bins(), 5U);
  EXPECT_EQ(a.bin_of(0), 0U);
  EXPECT_EQ(a.bin_of(1.999), 0U);
  EXPECT_EQ(a.bin_of(2), 1U) << "a bin holds its lower edge";
  EXPECT_EQ(a.bin_of(10), 4U) << "the last bin holds the upper edge";
}

TEST(Axis, WhatLiesOutsideGoesToTheEdgeBin) {
  for (const Axis& a :
       {axis(LinearScale{0, 10, 5}), axis(LogarithmicScale{1, 100, 5}), axis(EdgeScale{{1, 2, 3, 4, 5, 6}}),
        axis(CategoricalScale{{"a", "b", "c", "d", "e"}})}) {
    EXPECT_EQ(a.bin_of(-1e300), 0U) << a.to_text();
    EXPECT_EQ(a.bin_of(1e300), 4U) << a.to_text();
  }
}

TEST(Axis, LogarithmicBinsHaveEqualRatio) {
  const Axis a = axis(LogarithmicScale{1, 10'000, 4});
  EXPECT_EQ(a.bin_of(9.99), 0U);
  EXPECT_EQ(a.bin_of(10.01), 1U);
  EXPECT_EQ(a.bin_of(150), 2U);
  EXPECT_EQ(a.bin_of(9'999), 3U);
  EXPECT_EQ(a.bin_of(0), 0U);
}

TEST(Axis, RangesAsWideAsDoublesDoNotOverflow) {
  const double most = std::numeric_limits<double>::max();
  const Axis a = axis(LinearScale{-most, most, 4});
  EXPECT_EQ(a.bin_of(-0.9 * most), 0U);
  EXPECT_EQ(a.bin_of(1), 2U);
}

TEST(Axis, RoundNumbersLieOnTheirEdges) {
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(axis(LinearScale{0, 100, 100}).bin_of(static_cast<double>(i)), i);
    EXPECT_EQ(axis(LinearScale{0, 10, 100}).bin_of(static_cast<double>(i) / 10), i);
  }
  const Axis powers = axis(LogarithmicScale{1, 1 << 20, 20});
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(powers.bin_of(static_cast<double>(1 << i)), i);
}

TEST(Axis, EdgesAreTakenAsTheyAre) {
  const Axis a = axis(EdgeScale{{1, 2, 4, 8}});
  EXPECT_EQ(a.bins(), 3U);
  EXPECT_EQ(a.bin_of(1.5), 0U);
  EXPECT_EQ(a.bin_of(2), 1U);
  EXPECT_EQ(a.bin_of(4), 2U);
}

TEST(Axis, CategoriesAreIndices) {
  const Axis a = axis(CategoricalScale{{"naive", "tiled", "packed"}});
  EXPECT_TRUE(a.categorical());
  EXPECT_EQ(a.bin_of(1), 1U);
  EXPECT_EQ(a.bin_of(1.6), 2U) << "rounded";
  EXPECT_EQ(a.label(a.bin_of(0)), "naive");
}

TEST(Axis, BinsAreMonotonous) {
  const Axis a = axis(LogarithmicScale{0.001, 1000, 37});
  std::size_t last = 0;
  for (double value = 0.0005; value < 2000; value *= 1.01) {
    EXPECT_GE(a.bin_of(value), last);
    last = a.bin_of(value);
  }
  EXPECT_EQ(last, 36U);
}

TEST(Axis, LabelsSayThatTheOuterBinsAreOpen) {
  const Axis a = axis(LinearScale{0, 8, 4});
  EXPECT_EQ(a.label(0), "< 2");
  EXPECT_EQ(a.label(1), "[2, 4)");
  EXPECT_EQ(a.label(3), ">= 6");
  EXPECT_EQ(axis(LinearScale{0, 8, 1}).label(0), "all");
}

TEST(Axis, LabelsHaveTheDigitsThatTellEdgesApart) {
  EXPECT_EQ(axis(LinearScale{0, 1, 12}).label(1), "[0.0833, 0.167)");
  EXPECT_EQ(axis(LogarithmicScale{1, 1e7, 14}).label(9), "[31623, 1e+05)");
  EXPECT_EQ(axis(EdgeScale{{0, 1.0001, 1.0002, 2}}).label(0), "< 1.0001");
  EXPECT_EQ(axis(EdgeScale{{0, 1024, 4096, 9000}}).label(1), "[1024, 4096)");
}

TEST(Axis, TextTellsAxesApart) {
  EXPECT_EQ(axis(LinearScale{0, 0.1, 10}).to_text(), R"("x" linear 0 0.1 10)");
  EXPECT_EQ(axis(LogarithmicScale{1, 64, 6}).to_text(), R"("x" logarithmic 1 64 6)");
  EXPECT_EQ(axis(EdgeScale{{1, 2.5}}).to_text(), R"("x" edges 1 2.5)");
  EXPECT_EQ(axis(CategoricalScale{{"a b", "c"}}).to_text(), R"("x" categorical "a b" "c")");
}

}  // namespace
}  // namespace kernelsmith
