// The documents of a run: pure functions of a view, so that their words can be compared one by one.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/run_json.hpp>

#include "json/curve.hpp"
#include "json/values.hpp"
#include "told_view.hpp"

namespace kernelsmith::view_json {
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

/// What fits into a line stands on one.
std::string readable(const Json& value, const std::string& indent = "") {
  const std::string line = value.dump(-1, ' ', true);
  if (!value.is_structured() || indent.size() + line.size() < 110) return line;
  std::string text;
  for (const auto& [key, one] : value.items())
    text += (text.empty() ? "\n " : ",\n ") + indent + (value.is_object() ? Json(key).dump() + ": " : "") +
            readable(one, indent + " ");
  return (value.is_object() ? "{" : "[") + text + "\n" + indent + (value.is_object() ? "}" : "]");
}

/// Compares with tests/session/golden/NAME; KERNELSMITH_WRITE_GOLDEN=1 writes it anew.
void expect_golden(const Json& value, const char* name) {
  const std::string path = std::string(KERNELSMITH_SOURCE_DIR) + "/tests/session/golden/" + name;
  const std::string text = readable(value) + "\n";
  if (std::getenv("KERNELSMITH_WRITE_GOLDEN")) std::ofstream(path) << text;
  std::stringstream expected;
  expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, expected.str()) << name;
}

TEST(RunJson, ThePagesDocumentIsThis) {
  const ToldSearch search = told_search();
  auto view = search.view();
  view.refusals[RefusalCode::no_code] = {1, {3}, std::string("I would raise them. ") + kHostile};
  view.calls_under_way = 1;
  view.given_back = {{ErrorCode::unstable, 2}};
  expect_golden(parsed(page_json(view)), "page.json");
}

TEST(RunJson, AProgramsDocumentIsThis) {
  const ToldSearch search = told_search();
  const auto view = search.view();
  expect_golden(parsed(program_json(view, {2})), "program.json");
}

TEST(RunJson, AProgramThatThereIsNoneOfIsNotFound) {
  const ToldSearch search = told_search();
  const auto details = program_json(search.view(), {77});
  ASSERT_FALSE(details);
  EXPECT_EQ(details.error().code, ErrorCode::not_found);
}

TEST(RunJson, ForeignTextsAreOneLineOfAscii) {
  const ToldSearch search = told_search();
  const auto view = search.view();
  for (const std::string& text : {run_json(view), page_json(view).value(), program_json(view, {2}).value()}) {
    EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 0x7f; }));
    EXPECT_THAT(text, ::testing::HasSubstr("\\u202e caf\\ufffd"));
  }
}

TEST(RunJson, ARunWithoutAnythingIsShown) {
  const ToldSearch search(ToldSearch::options());
  const Json summary = parsed(page_json(search.view()));
  EXPECT_EQ(summary["best"], nullptr);
  EXPECT_EQ(summary["curve"]["evaluated"], 0);
  EXPECT_TRUE(summary["archive"]["elites"].empty());
  EXPECT_TRUE(summary["lineage"].empty());
}

/// What `show --json` prints has no limits, and the page draws the same values.
TEST(RunJson, ThePageHasTheKeysOfTheWholeDocument) {
  const ToldSearch search = told_search();
  const auto view = search.view();
  const Json whole = Json::parse(run_json(view)), page = parsed(page_json(view));
  for (const auto& [key, value] : whole.items())
    if (key != "folder" && key != "best" && key != "archive" && key != "goes_on") {
      EXPECT_EQ(page.value(key, Json("absent")), value) << key;
    }
  EXPECT_EQ(page["best"]["evaluation"], whole["best"]["evaluation"]);
  EXPECT_EQ(page.dump().find("runs/told.run"), std::string::npos) << "this machine's paths";
}

