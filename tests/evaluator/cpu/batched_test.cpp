#include "batched.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/evaluator/statistics.hpp>

#include "remembered.hpp"

namespace kernelsmith {
namespace {

/// Beside a yardstick that takes 40 us in batches.
AbbaRatios pairs_of(const std::vector<double>& batched_us, const std::vector<double>& lone_us,
                    double yardstick_alone_us = 40) {
  AbbaRatios pairs;
  for (const double us : batched_us) {
    pairs.ratios.push_back(40 / us);
    pairs.a_times_us.push_back(us);
    pairs.b_times_us.push_back(40);
    pairs.met.push_back(true);
    pairs.b_met.push_back(true);
  }
  for (const double us : lone_us) {
    pairs.lone.ratios.push_back(yardstick_alone_us / us);
    pairs.lone.a_times_us.push_back(us);
    pairs.lone.b_times_us.push_back(yardstick_alone_us);
    pairs.lone.met.push_back(us > 40);
    pairs.lone.b_met.push_back(false);
  }
  return pairs;
}

/// The same, the calls shown one by one.
AbbaRatios shown_one_by_one(const std::vector<double>& batched_us, const std::vector<double>& shown_us) {
  AbbaRatios pairs = pairs_of(batched_us, shown_us);
  std::swap(pairs.shown, pairs.lone);
  pairs.showing_us.assign(shown_us.size(), 2);
  return pairs;
}

const std::vector<double> kTogether = {11, 12, 11.5, 12.5}, kAlone = {40, 42, 39, 41};

TEST(Batched, WhatIsFasterThanLoneCallsIsLeftOut) {
  AbbaRatios pairs = pairs_of(kTogether, kAlone);
  EXPECT_TRUE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.a_times_us, kAlone);
  EXPECT_EQ(pairs.ratios.size(), 4U);
  EXPECT_EQ(pairs.b_times_us.size(), 4U);
  EXPECT_EQ(pairs.met, (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(pairs.b_met.size(), 4U);
}

TEST(Batched, FewLoneCallsMakeNoScore) {
  AbbaRatios pairs = pairs_of(kTogether, {40, 41, 40});
  EXPECT_FALSE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.a_times_us, kTogether);
}

/// What shown_one_by_one() calls of `us` let expect at the least.
double least_expected(const std::vector<double>& us) {
  std::vector<double> ratios;
  for (const double of_a : us) ratios.push_back(40 / of_a);
  return median_interval(ratios, "x").low;
}

TEST(Batched, WhatALoneCallCostsBesideIsTakenOff) {
  AbbaRatios pairs = pairs_of(kTogether, {47, 49, 46, 48}, 47);
  EXPECT_TRUE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.a_times_us, kAlone);
  EXPECT_DOUBLE_EQ(pairs.ratios[1], 40.0 / 42);
}

TEST(Batched, AYardstickThatIsAlwaysAloneTellsNothingOfWhatThatCosts) {
  const auto beside_a_slow_one = [](std::vector<double> batched_us, double asking_us) {
    AbbaRatios pairs = pairs_of(batched_us, {85, 86, 84, 85});
    const std::vector<double> scattered = {5600, 5530, 5680, 5570};
    for (std::size_t i = 0; i < scattered.size(); ++i) {
      pairs.lone.b_times_us[i] = pairs.b_times_us[i] = scattered[i];
      pairs.ratios[i] = scattered[i] / batched_us[i];
      pairs.lone.ratios[i] = scattered[i] / pairs.lone.a_times_us[i];
    }
    pairs.asking_us.assign(scattered.size(), asking_us);
    pairs.b_is_alone = true;
    EXPECT_TRUE(leave_out_batched(pairs));
    return median_of(pairs.ratios);
  };
  EXPECT_NEAR(beside_a_slow_one({70, 70, 70, 70}, 15), 80, 1);
  EXPECT_NEAR(beside_a_slow_one({35, 35, 35, 35}, 15), 80, 1);
  EXPECT_NEAR(beside_a_slow_one({35, 35, 35, 35}, 0), 66, 1);
}

TEST(Batched, WhatChanceAndALoneCallExplainIsKept) {
  const auto kept = [](const std::vector<double>& batched_us, const std::vector<double>& lone_us,
                       double yardstick_alone_us = 40) {
    AbbaRatios pairs = pairs_of(batched_us, lone_us, yardstick_alone_us);
    EXPECT_TRUE(leave_out_batched(pairs));
    return pairs.a_times_us == batched_us;
  };
  EXPECT_TRUE(kept(kAlone, {}));                          // calls that are long are all alone
  EXPECT_TRUE(kept(kAlone, {43, 44, 45, 43}));            // colder
  EXPECT_TRUE(kept(kAlone, {20, 21, 22, 20}));            // slower in batches: nobody's gain
  EXPECT_TRUE(kept({32, 32, 32, 32}, {44, 60, 40, 31}));  // they scatter
  EXPECT_TRUE(kept({12, 12, 12}, {23, 24, 23, 24}, 51));  // the yardstick alone takes 11 us more, too
  EXPECT_FALSE(kept({12, 12, 12}, {23, 24, 23, 24}));     // it does not
  EXPECT_TRUE(kept({10, 10, 10}, {12, 13, 12, 13}));      // its tables may be cold
  EXPECT_TRUE(kept({1, 1, 1}, {2, 1.9, 2, 1.8}));         // nothing can be told of such times
}

TEST(Batched, CallsOneByOneBoundTheOthers) {
  AbbaRatios pairs = shown_one_by_one(kTogether, kAlone);
  EXPECT_TRUE(leave_out_batched(pairs));
  ASSERT_EQ(pairs.ratios.size(), kTogether.size());
  EXPECT_NEAR(median_of(pairs.ratios), least_expected(kAlone), 1e-3);
  EXPECT_NEAR(pairs.a_times_us[0], 11 * (40 / 11.75) / least_expected(kAlone), 0.1);
  EXPECT_EQ(pairs.b_times_us, std::vector<double>(4, 40));
}

TEST(Batched, WhatCallsOneByOneAllowIsKept) {
  const auto kept = [](const std::vector<double>& batched_us, const std::vector<double>& shown_us) {
    AbbaRatios pairs = shown_one_by_one(batched_us, shown_us);
    EXPECT_TRUE(leave_out_batched(pairs));
    return pairs.a_times_us == batched_us;
  };
  EXPECT_TRUE(kept(kAlone, {39, 41, 40, 42}));
  EXPECT_TRUE(kept({39.8, 39.8, 39.8, 39.8}, {40, 41, 40, 41}));
  EXPECT_FALSE(kept({39, 39, 39, 39}, {40, 41, 40, 41}));
  EXPECT_TRUE(kept({39, 39, 39, 39}, {44, 60, 40, 31}));             // one of them says so, ...
  EXPECT_FALSE(kept({37, 37, 37, 37}, {44, 60, 40, 31}));            // ... and is not believed everything
  EXPECT_TRUE(kept({0.02, 0.02, 0.02}, {0.02, 0.03, 0.03, 0.02}));   // little can be told of such times, ...
  EXPECT_FALSE(kept({0.01, 0.01, 0.01}, {0.02, 0.03, 0.03, 0.02}));  // ... and not that it is half of them
}

TEST(Batched, WhatIsBeyondTheAllowancesIsTakenOffTwiceDownToTheLeastThatIsExpected) {
  const auto scored = [](double ratio, const std::vector<double>& shown_us = {40, 40, 40, 40}) {
    AbbaRatios pairs = shown_one_by_one({40, 40, 40, 40}, shown_us);
    pairs.ratios.assign(4, ratio);
    EXPECT_TRUE(leave_out_batched(pairs));
    return median_of(pairs.ratios);
  };
  const double most = 1.02 * 40 / (40 - 0.03);
  EXPECT_DOUBLE_EQ(scored(1.02), 1.02);
  EXPECT_NEAR(scored(1.025), 2 * most - 1.025, 1e-9);
  EXPECT_NEAR(scored(1.05), 1, 1e-9);
  EXPECT_NEAR(scored(3), 1, 1e-9);
  EXPECT_LT(least_expected(kAlone), 40 / 40.5);
  EXPECT_NEAR(scored(3, kAlone), least_expected(kAlone), 1e-9);
}

TEST(Batched, OneOfFewThatWasHeldUpIsNotBelieved) {
  AbbaRatios pairs = shown_one_by_one(kAlone, {400, 40});
  EXPECT_TRUE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.a_times_us, kAlone);
}

