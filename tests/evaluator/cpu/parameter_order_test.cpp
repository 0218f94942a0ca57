#include "parameter_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench.hpp"

namespace kernelsmith {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Status checked(const std::string& text) {
  return check_parameter_order(task_with({}), Source::create({{"reference.cpp", text}}).value(), "reference");
}

TEST(ParameterOrder, RefusesSizesInTheOrderOfTheShape) {
  const auto status = checked(
      "// scaled(x, y)\n"
      "extern \"C\" void scaled(const float* __restrict x, float y[], std::int64_t rows, std::int64_t cols) "
      "{}");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::refused);
  EXPECT_THAT(describe(status.error()), AllOf(HasSubstr("reference.cpp:2"), HasSubstr("(x, y, rows, cols)"),
                                              HasSubstr("(x, y, cols, rows)"), HasSubstr("alphabetical")));
}

TEST(ParameterOrder, AcceptsWhatIsPassedAndWhateverElseTheyAreCalled) {
  for (const char* text :
       {"void scaled(const float* x, float* y, std::int64_t cols, std::int64_t rows) { scaled(y, x, rows, "
        "n); }",
        "void scaled(const float* in, float* out, std::int64_t n, std::int64_t m) {}",
        "void scaled(const float*, float*, std::int64_t, std::int64_t);",
        "void scaled_rows(const float* x, float* y, std::int64_t rows, std::int64_t cols) {}",
        "void scaled(const float* x, float* y", "void scaled(", ""})
    EXPECT_TRUE(checked(text)) << text;
}

}  // namespace
}  // namespace kernelsmith
