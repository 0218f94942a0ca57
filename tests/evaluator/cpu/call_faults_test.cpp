#include "call_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

using ::testing::HasSubstr;

std::string told(const TensorExtent& extent, std::size_t first_bad) {
  CheckResult result;
  result.fault = Fault::wrong;
  result.bad = 1;
  result.first_bad = first_bad;
  const Failure failure = wrong(result, {}, {}, {}, extent);
  return std::get<Rejection>(failure).diagnostics;
}

TEST(CallFaults, AWrongElementIsNamedByItsIndices) {
  EXPECT_THAT(told({.shape = {256, 1024}, .elements = 262144, .bytes = 0}, 112923),
              HasSubstr("element [110, 283]"));
  EXPECT_THAT(told({.shape = {2, 3, 4}, .elements = 24, .bytes = 0}, 23), HasSubstr("element [1, 2, 3]"));
  EXPECT_THAT(told({.shape = {64}, .elements = 64, .bytes = 0}, 37), HasSubstr("element 37"));
}

}  // namespace
}  // namespace kernelsmith
