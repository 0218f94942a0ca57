// An evaluation service's summary: what it tells, and the rates that follow from two looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service_summary.hpp"

namespace kernelsmith::ui {
namespace {

/// `finished` requests of `seconds` each, at a time.
ServiceAnswers answers_at(double at_s, double finished, double seconds) {
  ServiceAnswers answers;
  answers.health = Json::parse(R"({"status": "healthy", "version": "0.1.0", "uptime": 12.5, "active_tasks": 1,
      "queue_status": {"pending": 3, "max_queue": 4096, "by_priority": {"high": 1, "normal": 2, "low": 0}}})");
  answers.workers = Json::parse(
      R"({"total": 2, "workers": [{"worker_id": "slot-1", "status": "busy", "current_task": "<b>", "seconds": 2}]})");
  answers.metrics = {{"kernelsmith_requests_finished_total{state=\"completed\"}", finished},
                     {"kernelsmith_requests_finished_total{state=\"timeout\"}", 1},
                     {"kernelsmith_evaluation_seconds_sum", finished * seconds},
                     {"kernelsmith_evaluation_seconds_count", finished}};
  answers.at_s = at_s;
  return answers;
}

TEST(ServiceSummary, ItTellsWhatTheServiceTells) {
  ServiceHistory history;
  history.add(answers_at(0, 10, 0.5));
  const Json summary = history.summary("127.0.0.1:8000");
  EXPECT_EQ(summary["state"], "healthy");
  EXPECT_EQ(summary["queue"]["pending"], 3);
  EXPECT_EQ(summary["queue"]["limit"], 4096);
  EXPECT_EQ(summary["under_way"], 1);
  EXPECT_EQ(summary["workers"]["count"], 2);
  EXPECT_EQ(summary["workers"]["shown"][0]["task"], "<b>");
  EXPECT_EQ(summary["finished"], (Json{{"completed", 10.0}, {"timeout", 1.0}}));
  EXPECT_EQ(summary["evaluation_s"], 0.5);
  EXPECT_EQ(summary["finished_a_minute"], nullptr) << "of one look there is no rate";
  EXPECT_EQ(summary["waiting_s"], nullptr);
  EXPECT_EQ(summary["submitted"], nullptr);
}

TEST(ServiceSummary, RatesAreThoseOfTheLastMinute) {
  ServiceHistory history;
  history.add(answers_at(0, 0, 1));
  history.add(answers_at(100, 1000, 1));
  history.add(answers_at(130, 1010, 1));
  history.add(answers_at(160, 1030, 1));
  EXPECT_EQ(history.summary("a")["finished_a_minute"], 30);
  EXPECT_EQ(history.summary("a")["submitted_a_minute"], nullptr) << "it is not known";
}

TEST(ServiceSummary, AServiceThatBeganAnewHasNoRateOfItsPast) {
  ServiceHistory history;
  history.add(answers_at(0, 50, 1));
  history.add(answers_at(10, 2, 1));
  EXPECT_EQ(history.summary("a")["finished_a_minute"], nullptr);
}

TEST(ServiceSummary, AnswersOfAnotherFormAreNotTold) {
  ServiceHistory history;
  history.add({Json::parse(R"({"queue_status": 7})"), Json::parse(R"({"workers": {"a": 1}})"), {}, 0});
  const Json summary = history.summary("a");
  EXPECT_EQ(summary["state"], nullptr);
  EXPECT_EQ(summary["queue"]["pending"], nullptr);
  EXPECT_EQ(summary["workers"]["shown"], Json::array());
}

TEST(ServiceSummary, MetricsAreReadLineByLine) {
  const MetricValues values =
      read_metrics("# HELP a An a.\n# TYPE a counter\na 1\nb{c=\"d e\"} 2.5e3\n\nbroken\nc x\nd +Inf\ne 7");
  EXPECT_THAT(values, ::testing::ElementsAre(::testing::Pair("a", 1), ::testing::Pair("b{c=\"d e\"}", 2500),
                                             ::testing::Pair("e", 7)));
}

}  // namespace
}  // namespace kernelsmith::ui
