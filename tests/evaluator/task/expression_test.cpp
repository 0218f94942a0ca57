#include <limits>

#include <kernelsmith/evaluator/expression.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "testing.hpp"

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

TEST(Tensors, MultiplyTheirDimensions) {
  TensorSpec tensor;
  tensor.name = "x";
  tensor.dtype = Dtype::f64;
  tensor.shape = {"rows", "cols+1", "2"};
  const auto extent = extent_of(tensor, kSizes).value();
  EXPECT_EQ(extent.shape, (std::vector<std::int64_t>{100, 8, 2}));
  EXPECT_EQ(extent.elements, 1600U);
  EXPECT_EQ(extent.bytes, 12800U);
}

TEST(Tensors, RefuseEmptyAndHugeShapes) {
  TensorSpec tensor;
  tensor.name = "x";
  tensor.shape = {"rows-100"};
  EXPECT_FALSE(extent_of(tensor, kSizes));
  tensor.shape = {"rows*1000000", "rows*1000000"};
  EXPECT_FALSE(extent_of(tensor, kSizes));
  tensor.shape = {"4294967296", "4294967296", "4294967296"};
  EXPECT_FALSE(extent_of(tensor, kSizes));
}

}  // namespace
}  // namespace kernelsmith
