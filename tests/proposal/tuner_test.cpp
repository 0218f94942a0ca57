#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/knob_setting.hpp>
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

TEST(Tuner, ProposesOnlyWhatKeepsTheRules) {
  const Source parent =
      cpp(std::string(with_values("8", "x").main_text()) + "// @require a <= 16 and (b != z or a == 8)\n");
  std::set<std::string> points;
  for (std::uint64_t ticket = 1; ticket <= 100; ++ticket)
    points.insert(point_of(child_of(tune(tune_request(ticket, individual(5, parent)))).source));
  EXPECT_THAT(points, testing::ElementsAre("16x", "16y", "8y", "8z"));
  const Proposal first = tune(tune_request(1, individual(5, parent)), {.exhaustive = true});
  EXPECT_EQ(point_of(child_of(first).source), "8y");  // 64 is first in the list
}

TEST(Tuner, IsAFunctionOfTheRequest) {
  const auto request = tune_request(9, individual(5, with_values("8", "x")));
  EXPECT_EQ(tune(request), tune(request));
}

TEST(Tuner, ProposesNoPointThatTheRequestShows) {
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket) {
    auto request = tune_request(ticket, individual(5, with_values("8", "x")));
    auto& selection = request.selection;
    selection.top = {individual(6, with_values("16", "x")), individual(7, with_values("8", "y"))};
    selection.inspirations = {individual(8, with_values("64", "x")), individual(9, with_values("16", "y"))};
    selection.failures = {individual(10, with_values("8", "z"))};
    EXPECT_THAT(point_of(child_of(tune(request)).source), testing::AnyOf("64y", "16z", "64z"));
    selection.kin = {individual(11, with_values("64", "y")), individual(12, with_values("64", "z"))};
    EXPECT_EQ(point_of(child_of(tune(request)).source), "16z");
    selection.kin.push_back(individual(13, with_values("16", "z")));
    ASSERT_TRUE(tune(request).refusal());
    EXPECT_EQ(tune(request).refusal()->code, RefusalCode::exhausted);
  }
}

// Points by index: 64 8 16, and x y z. The parent is 8x.
ProposalRequest with_history(std::uint64_t ticket, KnobHistory history) {
  auto request = tune_request(ticket, individual(5, with_values("8", "x")));
  request.selection.knobs = std::make_shared<const KnobHistory>(std::move(history));
  return request;
}

TEST(Tuner, ProposesNoPointThatTheHistoryKnowsOrThatIsPending) {
  const KnobHistory history{
      {{{1, 0}, 1.0}, {{0, 0}, {}}, {{0, 1}, 1.5}, {{2, 0}, 0.5}, {{2, 1}, 0.7}, {{2, 2}, {}}},
      {{0, 2}, {1, 1}},
      0,
      {}};
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket)
    EXPECT_EQ(point_of(child_of(tune(with_history(ticket, history))).source), "8z");
}

TEST(Tuner, BeginsWhereTheBestOfAnotherStructureStands) {
  const KnobHistory history{{{{1, 0}, 1.0}}, {}, 0, {0, std::nullopt}};
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket)
    EXPECT_EQ(point_of(child_of(tune(with_history(ticket, history))).source), "64x");
  std::set<std::string> points;
  auto second = history;
  second.asked = 1;
  for (std::uint64_t ticket = 1; ticket <= 50; ++ticket)
    points.insert(point_of(child_of(tune(with_history(ticket, second))).source));
  EXPECT_GT(points.size(), 3u) << "somebody else was asked for that point";
}

TEST(Tuner, TriesEveryPointInOrderIfItIsExhaustive) {
  const TunerOptions options{.exhaustive = true};
  KnobHistory history{{{{1, 0}, 1.0}}, {}, 0, {0, 2}};
  std::string order;
  for (std::uint64_t ticket = 1; ticket <= 8; ++ticket) {
    const std::string point = point_of(child_of(tune(with_history(ticket, history), options)).source);
    auto ahead = history;
    for (ahead.asked = 1; ahead.asked + ticket <= 8; ++ahead.asked)
      EXPECT_NE(point_of(child_of(tune(with_history(ticket, ahead), options)).source), point);
    EXPECT_TRUE(tune(with_history(ticket, ahead), options).refusal()) << "all are being tried";
    order += point + " ";
    const auto setting = knob_setting(child_of(tune(with_history(ticket, history), options)).source);
    history.seen.push_back({setting->point, 1.0});
  }
  EXPECT_EQ(order, "64x 64y 64z 8y 8z 16x 16y 16z ");
  EXPECT_EQ(tune(with_history(9, history), options).refusal()->code, RefusalCode::exhausted);
}

// A search of 64 points, best at the eighth of each; fitness falls by `step` for each value away from it.
std::size_t proposals_to_the_best(std::uint64_t seed, double best, double step) {
  const std::string list = " // @tune 1 2 3 4 5 6 7 8\n";
  const Source parent = cpp("int a = 1;" + list + "int b = 1;" + list);
  auto request = tune_request(0, individual(5, parent));
  KnobHistory history;
  history.seen.push_back({{0, 0}, best - 14 * step, 0.01 * step});
  for (request.ticket = {1};; ++request.ticket.value) {
    request.seed = seed;
    request.selection.knobs = std::make_shared<const KnobHistory>(history);
    const KnobPoint point = knob_setting(child_of(tune(request)).source)->point;
    const double fitness = best - step * static_cast<double>(14 - point[0] - point[1]);
    history.seen.push_back({point, fitness, 0.01 * step});
    if (point == KnobPoint{7, 7}) return request.ticket.value;
  }
}

TEST(Tuner, LearnsFromAnyScaleOfFitness) {
  for (const double best : {20.0, 0.0, -1000.0}) {
    std::size_t all = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) all += proposals_to_the_best(seed, best, 1.0);
    EXPECT_LE(all, 200u) << "at random it takes 32 each; best " << best;
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
