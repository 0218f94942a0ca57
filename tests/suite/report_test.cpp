#include <nlohmann/json.hpp>

#include <kernelsmith/suite/report.hpp>

#include "golden.hpp"

namespace kernelsmith {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SuiteReport golden() { return {"suite", {{"rounds", "4"}}, 6, testing::golden_results()}; }

std::string line(const std::string& text, const std::string& start) {
  for (std::size_t from = 0; from < text.size(); from = text.find('\n', from) + 1)
    if (text.compare(from, start.size(), start) == 0) return text.substr(from, text.find('\n', from) - from);
  return "(no line begins with " + start + ")";
}

TEST(SuiteReport, InJsonHasMetricsAndResults) {
  const auto json = nlohmann::json::parse(to_json(golden()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["kind"], "suite");
  EXPECT_EQ(json["settings"]["rounds"], "4");
  ASSERT_EQ(json["levels"].size(), 3u);
  EXPECT_EQ(json["levels"][0]["level"], 1);
  EXPECT_EQ(json["levels"][0]["fast_1.2"], 0.25);
  EXPECT_EQ(json["levels"][2]["level"], "all");
  EXPECT_EQ(json["levels"][1]["amsr"], 4.6);
  ASSERT_EQ(json["results"].size(), 6u);
  EXPECT_EQ(json["results"][0]["speedup"]["median"], 2.0);
  EXPECT_EQ(json["results"][2]["speedup"], nullptr);
  EXPECT_EQ(json["results"][3]["error"]["code"], "bad_input");
}

TEST(SuiteReport, IsReadBackWithoutTheResultsThatAreToBeTriedAgain) {
  SuiteReport expected = golden();
  const auto read = suite_report_from_json(to_json(expected), "suite.json").value();
  std::erase_if(expected.results, [](const TaskResult& result) { return result.error.has_value(); });
  EXPECT_EQ(read.kind, expected.kind);
  EXPECT_EQ(read.settings, expected.settings);
  EXPECT_EQ(read.tasks, expected.tasks);
  EXPECT_EQ(read.results, expected.results);
}

SuiteReport scored() {
  const auto accepted = [](double claimed, double speedup, bool own) {
    CandidateResult one{"a.py", "them", claimed, "accepted", Measurement{speedup, speedup, speedup, 9, "x"},
                        own,    false,  true,    {}};
    return one;
  };
  const auto without = [](const char* name, const char* verdict) {
    return CandidateResult{name, "them", 9, verdict, {}, {}, {}, {}, {}};
  };
  TaskResult result;
  result.name = "level1/1_a.py";
  result.of_candidates = {accepted(4, 2, true), accepted(1, 0.5, false), without("b.py", "plan: plan_failed"),
                          without("c.py", "correctness: wrong_output"), accepted(0, 3, true)};
  result.of_candidates.back().name = "d.py";
  result.of_candidates.back().by = "";
  result.of_candidates.back().algebraic = false;
  return {"score", {}, 1, {result}};
}

TEST(SuiteReport, TimesHaveARowForEachScoredTask) {
  SuiteReport report = scored();
  EXPECT_EQ(times_csv(report), "") << "nothing was timed";
  TaskResult& result = report.results[0];
  result.wall_s = 3;
  result.spent_s = {{"plan", 1}, {"other", 2}};
  result.memory = "7.2 GiB";
  result.failure = "correctness: wrong_output";
  result.reason = "off, by one";
  result.speedup = Measurement::exact(0.99876, "x");
  EXPECT_EQ(times_csv(report),
            "level,task,speedup,memory,seconds,other,plan,why\n"
            "0,level1/1_a.py,0.9988,7.2 GiB,3.00,2.00,1.00,\"correctness: wrong_output: off, by one\"\n");
  EXPECT_THAT(to_markdown(report),
              HasSubstr("| step | s | share |\n|---|---|---|\n| other | 2.0 | 0.667 |\n"));
  EXPECT_EQ(suite_report_from_json(to_json(report), "score.json").value().results, report.results);
}

TEST(SuiteReport, CandidatesAreReadBackWithTheirClaims) {
  const auto read = suite_report_from_json(to_json(scored()), "score.json").value();
  EXPECT_EQ(read.results, scored().results);
  const std::string csv = candidates_csv(scored());
  EXPECT_EQ(line(csv, "level1/1_a.py,a"), "level1/1_a.py,a.py,them,4,accepted,2,2,2,true,false,true,");
  EXPECT_EQ(line(csv, "level1/1_a.py,b"), "level1/1_a.py,b.py,them,9,plan: plan_failed,,,,,,,");
  EXPECT_EQ(line(csv, "level1/1_a.py,d"), "level1/1_a.py,d.py,,,accepted,3,3,3,true,false,false,");
  EXPECT_EQ(candidates_csv(golden()), "");
}

TEST(SuiteReport, WhatWasNotEvaluatedHasARowThatSaysWhy) {
  SuiteReport report = scored();
  CandidateResult& one = report.results[0].of_candidates[2];
  one.verdict = "not evaluated: unsupported";
  one.error = fail(ErrorCode::unsupported, "no GPU");
  EXPECT_EQ(line(candidates_csv(report), "level1/1_a.py,b"),
            "level1/1_a.py,b.py,them,9,not evaluated: unsupported,,,,,,,no GPU (unsupported)");
  const auto json = nlohmann::json::parse(to_json(report))["results"][0]["of_candidates"];
  EXPECT_EQ(json[2]["error"]["message"], "no GPU");
  EXPECT_EQ(json[2]["own_kernels"], nullptr);
  EXPECT_EQ(json[1]["error"], nullptr);
  EXPECT_EQ(line(to_markdown(report), "| them"), "| them | 4 | 3 | 2 | 1 | 2.00 | 1.00 | 1 | - | 2 |");
}

TEST(SuiteReport, ClaimsStandBesideWhatWasMeasured) {
  EXPECT_EQ(line(to_markdown(scored()), "| them"), "| them | 4 | 3 | 2 | 1 | 2.00 | 1.00 | 1 | - | 2 |");
  EXPECT_THAT(to_markdown(golden()), Not(HasSubstr("Published")));
}

TEST(SuiteReport, OfSomethingElseIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"version": 1, "kind": "suite"})"}) {
    const auto read = suite_report_from_json(text, "suite.json");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::bad_input);
    EXPECT_EQ(read.error().where, "suite.json");
  }
  const auto later = suite_report_from_json(R"({"version": 2})", "suite.json");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::version);
}

