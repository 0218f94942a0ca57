#include <cstdlib>

#include <kernelsmith/evaluator/wide_literals.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

std::string in_double(const std::string& text) { return with_wide_literals(text, OraclePrecision::f64); }

TEST(WideLiterals, OfFloatBecomeDoublesOfTheSameValue) {
  EXPECT_EQ(in_double("powf(10000.0f, -2.0F * i / 1e1f)"), "powf(0x1.388p+13, -0x1p+1 * i / 0x1.4p+3)");
  EXPECT_EQ(in_double("1.f+.5f-1'000.0f*0x1.8p0f"), "0x1p+0+0x1p-1-0x1.f4p+9*0x1.8p+0");
  const std::string tenth = in_double("0.1f");
  EXPECT_EQ(std::strtod(tenth.c_str(), nullptr), static_cast<double>(0.1F)) << tenth;
  EXPECT_EQ(in_double("#define EPS 0.5f\n"), "#define EPS 0x1p-1\n");
}

TEST(WideLiterals, LeaveAllElseAsItIs) {
  for (const char* text : {"0.1 1e-5 2.5L 1.0_f 0x1f 0xFF 1f0 7 07u 0x1p3", "\"1.0f\" '1' u8\"0.5f\"",
                           "R\"(1.0f)\"", "// 1.0f\n/* 2.0f */ x1.f", "a.f(b->f)", "1e99f", "", "\"1.0f"})
    EXPECT_EQ(in_double(text), text);
  EXPECT_EQ(with_wide_literals("1.0f 0.5", OraclePrecision::declared), "1.0f 0.5");
}

TEST(WideLiterals, OfDoubleBecomeLongDoubles) {
  EXPECT_EQ(with_wide_literals("1.0f 0.5 2.5L 3 0x1p3", OraclePrecision::long_double),
            "0x1p+0L 0x1p-1L 2.5L 3 0x1p+3L");
}

}  // namespace
}  // namespace kernelsmith
