// The limit of a call in words.

#include <kernelsmith/evaluator/bound.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

TEST(Bound, ACallNearACopysSpeedIsBoundByMemory) {
  const auto text = bound_of({.us = 95, .share_of_bandwidth = 0.91, .launches = 1, .occupancy = 0.1});
  EXPECT_THAT(text,
              StartsWith("Device memory bounds the call: the bytes that it must move take 91 % of the time"));
  EXPECT_THAT(text, Not(HasSubstr("multiprocessor")));  // more threads would not help
}

TEST(Bound, ManyShortKernelsAreBoundByTheirLaunches) {
  EXPECT_THAT(bound_of({.us = 9.1, .share_of_bandwidth = 0.2, .launches = 5, .waves = 0.1}),
              "Launches bound the call: 5 kernels in 9.1 us. What usually helps: fusing them.");
}

TEST(Bound, OneShortKernelHasLittleLeft) {
  EXPECT_THAT(bound_of({.us = 2.2, .launches = 1}), HasSubstr("hardly longer than an empty launch (2.2 us)"));
}

TEST(Bound, ACallFarFromACopyNamesWhatStandsOut) {
  const auto text = bound_of({.us = 800,
                              .share_of_bandwidth = 0.1,
                              .launches = 1,
                              .spill_bytes = 64,
                              .occupancy = 0.125,
                              .waves = 0.5});
  EXPECT_THAT(text, StartsWith("Device memory need not bound the call"));
  EXPECT_THAT(text, HasSubstr("64 bytes of each thread in local memory"));
  EXPECT_THAT(text, HasSubstr("No grid fills more than 50 % of the GPU."));
  EXPECT_THAT(text, HasSubstr("allow 12 % of a multiprocessor's threads"));
}

TEST(Bound, WhatIsNotKnownIsNotSaid) {
  EXPECT_THAT(bound_of({}), IsEmpty());
  EXPECT_THAT(bound_of({.us = 100, .launches = 2}), IsEmpty());
  EXPECT_THAT(bound_of({.us = 100, .share_of_bandwidth = 0.6, .launches = 1, .occupancy = 1, .waves = 30}),
              IsEmpty());
}

}  // namespace
}  // namespace kernelsmith
