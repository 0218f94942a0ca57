#include <gtest/gtest.h>

#include <kernelsmith/evaluator/tensors.hpp>

namespace kernelsmith {
namespace {

const Sizes kSizes = {{"cols", 7}, {"rows", 100}};

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
