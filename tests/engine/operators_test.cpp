// The operator policy that draws by weight.
#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;
using Entries = std::vector<WeightedOperators::Entry>;

const ArmRecord kNothingTried;

std::string refused(Entries entries) {
  const auto operators = WeightedOperators::create(std::move(entries));
  return operators ? "accepted" : operators.error().where;
}

TEST(WeightedOperators, RefusesWhatCannotBeDrawn) {
  EXPECT_EQ(refused({}), "operators");
  EXPECT_EQ(refused({{{Operator::crossover, ""}, 1}}), "operators");
  EXPECT_EQ(refused({{{Operator::edit, ""}, 0}}), "operators");
  EXPECT_EQ(refused({{{Operator::edit, ""}, -1}}), "edit");
  EXPECT_EQ(refused({{{Operator::repair, ""}, 1}}), "repair");
  EXPECT_EQ(refused({{{Operator::translate, ""}, 1}}), "translate");
}

TEST(WeightedOperators, DrawsByWeight) {
  const auto operators =
      WeightedOperators::create({{{Operator::edit, "small"}, 3}, {{Operator::rewrite, "large"}, 1}}).value();
  const Selection selection{evaluated(score_of(1)), {}, {}, {}};
  int edits = 0;
  for (std::uint64_t ticket = 0; ticket < 1000; ++ticket) {
    Rng rng(1, ticket, Purpose::operators);
    const auto choice = operators.choose({.selection = selection, .arms = kNothingTried}, rng);
    EXPECT_EQ(choice.model, choice.op == Operator::edit ? "small" : "large");
    edits += choice.op == Operator::edit;
  }
  EXPECT_NEAR(edits, 750, 60);
}

TEST(WeightedOperators, CrossoverNeedsASecondParent) {
  const auto operators =
      WeightedOperators::create({{{Operator::crossover, ""}, 1000}, {{Operator::edit, ""}, 1}}).value();
  Selection selection{evaluated(score_of(1)), {}, {}, {}};
  Rng alone(1, 1, Purpose::operators);
  EXPECT_EQ(operators.choose({.selection = selection, .arms = kNothingTried}, alone).op, Operator::edit);
  selection.inspirations.push_back(evaluated(score_of(2)));
  Rng paired(1, 1, Purpose::operators);
  EXPECT_EQ(operators.choose({.selection = selection, .arms = kNothingTried}, paired).op,
            Operator::crossover);
}

TEST(WeightedOperators, WithoutAnAcceptedParentItTranslates) {
  const auto operators = WeightedOperators::create({{{Operator::edit, "m"}, 1}}).value();
  Rng rng(1, 1, Purpose::operators);
  const Selection none, failed{evaluated(rejected()), {}, {}, {}};
  const OperatorChoice translation{Operator::translate, "m"}, repair{Operator::repair, "m"};
  EXPECT_EQ(operators.choose({.selection = none, .arms = kNothingTried}, rng), translation);
  EXPECT_EQ(operators.choose({.selection = failed, .arms = kNothingTried}, rng), translation);
  EXPECT_EQ(operators.choose({.selection = failed, .arms = kNothingTried, .op = Operator::repair}, rng),
            repair);
}

}  // namespace
}  // namespace kernelsmith