TEST(Batched, FewThatWereAllHeldUpMakeNoScore) {
  for (const std::vector<double>& held_up : {std::vector<double>{2000}, {2000, 900}, {80, 85, 90}}) {
    AbbaRatios pairs = shown_one_by_one(kAlone, held_up);
    EXPECT_FALSE(leave_out_batched(pairs)) << held_up.size();
    EXPECT_EQ(pairs.a_times_us, kAlone);
  }
  AbbaRatios slow = shown_one_by_one({80, 80, 80, 80}, {80, 81});
  EXPECT_TRUE(leave_out_batched(slow)) << "they say what the others say";
}

TEST(Batched, AKernelThatIsSlowerIsGrantedWhatBatchesCostInAnyCase) {
  AbbaRatios pairs = shown_one_by_one({100, 100, 100, 100}, {80, 80, 80, 80});
  pairs.shown.b_times_us.assign(4, 20);  // 20 more in batches
  pairs.shown.ratios.assign(4, 0.25);
  AbbaRatios gaining = pairs;
  gaining.ratios.assign(4, 0.6);
  EXPECT_TRUE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.ratios, std::vector<double>(4, 0.4));
  EXPECT_TRUE(leave_out_batched(gaining));
  EXPECT_NEAR(median_of(gaining.ratios), 0.4, 1e-9);
}

