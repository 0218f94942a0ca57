// What the live page gets of a run: pure functions of a view, so that their words can be compared one by
// one.
#include "ui_json.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curve.hpp"
#include "run_summary.hpp"
#include "told_view.hpp"

namespace kernelsmith::ui {
namespace {

using namespace kernelsmith::testing;

/// A seed, two better children of it, a rejection, a refusal, and a ticket that nobody has told yet.
ToldSearch told_search() {
  ToldSearch search(ToldSearch::options());
  search.tell_seed(accepted_at(1, 0));
  search.buy("better\n", {.usd = 0.25, .input_tokens = 4000, .output_tokens = 90, .model = "m-1", .calls = 2},
             accepted_at(2, 1));
  search.tell(std::string(kHostile) + "\n", rejected_with(kHostile));
  search.refuse({RefusalCode::no_code, "I would raise them."});
  search.tell("best\n", accepted_at(3, 3));
  search.ask();
  return search;
}

Json parsed(const Result<std::string>& text) { return Json::parse(text.value()); }

/// Compares with tests/service/golden/NAME; KERNELSMITH_WRITE_GOLDEN=1 writes it anew.
void expect_golden(const Json& value, const char* name) {
  const std::string path = std::string(KERNELSMITH_SOURCE_DIR) + "/tests/service/golden/" + name;
  const std::string text = value.dump(1, ' ', true) + "\n";
  if (std::getenv("KERNELSMITH_WRITE_GOLDEN")) std::ofstream(path) << text;
  std::stringstream expected;
  expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, expected.str()) << name;
}

TEST(UiJson, TheSummaryOfARunIsThis) {
  const ToldSearch search = told_search();
  auto view = search.view();
  view.refusals[RefusalCode::no_code] = {1, {3}, std::string("I would raise them. ") + kHostile};
  view.calls_under_way = 1;
  view.given_back = {{ErrorCode::unstable, 2}};
  expect_golden(parsed(run_summary(view)), "run.json");
}

TEST(UiJson, TheDetailsOfAProgramAreThese) {
  const ToldSearch search = told_search();
  const auto view = search.view();
  expect_golden(parsed(program_details(view, {2})), "program.json");
  expect_golden(Json::parse(lineage_details(view)), "lineage.json");
}

TEST(UiJson, AProgramThatThereIsNoneOfIsNotFound) {
  const ToldSearch search = told_search();
  const auto details = program_details(search.view(), {77});
  ASSERT_FALSE(details);
  EXPECT_EQ(details.error().code, ErrorCode::not_found);
}

TEST(UiJson, ForeignTextsAreOneLineOfAscii) {
  const ToldSearch search = told_search();
  const auto view = search.view();
  for (const std::string& text : {run_summary(view).value(), program_details(view, {2}).value()}) {
    EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 0x7f; }));
    EXPECT_THAT(text, ::testing::HasSubstr("\\u202e caf\\ufffd"));
  }
}

TEST(UiJson, ARunWithoutAnythingIsShown) {
  const ToldSearch search(ToldSearch::options());
  const Json summary = parsed(run_summary(search.view()));
  EXPECT_EQ(summary["best"], nullptr);
  EXPECT_EQ(summary["curve"]["evaluated"], 0);
  EXPECT_TRUE(summary["archive"]["shown"].empty());
  EXPECT_TRUE(summary["lineage"]["steps"].empty());
  EXPECT_EQ(Json::parse(lineage_details(search.view()))["steps"], Json::array());
}

TEST(UiJson, TheStateIsToldInTheWordsOfTheReport) {
  const ToldSearch search = told_search();
  auto view = search.view();
  const auto state = [&view] { return parsed(run_summary(view))["state"]; };
  const auto is = [](const char* what, const char* why) { return Json{{"is", what}, {"why", why}}; };
  EXPECT_EQ(state(), is("not at its end", "it can be resumed"));
  view.in_use = true;
  EXPECT_EQ(state(), is("under way", ""));
  view.reason = EndReason::budget;
  EXPECT_EQ(state()["is"], "under way") << "a ticket is open";
  view.reason = EndReason::refused;
  view.in_use = false;
  EXPECT_EQ(state(), is("ended", "the task is not usable: its seed was rejected"));
  view.reason = EndReason::exhausted;
  EXPECT_EQ(state(), is("ended", "nothing new was found to propose"));
}

TEST(UiJson, AUsedUpBudgetIsNamed) {
  auto options = ToldSearch::options();
  options.budgets = {.iterations = 1, .evaluations = {}, .wall_s = {}};
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  search.tell("better\n", accepted_at(2, 1));
  const Json summary = parsed(run_summary(search.view()));
  EXPECT_EQ(summary["state"]["why"], "its budget is used up: iterations");
  EXPECT_EQ(summary["budgets"]["iterations"], (Json{{"used", 1}, {"limit", 1}}));
}

TEST(UiJson, CellsAreTheBestOverTheAxesThatAreNotShown) {
  auto options = ToldSearch::options();
  options.axes = {{"x", LinearScale{0, 4, 1}}, {"y", LinearScale{0, 2, 2}}, {"z", LinearScale{0, 4, 4}}};
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  search.tell("a\n", accepted_at(4, 1));
  search.tell("b\n", accepted_at(2, 3));
  const Json archive = parsed(run_summary(search.view()))["archive"];
  EXPECT_EQ(archive["filled"], 3);
  ASSERT_EQ(archive["shown"].size(), 1U);
  EXPECT_EQ(archive["shown"][0]["at"], Json::array({0, 1}));
  EXPECT_EQ(archive["shown"][0]["fitness"], 4);
}

TEST(UiJson, CellsThatOnlyTheirProgramKnowsAreNotShown) {
  const ToldSearch search = told_search();
  auto view = search.view();
  view.has_cells = false;
  EXPECT_EQ(parsed(run_summary(view))["archive"], nullptr);
}

TEST(UiJson, TheCurveThinsOutAndKeepsItsEnd) {
  auto options = ToldSearch::options();
  options.budgets = {.iterations = 40, .evaluations = {}, .wall_s = {}};
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  for (int i = 1; i <= 30; ++i) search.tell(std::to_string(i), accepted_at(1 + i, 1));
  const auto view = search.view();
  const Curve whole = curve_of(view, 100).value();
  EXPECT_EQ(whole.evaluated, 31U);
  EXPECT_EQ(whole.accepted.size(), 31U);
  ASSERT_EQ(whole.steps.size(), 31U);
  EXPECT_EQ(whole.steps.back().low, 30.75);
  const Curve thin = curve_of(view, 7).value();
  EXPECT_EQ(thin.accepted.size(), 7U);
  ASSERT_EQ(thin.steps.size(), 7U);
  EXPECT_EQ(thin.steps.back().point.program, whole.steps.back().point.program);
}

TEST(UiJson, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(cut_text("caf\xc3\xa9!", 4), (Json{{"text", "caf"}, {"left_out", 3}}));
  EXPECT_EQ(cut_text("caf\xc3\xa9!", 5), (Json{{"text", "caf\xc3\xa9"}, {"left_out", 1}}));
  EXPECT_EQ(cut_text("caf", 3), (Json{{"text", "caf"}, {"left_out", 0}}));
}

TEST(UiJson, NumbersThatAreNoneAreNull) { EXPECT_EQ(one_line(Json(1e308 * 10)), "null"); }

}  // namespace
}  // namespace kernelsmith::ui
