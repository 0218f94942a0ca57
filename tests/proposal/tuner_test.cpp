#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "individuals.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

Source with_values(const std::string& a, const std::string& b) {
  return cpp("frozen\n// EVOLVE-BLOCK-START\nint a = " + a + "; // @tune 64 8 16\nauto b = " + b +
             "; // @tune x y z\n// EVOLVE-BLOCK-END\n");
}

const Child& child_of(const Proposal& proposal) {
  if (proposal.refusal()) throw std::runtime_error("refused: " + proposal.refusal()->detail);
  return *proposal.child();
}

std::string point_of(const Source& source) {
  const auto knobs = find_knobs(source).value();
  return knobs[0].value() + knobs[1].value();
}

TEST(Tuner, ProposesOtherPointsOfTheParentOnly) {
  const Source parent = with_values("8", "x");
  std::set<std::string> points;
  for (std::uint64_t ticket = 1; ticket <= 200; ++ticket) {
    const Proposal proposal = tune(tune_request(ticket, individual(5, parent)));
    const Child& child = child_of(proposal);
    EXPECT_EQ(child.origin, Origin::tune);
    EXPECT_EQ(child.parents, std::vector{ProgramId{5}});
    EXPECT_TRUE(check_frozen(parent, child.source));
    points.insert(point_of(child.source));
  }
  EXPECT_EQ(points.size(), 8u);
  EXPECT_FALSE(points.contains("8x"));
}

TEST(Tuner, IsAFunctionOfTheRequest) {
  const auto request = tune_request(9, individual(5, with_values("8", "x")));
  EXPECT_EQ(tune(request), tune(request));
}

TEST(Tuner, StepsAlongTheOrderOfNumbers) {
  const TunerOptions steps{.crossover = 0, .local_step = 1, .mutation = 0};
  std::set<std::string> points;
  for (std::uint64_t ticket = 1; ticket <= 60; ++ticket) {
    points.insert(
        point_of(child_of(tune(tune_request(ticket, individual(5, with_values("8", "x"))), steps)).source));
  }
  EXPECT_EQ(points, (std::set<std::string>{"16x", "8y", "8z"}));
}

TEST(Tuner, CrossesWithOtherIndividuals) {
  const TunerOptions crosses{.crossover = 1, .local_step = 0, .mutation = 0};
  std::set<std::string> points;
  for (std::uint64_t ticket = 1; ticket <= 60; ++ticket) {
    auto request = tune_request(ticket, individual(5, with_values("8", "x")));
    request.selection.top = {individual(6, with_values("64", "z"))};
    const Proposal proposal = tune(request, crosses);
    EXPECT_EQ(child_of(proposal).parents, (std::vector{ProgramId{5}, ProgramId{6}}));
    points.insert(point_of(child_of(proposal).source));
  }
  EXPECT_EQ(points, (std::set<std::string>{"64x", "8z"}));  // 64z is known: it is the mate
}

TEST(Tuner, PrefersPointsThatTheRequestDoesNotShow) {
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket) {
    auto request = tune_request(ticket, individual(5, with_values("8", "x")));
    auto& selection = request.selection;
    selection.top = {individual(6, with_values("16", "x")), individual(7, with_values("8", "y"))};
    selection.inspirations = {individual(8, with_values("64", "x")), individual(9, with_values("16", "y"))};
    selection.failures = {individual(10, with_values("8", "z"))};
    EXPECT_THAT(point_of(child_of(tune(request)).source), testing::AnyOf("64y", "16z", "64z"));
  }
}

TEST(Tuner, RefusesByName) {
  const auto refusal = [](IndividualPtr parent) {
    const Proposal proposal = tune(tune_request(1, std::move(parent)));
    return proposal.refusal() ? *proposal.refusal() : Refusal{RefusalCode::declined, "a child"};
  };
  EXPECT_EQ(refusal(nullptr).code, RefusalCode::no_knobs);
  EXPECT_EQ(refusal(individual(1, cpp("int a = 1;"))).code, RefusalCode::no_knobs);
  EXPECT_EQ(refusal(individual(1, cpp("int a = 1; // @tune 1"))).code, RefusalCode::exhausted);
  const Refusal broken = refusal(individual(1, cpp("int a = 1; // @tune 2")));
  EXPECT_EQ(broken.code, RefusalCode::no_knobs);
  EXPECT_THAT(broken.detail, HasSubstr("kernel.cpp:1"));
}

TEST(Tuner, AnswersAStopRequest) {
  std::stop_source stop;
  stop.request_stop();
  std::optional<Result<Proposal>> got;
  make_tuner()->start(tune_request(1, individual(5, with_values("8", "x"))), stop.get_token(),
                      [&](Result<Proposal> answer) { got = std::move(answer); });
  ASSERT_TRUE(got);
  EXPECT_EQ(got->error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace kernelsmith
