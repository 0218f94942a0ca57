#include "truth/bank.hpp"

#include <cmath>

#include "references.hpp"

namespace kernelsmith::fake {
namespace {

/// So few sets that every test takes milliseconds; and no test depends on how long they take.
constexpr BankLimits kSmall{.bytes = 1 << 20, .seconds = 600, .least = 4, .most = 8};

template <class Function>
Result<Bank> bank_of(const Task& task, const Function& function, const BankLimits& limits = kSmall,
                     std::size_t threads = 1, const std::stop_token& stop = {}) {
  return truth::make_bank(task, shapes_of(task), oracles_of(task, function), threads, limits, stop);
}

constexpr auto kTwice = [](auto x) { return 2 * x; };

/// 64 elements when timed, 8 when checked.
Task small_task() {
  Task task = rows_task(4, 16);
  task.check = {{{"rows", 2}, {"cols", 4}}};
  return task;
}

std::vector<std::size_t> with_specials(const std::vector<InputSet>& sets) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (sets[i].recipe.specials) places.push_back(i);
  return places;
}

bool any_nan(const InputSet& set) {
  return std::ranges::any_of(values_of<float>(set.inputs[0]), [](float x) { return std::isnan(x); });
}

TEST(Bank, HoldsSetsOfEveryShapeInTheirOrder) {
  const Bank bank = bank_of(small_task(), elementwise(kTwice)).value();
  ASSERT_EQ(bank.size(), 2U);
  EXPECT_EQ(bank[0].size(), 8U);
  EXPECT_EQ(bank[1].size(), 16U);
  for (const InputSet& set : bank[0]) {
    const auto x = values_of<float>(set.inputs[0]), y = values_of<float>(set.outputs[1].values);
    ASSERT_EQ(x.size(), 64U);
    ASSERT_EQ(y.size(), 64U);
    EXPECT_EQ(y[9], 2 * x[9]);
  }
  EXPECT_EQ(bank[1][0].inputs[0].size(), 32U);
}

TEST(Bank, AnOutputThatNoInputMovesIsSeen) {
  const auto is_unmoved = [](const auto& function) {
    return truth::is_unmoved(bank_of(small_task(), elementwise(function)).value()[0], 1);
  };
  EXPECT_FALSE(is_unmoved(kTwice));
  EXPECT_FALSE(is_unmoved([](auto x) { return 1 + x / 100; }));
  EXPECT_TRUE(is_unmoved([](auto x) { return std::min(x - x, x - x); }));
  EXPECT_TRUE(is_unmoved([](auto x) { return (x + 1000) - x; }));  // up to rounding
  EXPECT_FALSE(truth::is_unmoved({}, 1));
}

TEST(Bank, EverySetIsAnother) {
  const Bank bank = bank_of(small_task(), elementwise(kTwice)).value();
  std::set<std::array<std::uint64_t, 2>> keys;
  std::set<std::vector<float>> inputs;
  for (const auto& sets : bank)
    for (const InputSet& set : sets) {
      keys.insert(set.recipe.key);
      inputs.insert(values_of<float>(set.inputs[0]));
    }
  EXPECT_EQ(keys.size(), 24U);
  EXPECT_EQ(inputs.size(), 24U);
}

TEST(Bank, ItsRecipesGiveItsInputsAgain) {
  const Task task = small_task();
  const Bank bank = bank_of(task, elementwise(kTwice)).value();
  for (std::size_t shape = 0; shape < 2; ++shape)
    EXPECT_EQ(draw_inputs(task, shapes_of(task), shape, bank[shape][1].recipe, nullptr).value(),
              bank[shape][1].inputs);
}

TEST(Bank, ConstantsAreTheSameInAllSetsAndSecret) {
  Task task = small_task();
  task.tensors.insert(task.tensors.begin() + 1, tensor("w", TensorRole::in, {"16"}));
  task.tensors[1].constant = true;
  const auto copy = [](auto& call) { call.out(2) = call.in(0); };
  const Bank bank = bank_of(task, copy).value(), other = bank_of(task, copy).value();
  for (const auto& sets : bank)
    for (const InputSet& set : sets) EXPECT_EQ(set.inputs[1], bank[0][0].inputs[1]);
  EXPECT_NE(other[0][0].inputs[1], bank[0][0].inputs[1]) << "of another run";
}

TEST(Bank, OneTimedSetInFourAndEveryOtherCheckSetHasSpecials) {
  Task task = small_task();
  task.tensors[0].specials.nan = true;
  const Bank bank = bank_of(task, elementwise(kTwice)).value();
  EXPECT_EQ(with_specials(bank[0]), (std::vector<std::size_t>{1, 5}));
  EXPECT_EQ(with_specials(bank[1]), (std::vector<std::size_t>{1, 3, 5, 7, 9, 11, 13, 15}));
  for (const auto& sets : bank)
    for (const InputSet& set : sets) EXPECT_EQ(any_nan(set), set.recipe.specials);
}

TEST(Bank, WithoutDeclaredSpecialsThereAreNone) {
  for (const auto& sets : bank_of(small_task(), elementwise(kTwice)).value())
    EXPECT_TRUE(with_specials(sets).empty());
}

// ---- How many sets

/// Inputs, expected values and weights of 64 f32.
constexpr std::size_t kSetBytes = 3 * 64 * 4;

std::size_t timed_sets(const Task& task, const BankLimits& limits) {
  return bank_of(task, elementwise(kTwice), limits).value()[0].size();
}

TEST(BankLimits, BytesLimitTheSetsOfTimedShapes) {
  Task task = small_task();
  EXPECT_EQ(timed_sets(task, {.bytes = 20 * kSetBytes, .seconds = 600, .least = 4, .most = 100}), 20U);
  EXPECT_EQ(timed_sets(task, {.bytes = 20 * kSetBytes - 1, .seconds = 600, .least = 4, .most = 100}), 19U);
  task.timed.push_back(task.timed[0]);
  EXPECT_EQ(timed_sets(task, {.bytes = 20 * kSetBytes, .seconds = 600, .least = 4, .most = 100}), 10U)
      << "two shapes share them";
}

TEST(BankLimits, ExactOutputsHaveNoWeights) {
  Task task = small_task();
  task.tolerance.policy = "exact";
  EXPECT_EQ(timed_sets(task, {.bytes = 20 * kSetBytes, .seconds = 600, .least = 4, .most = 100}), 30U);
}

TEST(BankLimits, TheLeastAreMadeWhateverTheyTake) {
  EXPECT_EQ(timed_sets(small_task(), {.bytes = 0, .seconds = 600, .least = 5, .most = 100}), 5U);
  const Bank late =
      bank_of(small_task(), elementwise(kTwice), {.bytes = 1 << 20, .seconds = -1, .least = 5, .most = 100})
          .value();
  EXPECT_EQ(late[0].size(), 5U);
  EXPECT_EQ(late[1].size(), 2U);
  EXPECT_EQ(timed_sets(small_task(), {.bytes = 1 << 20, .seconds = -1, .least = 1, .most = 100}), 1U);
}

TEST(BankLimits, NoMoreAreMadeThanTheMost) {
  EXPECT_EQ(timed_sets(small_task(), {.bytes = 1 << 30, .seconds = 600, .least = 4, .most = 33}), 33U);
}

TEST(BankLimits, LargeCheckShapesHaveTwoSets) {
  Task task = rows_task(4, 16);
  task.check = {{{"rows", 64}, {"cols", 400}}, {{"rows", 16}, {"cols", 200}}};
  const Bank bank = bank_of(task, elementwise(kTwice)).value();
  EXPECT_EQ(bank[1].size(), 2U);
  EXPECT_EQ(bank[2].size(), (256U << 10) / (3 * 3200 * 4));
}

TEST(BankLimits, TwoThreadsGiveAFullBank) {
  Task task = small_task();
  task.tensors[0].specials.nan = true;
  const BankLimits limits{.bytes = 1 << 20, .seconds = 600, .least = 4, .most = 64};
  const Bank bank = bank_of(task, Softmax{4}, limits, 2).value();
  EXPECT_EQ(bank[0].size(), 64U);
  EXPECT_EQ(bank[1].size(), 16U);
  EXPECT_EQ(with_specials(bank[0]).size(), 16U);
  std::set<std::array<std::uint64_t, 2>> keys;
  for (const auto& sets : bank)
    for (const InputSet& set : sets) {
      keys.insert(set.recipe.key);
      EXPECT_FALSE(set.outputs[1].values.empty());
      EXPECT_FALSE(set.outputs[1].weights.empty());
    }
  EXPECT_EQ(keys.size(), 80U);
}

// ---- What is refused

TEST(BankErrors, AnOutputThatIsNeverFiniteAtATimedShapeIsRefused) {
  const auto bank = bank_of(small_task(), elementwise([](auto x) { return std::log(-1 - x * x); }));
  EXPECT_EQ(bank.error().code, ErrorCode::refused);
  EXPECT_THAT(bank.error().message, HasSubstr("output 'y' is not finite with any inputs at cols=16 rows=4"));
  EXPECT_EQ(bank.error().where, "files: reference");
}

TEST(BankErrors, OneOfTwoOutputsThatIsNeverFiniteIsRefused) {
  Task task = small_task();
  task.tensors.push_back(tensor("z", TensorRole::out, {"rows", "cols"}));
  const auto bank = bank_of(task, [](auto& call) {
    call.out(1) = call.in(0);
    for (auto& z : call.out(2)) z = -std::log(z);
  });
  EXPECT_THAT(bank.error().message, HasSubstr("'z'"));
}

TEST(BankErrors, AnOutputThatOverflowsInTheReferencesOwnPrecisionIsRefused) {
  const auto bank =
      bank_of(small_task(), elementwise([](auto x) {
                using Real = decltype(x);
                return x * static_cast<Real>(1e30) * static_cast<Real>(1e30) / static_cast<Real>(1e30);
              }));
  EXPECT_EQ(bank.error().code, ErrorCode::refused);
}

TEST(BankErrors, WhatIsNeverFiniteAtACheckShapeIsNot) {
  // As the variance of one element is.
  const auto bank = bank_of(small_task(), [](auto& call) {
    for (std::size_t i = 0; i < call.in(0).size(); ++i)
      call.out(1)[i] = call.in(0)[i] / static_cast<float>(call.in(0).size() - 8);
  });
  ASSERT_TRUE(bank) << describe(bank.error());
  EXPECT_EQ((*bank)[1][0].outputs[1].judged, 0U);
}

TEST(BankErrors, WhatIsFiniteInSomeSetsIsNotRefused) {
  Task task = small_task();
  task.tensors[0].specials.nan = true;
  const auto sum = [](auto& call) {
    using Real = typename std::remove_reference_t<decltype(call)>::Real;
    Real all = 0;
    for (const Real x : call.in(0)) all += x;
    for (Real& y : call.out(1)) y = all;
  };
  EXPECT_TRUE(bank_of(task, sum));
}

TEST(BankErrors, ThoseOfTheOraclesComeThrough) {
  const auto failing = [](bool declared) {
    return [declared](auto& call) {
      elementwise(kTwice)(call);
      if (call.declared == declared) call.status = fail(ErrorCode::refused, "the reference crashed");
    };
  };
  for (const bool declared : {false, true})
    for (const std::size_t threads : {1U, 2U}) {
      const auto bank = bank_of(small_task(), failing(declared), kSmall, threads);
      EXPECT_EQ(bank.error().message, "the reference crashed");
    }
}

TEST(BankErrors, ThoseOfMakingOraclesComeThrough) {
  const Task task = small_task();
  for (const int good : {0, 1}) {
    const auto factory = [made = 0, good, oracles = oracles_of(task, elementwise(kTwice))](
                             const std::stop_token& stop) mutable -> Result<Oracles> {
      if (made++ == good) return fail(ErrorCode::tool_missing, "no compiler");
      return oracles(stop);
    };
    const auto bank = truth::make_bank(task, shapes_of(task), factory, 2, kSmall, {});
    EXPECT_EQ(bank.error().code, ErrorCode::tool_missing);
  }
}

TEST(BankErrors, AStopEndsItBetweenTwoSets) {
  Task task = small_task();
  task.tolerance.policy = "exact";  // a set is one answer
  std::stop_source stop;
  int answers = 0;
  const auto stopping = [&](auto& call) {
    elementwise(kTwice)(call);
    if (++answers == 3) stop.request_stop();
  };
  EXPECT_EQ(bank_of(task, stopping, kSmall, 1, stop.get_token()).error().code, ErrorCode::cancelled);
  EXPECT_EQ(answers, 3);
}

TEST(BankErrors, AnEmptyRangeComesThrough) {
  Task task = small_task();
  task.tensors[0] = tensor("x", TensorRole::in, {"rows", "cols"}, Dtype::i32, TensorInit::range);
  task.tensors[0].high = "rows - 2";
  EXPECT_EQ(bank_of(task, [](auto&) {}).error().code, ErrorCode::bad_input);
}

/// Sets all values of the first tensor to a half.
class Halves final : public InputGenerator {
 public:
  Status generate(std::size_t, std::uint64_t, Inputs& inputs) override {
    inputs[0] = bytes_from(std::vector<float>(inputs[0].size() / sizeof(float), 0.5F));
    return {};
  }
};

TEST(Bank, AGeneratorFillsItsTensorsInAllSets) {
  Task task = small_task();
  task.tensors[0].init = TensorInit::generated;
  const auto factory =
      [oracles = oracles_of(task, elementwise(kTwice))](const std::stop_token& stop) -> Result<Oracles> {
    auto made = oracles(stop);
    made->generator = std::make_unique<Halves>();
    return made;
  };
  const Bank bank = truth::make_bank(task, shapes_of(task), factory, 2, kSmall, {}).value();
  for (const auto& sets : bank)
    for (const InputSet& set : sets) EXPECT_EQ(values_of<float>(set.outputs[1].values)[3], 1);
}

}  // namespace
}  // namespace kernelsmith::fake
