#include "call_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string told(const TensorExtent& extent, const CheckResult& result, const Expected& expected = {}) {
  return std::get<Rejection>(wrong(result, expected, {}, {}, extent)).diagnostics;
}

CheckResult found(Fault fault, Tally wrong, Tally not_finite, Tally not_written) {
  CheckResult result;
  result.fault = fault;
  result.faults = {wrong, not_finite, not_written};
  return result;
}

std::string told(const TensorExtent& extent, std::size_t first_wrong) {
  return told(extent, found(Fault::wrong, {1, first_wrong}, {}, {}));
}

const TensorExtent kMany{.shape = {5000}, .elements = 5000, .bytes = 20000};

TEST(CallFaults, AWrongElementIsNamedByItsIndices) {
  EXPECT_THAT(told({.shape = {256, 1024}, .elements = 262144, .bytes = 0}, 112923),
              HasSubstr("element [110, 283]"));
  EXPECT_THAT(told({.shape = {2, 3, 4}, .elements = 24, .bytes = 0}, 23), HasSubstr("element [1, 2, 3]"));
  EXPECT_THAT(told({.shape = {64}, .elements = 64, .bytes = 0}, 37), HasSubstr("element 37"));
}

TEST(CallFaults, TellsHowManyElementsHaveWhichFault) {
  EXPECT_THAT(told(kMany, found(Fault::not_written, {4990, 0}, {9, 30}, {1, 7})),
              HasSubstr("1 of 5000 elements is not written: element 7; 4999 others are wrong"));
  EXPECT_THAT(told(kMany, found(Fault::not_written, {}, {}, {2, 7})),
              ::testing::EndsWith("2 of 5000 elements are not written, such as element 7"));
  EXPECT_THAT(told(kMany, found(Fault::not_finite, {1, 0}, {9, 30}, {})),
              HasSubstr("9 of 5000 elements are so, such as element 30; 1 other is wrong"));
}

TEST(CallFaults, WhatIsComparedBitForBitNamesTheReason) {
  const CheckResult result = found(Fault::wrong, {3, 1}, {}, {});
  Expected expected;
  expected.exact = true;
  EXPECT_THAT(told(kMany, result, expected), AllOf(HasSubstr("3 of 5000 elements are not the same bits"),
                                                   HasSubstr("policy: exact"), Not(HasSubstr("budget"))));
  expected.dtype = Dtype::i32;
  EXPECT_THAT(told(kMany, result, expected),
              AllOf(HasSubstr("not the same bits"), HasSubstr("integers"), Not(HasSubstr("policy"))));
}

}  // namespace
}  // namespace kernelsmith