TEST(RunJson, APagesTextsAndLineagesHaveLimits) {
  ToldSearch search(ToldSearch::options());
  search.tell_seed(accepted_at(1, 0));
  search.tell("bad\n", rejected_with(std::string(20'000, 'x')));
  search.tell("better\n", accepted_at(2, 1));
  auto view = search.view();
  view.lineage_of_best.resize(50, {view.lineage_of_best.back().individual, std::string(30'000, 'd')});
  const Json whole = Json::parse(run_json(view)), page = parsed(page_json(view));
  EXPECT_EQ(whole["failures"][0]["latest"]["diagnostics"].get<std::string>().size(), 20'000U);
  EXPECT_THAT(page["failures"][0]["latest"]["diagnostics"].get<std::string>(),
              ::testing::HasSubstr("… 4000 more bytes"));
  EXPECT_EQ(whole["lineage"].size(), 50U);
  ASSERT_EQ(page["lineage"].size(), 40U);
  EXPECT_EQ(page["lineage"][0]["step"], 10);
  EXPECT_EQ(page["lineage"][12]["diff"], whole["lineage"][22]["diff"]);
  EXPECT_THAT(page["lineage"][13]["diff"].get<std::string>(), ::testing::EndsWith("d\n… 20000 more bytes"));
  EXPECT_EQ(page["lineage"][14]["diff"], "\n… 30000 more bytes");
}

TEST(RunJson, AUsedUpBudgetIsNamed) {
  auto options = ToldSearch::options();
  options.budgets = {.iterations = 1, .evaluations = {}, .wall_s = {}};
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  search.tell("better\n", accepted_at(2, 1));
  const Json summary = parsed(page_json(search.view()));
  EXPECT_EQ(summary["ended"], "budget");
  EXPECT_EQ(summary["used_up"], "iterations");
  EXPECT_EQ(summary["budgets"]["iterations"], (Json{{"used", 1}, {"limit", 1}}));
}

/// The number of the program that was measured again is what that measurement says, wherever it stands.
TEST(RunJson, AProgramHasOneNumber) {
  auto options = ToldSearch::options();
  options.budgets.iterations = 2;
  options.confirm = true;
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  search.tell("better\n", accepted_at(2, 1));
  search.tell("best\n", accepted_at(5, 3));
  EXPECT_EQ(parsed(program_json(search.view(), {2}))["evaluation"]["fitness"], 5);
  search.tell_seed(accepted_at(4, 3));  // the best, measured again
  const auto view = search.view();
  const Json page = parsed(page_json(view)), program = parsed(program_json(view, {2}));
  ASSERT_EQ(page["best"]["program"], 2);
  EXPECT_EQ(page["best"]["confirmed"], true);
  const Json expected = page["best"]["evaluation"]["measurement"];
  EXPECT_EQ(expected["median"], 4);
  EXPECT_EQ(program["evaluation"]["measurement"], expected);
  EXPECT_EQ(program["evaluation"]["speedup"], expected);
  EXPECT_EQ(page["lineage"].back()["measurement"], expected);
  const auto has_number = [&](const Json& elite) { return elite["program"] == 2 && elite["fitness"] == 4; };
  EXPECT_TRUE(std::ranges::any_of(page["archive"]["elites"], has_number)) << page["archive"];
  const auto is_best = [&](const Json& island) {
    return island["program"] == 2 && island["best"] == expected;
  };
  EXPECT_TRUE(std::ranges::any_of(page["islands"]["shown"], is_best)) << page["islands"];
  EXPECT_EQ(view.individual({1}).value()->evaluation.metrics()->fitness().median, 2);
}

TEST(RunJson, CellsAreTheBestOverTheAxesThatAreNotShown) {
  auto options = ToldSearch::options();
  options.axes = {{"x", LinearScale{0, 4, 1}}, {"y", LinearScale{0, 2, 2}}, {"z", LinearScale{0, 4, 4}}};
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  search.tell("a\n", accepted_at(4, 1));
  search.tell("b\n", accepted_at(2, 3));
  const Json archive = parsed(page_json(search.view()))["archive"];
  EXPECT_EQ(archive["filled"], 3);
  ASSERT_EQ(archive["elites"].size(), 1U);
  EXPECT_EQ(archive["elites"][0]["at"], Json::array({0, 1, 1}));
  EXPECT_EQ(archive["elites"][0]["fitness"], 4);
  EXPECT_EQ(Json::parse(run_json(search.view()))["archive"]["elites"].size(), 3U);
}

TEST(RunJson, SeveralObjectivesHaveAFrontToChooseFrom) {
  EngineOptions options = ToldSearch::options();
  options.objectives = Objectives::create({{"fitness"}, {"x", true}}, ObjectiveRule::pareto).value();
  ToldSearch search(options);
  search.tell_seed(accepted_at(1, 0));
  search.tell("larger\n", accepted_at(3, 3));
  search.tell("no better\n", accepted_at(0.5, 3));
  const auto view = search.view();
  const Json archive = parsed(page_json(view))["archive"];
  EXPECT_EQ(archive["objectives"],
            Json::parse(R"({"rule": "pareto", "list": [{"feature": "fitness", "better": "more"},
                                                   {"feature": "x", "better": "less"}]})"));
  EXPECT_EQ(archive["front"],
            Json::parse(R"([{"program": 0, "origin": "seed", "values": {"fitness": 1.0, "x": 0.0}},
                            {"program": 1, "origin": "user", "values": {"fitness": 3.0, "x": 3.0}}])"));
  EXPECT_EQ(parsed(run_json(view))["archive"]["front"], archive["front"]);
}

TEST(RunJson, CellsThatOnlyTheirProgramKnowsAreNotShown) {
  const ToldSearch search = told_search();
  auto view = search.view();
  view.has_cells = false;
  EXPECT_EQ(parsed(page_json(view))["archive"], nullptr);
}

TEST(RunJson, TheCurveThinsOutAndKeepsItsEnd) {
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

TEST(RunJson, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(cut("caf\xc3\xa9!", 4), "caf\n… 3 more bytes");
  EXPECT_EQ(cut("caf\xc3\xa9!", 5), "caf\xc3\xa9\n… 1 more bytes");
  EXPECT_EQ(cut("caf", 3), "caf");
}

TEST(RunJson, NumbersThatAreNoneAreNull) { EXPECT_EQ(one_line(Json(1e308 * 10)), "null"); }

}  // namespace
}  // namespace kernelsmith::view_json
