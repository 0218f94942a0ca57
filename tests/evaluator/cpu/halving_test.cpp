#include "halving.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "inputs.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kLine = 64, kFloats = kLine / sizeof(float);

Bytes counted(std::size_t lines) {
  Bytes bytes(lines * kLine);
  for (std::size_t i = 0; i < lines * kFloats; ++i) store(bytes.data(), i, static_cast<float>(i));
  return bytes;
}

/// Lines of `to` that are not as in `from`; each must be a copy of the one beside it.
std::size_t copied_lines(const Bytes& from, const Bytes& to) {
  std::size_t copied = 0;
  for (std::size_t line = 0; line < from.size() / kLine; ++line) {
    const std::byte* const here = to.data() + line * kLine;
    if (std::memcmp(here, from.data() + line * kLine, kLine) == 0) continue;
    EXPECT_EQ(std::memcmp(here, from.data() + (line ^ 1U) * kLine, kLine), 0) << line;
    ++copied;
  }
  return copied;
}

TEST(Halving, MakesOneLineOfEveryPairACopyOfTheOther) {
  const Bytes from = counted(64);
  EXPECT_EQ(copied_lines(from, halved(from, 7)), 32U);
  EXPECT_EQ(halved(from, 7), halved(from, 7));
  EXPECT_NE(halved(from, 7), halved(from, 8));
}

TEST(Halving, LeavesWhatHasNoPairAsItIs) {
  const Bytes line = counted(1);
  EXPECT_EQ(halved(line, 7), line);
  const Bytes odd = counted(3);
  EXPECT_EQ(std::memcmp(halved(odd, 7).data() + 2 * kLine, odd.data() + 2 * kLine, kLine), 0);
}

TEST(Halving, CanTakeAFewOfThePairs) {
  const Bytes from = counted(4096);
  const std::size_t copied = copied_lines(from, halved(from, 7, 4));
  EXPECT_EQ(copied, 512U);
}

TEST(Halving, TakesNoPairTwiceBeforeItsTurnComesAgain) {
  const Bytes from = counted(4);
  for (std::uint64_t choice = 0; choice < 32; ++choice) {
    std::size_t copied = 0;
    for (std::uint64_t turn = 0; turn < 8; ++turn)
      copied += copied_lines(from, halved(from, choice, 8, turn));
    EXPECT_EQ(copied, 2U) << choice;
  }
}

/// Outputs of a weight each, to which a share of the mean of `kTerms` inputs is added.
class Step {
 public:
  explicit Step(std::size_t outputs)
      : outputs_(outputs), weights_(outputs * sizeof(float)), terms_(outputs * kTerms * sizeof(float)) {
    fill(weights_);
    fill(terms_);
  }

  double cost_of_halving(double share, std::uint64_t choice = 7) const {
    std::vector<std::vector<std::byte>> answers = {of(weights_, terms_, share), of(weights_, terms_, share)};
    for (std::uint64_t v = 0; v < kPerturbations / 2; ++v)
      answers.push_back(
          of(halved(weights_, choice, kPairsForOne, v), halved(terms_, choice, kPairsForOne, v), share));
    Answers<double> plain;
    std::vector<const std::byte*> halves;
    for (std::size_t v = 0; v < answers.size(); ++v)
      (v < kFirstPerturbed ? plain.of : halves).push_back(answers[v].data());
    CostOfHalving cost;
    cost.add(plain, halves, Scale::sensitivity, outputs_);
    return cost.cost().over_scale;
  }

  /// What leaving out half of the terms costs where they are all of the output: their deviation, over the
  /// root of their number and their mean.
  static double cost_of_terms() { return std::sqrt(1.0 / 12) / std::sqrt(static_cast<double>(kTerms)); }

 private:
  static constexpr std::size_t kTerms = 1024;

  void fill(Bytes& bytes) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i)
      store(bytes.data(), i, static_cast<float>(0.5 + random_.uniform()));
  }

  std::vector<std::byte> of(const Bytes& weights, const Bytes& terms, double share) const {
    std::vector<std::byte> answer(outputs_ * sizeof(double));
    for (std::size_t j = 0; j < outputs_; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < kTerms; ++i) sum += load<float>(terms.data(), j * kTerms + i);
      const double weight = share < 1 ? static_cast<double>(load<float>(weights.data(), j)) : 0;
      store(answer.data(), j, weight + share * sum / static_cast<double>(kTerms));
    }
    return answer;
  }

  SecretStream random_;
  std::size_t outputs_;
  Bytes weights_, terms_;
};

TEST(CostOfHalving, IsThatOfTheTermsWhereTheyAreAllOfTheOutput) {
  const double expected = Step::cost_of_terms();
  const double found = Step(256).cost_of_halving(1);
  EXPECT_GT(found, 0.6 * expected);
  EXPECT_LT(found, 1.6 * expected);
}

TEST(CostOfHalving, IsThatOfTheirShareWhereAnotherInputCarriesTheOutput) {
  constexpr double kShare = 1e-3;
  const double expected = kShare * Step::cost_of_terms();
  const double found = Step(256).cost_of_halving(kShare);
  EXPECT_GT(found, 0.6 * expected);
  EXPECT_LT(found, 2 * expected);
}

/// Where a few lines hold all carriers, those that are copied in several variants could hide the sum.
TEST(CostOfHalving, DoesNotHangOnWhichOfAFewCarriersAreCopied) {
  constexpr double kShare = 1e-3;
  const Step step(64);
  for (std::uint64_t choice = 0; choice < 500; ++choice)
    ASSERT_LT(step.cost_of_halving(kShare, choice), 3 * kShare * Step::cost_of_terms()) << choice;
}

constexpr double kUnit = 0x1p-24;

TEST(HalfCost, IsHiddenWhereRoundingTheInputsChangesMore) {
  constexpr HalfCost kSteepFactor{.over_scale = 14 * kUnit, .over_magnitude = 0.01};
  EXPECT_TRUE(kSteepFactor.is_hidden(kUnit));
  EXPECT_FALSE(kSteepFactor.is_hidden(0x1p-53));
}

TEST(HalfCost, IsNotHiddenWhereItIsAPartOfTheOutputOrTheSumIsLong) {
  constexpr HalfCost kCancelling{.over_scale = 0.2, .over_magnitude = 1e3};
  constexpr HalfCost kLong{.over_scale = 1000 * kUnit, .over_magnitude = 2000 * kUnit};
  constexpr HalfCost kLongWithJumps{.over_scale = 1700 * kUnit, .over_magnitude = 0.01};
  constexpr HalfCost kNoSum{};
  for (const HalfCost& cost : {kCancelling, kLong, kLongWithJumps, kNoSum})
    EXPECT_FALSE(cost.is_hidden(kUnit));
}

}  // namespace
}  // namespace kernelsmith