TEST(SuiteReport, InCsvHasEveryFigureInFull) {
  const std::string levels = levels_csv(golden());
  EXPECT_THAT(
      levels,
      StartsWith(
          "level,tasks,errors,corr,fast_0,fast_1,fast_1.2,fast_1.5,fast_2,amsr,geomean,median,"
          "hack_rate,trivial_rate,calls,tokens_in,tokens_out,usd,unpriced_calls,amsr_by_round,shortcuts\n"));
  EXPECT_EQ(line(levels, "1,"),
            "1,4,1,0.5,0.5,0.25,0.25,0.25,0,0.5,1,1.25,0.3,0.5,5,3100,310,0.75,1,0 0.375 0.5 0.5,with");
  const std::string tasks = tasks_csv(golden());
  EXPECT_EQ(line(tasks, "level1/a"),
            "level1/a,1,true,2,1.5,2.5,4,1,false,3,3000,300,0.25,0,0 1.5 2,,,false,false,3");
  EXPECT_EQ(line(tasks, "level1/c"),
            "level1/c,1,false,,,,2,2,false,0,0,0,0,0,0 0 0 0,integrity: background_work,,false,false,4");
  EXPECT_EQ(line(tasks, "level1/d"),
            "level1/d|e,1,false,,,,0,0,false,0,0,0,0,0,,,\"task.yaml:3: no \"\"entry\"\", none "
            "(bad_input)\",false,false,0");
}

TEST(SuiteReport, InMarkdownKeepsNamesInTheirCells) {
  const std::string text = to_markdown(golden());
  EXPECT_THAT(text, HasSubstr("| level | tasks | errors | corr | fast_0 |"));
  EXPECT_THAT(text, HasSubstr("| level1/d\\|e | 1 | no | - |"));
  EXPECT_THAT(text, HasSubstr("| level1/a | 1 | yes | 2.00 [1.50, 2.50] |"));
  EXPECT_THAT(text, HasSubstr("| AMSR after | 1 | 2 | 4 |"));
  EXPECT_THAT(text, Not(HasSubstr("tasks are done")));
}

TEST(SuiteReport, OnATerminalHasAlignedColumns) {
  const std::string text = to_table(golden());
  EXPECT_EQ(line(text, "task "),
            "task        level  correct             speedup  candidates  evaluations  hacks  calls  tokens_in"
            "  tokens_out       usd  note");
  EXPECT_EQ(line(text, "level1/b"),
            "level1/b        1      yes   0.50 [0.38, 0.62]           4            2      -      2        100"
            "          10  > 0.5000  trivial");
  EXPECT_THAT(line(text, "all "), HasSubstr("0.667"));
}

TEST(SuiteReport, IsOfAllTasksAndOfThoseWithoutShortcuts) {
  SuiteReport report = golden();
  report.results[0].degenerate = true;
  report.results[5].algebraic = true;
  const std::string text = to_table(report);
  EXPECT_THAT(line(text, "level2/f"), HasSubstr("algebraic"));
  EXPECT_THAT(line(text, "level1/a"), HasSubstr("degenerate"));
  EXPECT_THAT(line(text, "all "), HasSubstr("6 "));
  EXPECT_THAT(text, HasSubstr("\n2, no shortcuts        1 "));
  EXPECT_THAT(text, HasSubstr("\nall, no shortcuts      4 "));
  EXPECT_THAT(levels_csv(report), HasSubstr("\n2,1,0,1,1,1,0,0,0,1.2,1.2"));
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["levels"].size(), 3u);
  EXPECT_EQ(json["levels_without_shortcuts"][1]["geomean"], 1.2);
  EXPECT_EQ(json["levels_without_shortcuts"][2]["tasks"], 4);
  EXPECT_EQ(json["results"][0]["degenerate"], true);
  EXPECT_TRUE(suite_report_from_json(to_json(report), "suite.json")->results.at(4).algebraic);
  EXPECT_THAT(to_table(golden()), Not(HasSubstr("no shortcuts")));
}

TEST(SuiteReport, LeavesOutWhatThereIsNothingOf) {
  SuiteReport report{"score", {}, 3, {testing::solved("a", 0, 1.5, {1.5})}};
  const std::string text = to_table(report);
  for (const char* absent : {"calls", "usd", "errors", "note"}) EXPECT_THAT(text, Not(HasSubstr(absent)));
  EXPECT_THAT(text, HasSubstr("1 of 3 tasks are done"));
}

}  // namespace
}  // namespace kernelsmith
