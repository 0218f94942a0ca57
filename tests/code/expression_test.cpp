#include <string>

#include <gtest/gtest.h>

#include <kernelsmith/code/expression.hpp>

namespace kernelsmith {
namespace {

const Sizes kSizes = {{"cols", 7}, {"rows", 100}};

std::int64_t value(std::string_view text) {
  const auto result = evaluate_expression(text, kSizes);
  EXPECT_TRUE(result) << text;
  return result ? *result : -999;
}

std::string message(std::string_view text) {
  const auto result = evaluate_expression(text, kSizes);
  EXPECT_FALSE(result) << text;
  return result ? "" : describe(result.error());
}

TEST(Expression, HasTheUsualPrecedence) {
  EXPECT_EQ(value("2+3*4"), 14);
  EXPECT_EQ(value("(2+3)*4"), 20);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value(" rows / cols % 5 "), 4);
  EXPECT_EQ(value("-cols + 8"), 1);
  EXPECT_EQ(value("--7"), 7);
  EXPECT_EQ(value("8*rows*cols"), 5600);
}

TEST(Expression, NamesTheNearestKnownSize) {
  EXPECT_NE(message("rowz*2").find("unknown size 'rowz'"), std::string::npos);
  EXPECT_NE(message("rowz*2").find("did you mean rows?"), std::string::npos);
}

TEST(Expression, RefusesBrokenSyntax) {
  for (const char* text : {"", "1+", "(1", "1)", "1 2", "*3", "rows cols", "1..2", "rows$", "()"})
    EXPECT_FALSE(evaluate_expression(text, kSizes)) << text;
}

TEST(Expression, RefusesWhatHasNoValue) {
  EXPECT_NE(message("1/0").find("division by zero"), std::string::npos);
  EXPECT_NE(message("1%(rows-100)").find("division by zero"), std::string::npos);
  EXPECT_NE(message("9223372036854775807+1").find("64 bits"), std::string::npos);
  EXPECT_NE(message("99999999999999999999").find("too large"), std::string::npos);
  EXPECT_NE(message("rows*9223372036854775807").find("64 bits"), std::string::npos);
  EXPECT_NE(message("(-9223372036854775807-1)/-1").find("64 bits"), std::string::npos);
  EXPECT_EQ(value("(-9223372036854775807-1)%-1"), 0);
}

TEST(Expression, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  EXPECT_NE(message(std::string(100000, '(')).find("too deeply"), std::string::npos);
  EXPECT_NE(message(std::string(100000, '-')).find("too deeply"), std::string::npos);
}

TEST(Condition, ComparesAndCombines) {
  const auto holds = [](std::string_view text) { return evaluate_condition(text, kSizes).value(); };
  EXPECT_TRUE(holds("rows * cols <= 700"));
  EXPECT_FALSE(holds("rows * cols < 700"));
  EXPECT_TRUE(holds("rows % cols == 2 && cols != 8"));
  EXPECT_TRUE(holds("rows == 1 or (cols > 6 and not rows < 100)"));
  EXPECT_TRUE(holds("!(rows == 1) || cols == 1"));
  EXPECT_TRUE(holds("(rows + 4) >= 2 * (cols - 1)"));
  EXPECT_TRUE(holds("rows"));
  EXPECT_FALSE(holds("rows - 100"));
}

TEST(Condition, LooksAtTheRightSideOnlyIfItDecides) {
  EXPECT_TRUE(evaluate_condition("cols == 7 or rows % 0 == 1", kSizes).value());
  EXPECT_FALSE(evaluate_condition("cols == 8 and rows % 0 == 1", kSizes).value());
  EXPECT_FALSE(evaluate_condition("cols == 8 or rows % 0 == 1", kSizes));
  EXPECT_FALSE(evaluate_condition("cols == 7 or rowz == 1", kSizes));
}

TEST(Condition, RefusesBrokenSyntax) {
  for (const char* text :
       {"", "rows <", "rows = 1", "rows < cols < 3", "rows and", "not", "(rows < 1", "rows &"})
    EXPECT_FALSE(evaluate_condition(text, kSizes)) << text;
  EXPECT_NE(describe(evaluate_condition(std::string(100000, '!'), kSizes).error()).find("too deeply"),
            std::string::npos);
}

TEST(Condition, IsNoExpression) { EXPECT_FALSE(evaluate_expression("rows < 2", kSizes)); }

}  // namespace
}  // namespace kernelsmith
