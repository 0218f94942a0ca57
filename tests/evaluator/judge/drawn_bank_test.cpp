// A host that draws its inputs by itself: the judge deals out seeds, at shapes that the host named.
#include "fake_host.hpp"

namespace kernelsmith::fake {
namespace {

TaskShape shape(const std::string& name, bool timed) {
  TaskShape made;
  made.name = name;
  made.timed = timed;
  made.extents = {{}, {{2, 3}, 6, 24}};
  return made;
}

/// "given" is timed, "scaled" is not. Seeds count up over all banks.
struct DrawnBench : Bench {
  std::size_t banks = 0, timed_sets = 12, other_sets = 2;

  DrawnBench() {
    shapes = {shape("given", true), shape("scaled", false)};
    draw_bank = [this, next = std::uint64_t{1}]() mutable -> Result<Bank> {
      ++banks;
      Bank bank(2);
      bank[0].resize(timed_sets);
      bank[1].resize(other_sets);
      for (auto& of_shape : bank)
        for (InputSet& set : of_shape) set.seed = next++;
      return bank;
    };
  }
  std::vector<std::uint64_t> seeds(const KernelPtr& of, std::size_t at) const {
    std::vector<std::uint64_t> all;
    for (const Event& event : batches(of, at)) all.insert(all.end(), event.seeds.begin(), event.seeds.end());
    return all;
  }
};

TEST(DrawnBank, TheShapesAreTheHosts) {
  DrawnBench bench;
  const auto candidate = kernel(500);
  const Report report = accepted(bench.evaluate(candidate)).report();
  ASSERT_THAT(report.shapes, SizeIs(2));
  EXPECT_EQ(report.shapes[0].shape, "given");
  EXPECT_TRUE(report.shapes[0].speedup);
  EXPECT_EQ(report.shapes[1].shape, "scaled");
  EXPECT_FALSE(report.shapes[1].timed);
  EXPECT_FALSE(report.shapes[1].speedup);
  EXPECT_EQ(report.shapes[1].correct, true);
  EXPECT_DOUBLE_EQ(report.speedup->median, 2);
}

TEST(DrawnBank, SetsAreToldBySeed) {
  DrawnBench bench;
  const auto candidate = kernel(500);
  ASSERT_TRUE(bench.evaluate(candidate));
  EXPECT_THAT(bench.seeds(candidate, 1), ElementsAre(13, 14));
  const auto timed = bench.seeds(candidate, 0);
  EXPECT_EQ(std::set<std::uint64_t>(timed.begin(), timed.end()).size(), timed.size()) << "none comes twice";
}

TEST(DrawnBank, AConfirmationDrawsAnother) {
  DrawnBench bench;
  const auto candidate = kernel(500);
  ASSERT_TRUE(bench.evaluate(Bench::confirmation(candidate)));
  EXPECT_EQ(bench.banks, 2U);
  for (const std::uint64_t seed : bench.seeds(candidate, 0)) EXPECT_GT(seed, 14U);
}

TEST(DrawnBank, TooFewSetsAreAMistakeOfTheBackend) {
  DrawnBench bench;
  bench.timed_sets = 7;
  const Status created = bench.create();
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, ErrorCode::internal);
}

TEST(DrawnBank, AnErrorOfTheBankIsTheAnswer) {
  DrawnBench bench;
  bench.draw_bank = []() -> Result<Bank> { return fail(ErrorCode::tool_failed, "no device"); };
  EXPECT_EQ(bench.create().error().message, "no device");
}

TEST(DrawnBank, AWrongOutputIsToldInTheHostsFigures) {
  DrawnBench bench;
  auto candidate = kernel(500);
  candidate->compare = [](const Call& call) {
    if (call.shape == 0) return Findings{};
    Findings found = finds(Fault::wrong, 4);
    found.wrong->due = Findings::Wrong::Due{1.5, 0.25};
    return found;
  };
  const Rejection rejection = rejection_of(bench.evaluate(candidate));
  EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
  EXPECT_THAT(rejection.diagnostics,
              AllOf(HasSubstr("output 'y' at scaled"),
                    HasSubstr("element [1, 1]: expected 1.5, got 7.5, allowed error 0.25")));
}

TEST(DrawnBank, OutputsThatCannotBeComparedAreTheHostsToTell) {
  DrawnBench bench;
  auto candidate = kernel(500);
  candidate->compare = [](const Call&) {
    Findings found;
    found.rejected = Rejection{Stage::correctness, RejectionCode::wrong_output, "another shape", {}};
    return found;
  };
  EXPECT_EQ(rejection_of(bench.evaluate(candidate)).diagnostics, "at scaled: another shape");
}

}  // namespace
}  // namespace kernelsmith::fake