TEST(Batched, WhereBothAreToBeHadEachBounds) {
  AbbaRatios shown_too = pairs_of(kTogether, kAlone), lone_too = shown_one_by_one(kTogether, kAlone);
  shown_too.shown = pairs_of({}, {5, 6, 5, 6}).lone;
  shown_too.showing_us.assign(4, 2);
  EXPECT_TRUE(leave_out_batched(shown_too));
  EXPECT_EQ(shown_too.a_times_us, kAlone);
  lone_too.lone = pairs_of({}, {11, 12, 11, 12}).lone;
  EXPECT_TRUE(leave_out_batched(lone_too));
  EXPECT_NEAR(median_of(lone_too.ratios), least_expected(kAlone), 1e-3);
}

TEST(Batched, LoneCallsThatWereRememberedHideNothing) {
  AbbaRatios pairs = pairs_of(kTogether, {40, 42, 39, 41, 8, 9, 8, 9, 8, 9});
  pairs.met.assign(pairs.met.size(), false);
  for (std::size_t i = 0; i < pairs.lone.met.size(); ++i) pairs.lone.met[i] = i >= kAlone.size();
  AbbaRatios hidden = pairs;
  EXPECT_TRUE(leave_out_batched(hidden));
  EXPECT_EQ(hidden.a_times_us, kTogether);
  EXPECT_TRUE(leave_out_remembered(pairs));
  EXPECT_TRUE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.a_times_us, kAlone);
}

TEST(Batched, BothSidesAreAskedInADuel) {
  AbbaRatios pairs = seen_from_b(pairs_of(kTogether, kAlone));
  pairs = seen_from_b(std::move(pairs));
  EXPECT_TRUE(leave_out_batched(pairs));
  EXPECT_EQ(pairs.a_times_us, kAlone);
}

}  // namespace
}  // namespace kernelsmith
