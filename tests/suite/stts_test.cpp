// Windows, rewards and whole trajectories whose turns and tables were computed by hand.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/suite/stts.hpp>

#include "stts_script.hpp"
#include "stts_trajectory.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::program;
using testing::Script;
using Turns = std::vector<std::size_t>;

// The numbers are those of python/tests/test_learning_search.py.
TEST(SttsWindows, AreThoseOfKernelGym) {
  const std::vector<double> rewards = {0, 1.5, 0, 2, 1, 0.5, 2.2};
  EXPECT_EQ(best_window(rewards, 4), Turns({3, 4, 5, 6}));
  EXPECT_EQ(best_window(std::vector<double>(5, 1), 4), Turns({0, 1, 2, 3}));
  EXPECT_EQ(best_window(std::vector<double>{2.5, 0, 0, 0, 2.4, 0}, 4), Turns({0, 1, 2, 3}));
  EXPECT_EQ(best_window(std::vector<double>{1, 2}, 4), Turns({0, 1}));
  EXPECT_THAT(best_window({}, 4), IsEmpty());
  EXPECT_EQ(best_window(std::vector<double>{-3, -2, -1}, 1), Turns({2}));
}

TEST(SttsWindows, MayHoldTheBestTurnsWhereverTheyStand) {
  EXPECT_EQ(best_turns(std::vector<double>{0, 1.5, 0, 2, 1, 0.5, 2.2}, 4), Turns({1, 3, 4, 6}));
  EXPECT_EQ(best_turns(std::vector<double>(5, 1), 4), Turns({0, 1, 2, 3}));
  EXPECT_EQ(best_turns(std::vector<double>{1, 2}, 4), Turns({0, 1}));
}

TEST(SttsWindows, AreOfTheWholeConversationAtFirst) {
  const SttsPlan plan;
  EXPECT_THAT(shown_turns(plan, {}), IsEmpty());
  EXPECT_EQ(shown_turns(plan, std::vector<double>{0, 2, 0, 0}), Turns({0, 1, 2, 3}));
  EXPECT_EQ(shown_turns(plan, std::vector<double>{0, 2, 0, 0, 1}), Turns({1, 2, 3, 4}));
  EXPECT_EQ(shown_turns({.window = SttsWindow::top}, std::vector<double>{0, 2, 0, 0, 1}),
            Turns({0, 1, 2, 4}));
}

TEST(SttsPlan, IsRefusedIfItHasNoTurns) {
  EXPECT_TRUE(check_plan({}));
  EXPECT_TRUE(check_plan({.turns = 1, .first = 1, .keep = 9}));
  EXPECT_FALSE(check_plan({.turns = 4}));
  EXPECT_FALSE(check_plan({.keep = 0}));
}

Evaluation with_speedup(double speedup) {
  Report report;
  report.speedup = Measurement::exact(speedup, "x");
  return Acceptance{Metrics::create(Measurement::exact(9)).value(), report};
}

TEST(SttsReward, IsDrKernels) {
  EXPECT_DOUBLE_EQ(stts_reward(with_speedup(2.08)), 1.54);
  EXPECT_DOUBLE_EQ(stts_reward(with_speedup(3)), 2);
  EXPECT_DOUBLE_EQ(stts_reward(with_speedup(7.5)), 2);
  EXPECT_DOUBLE_EQ(uncapped_stts_reward(with_speedup(7.5)), 4.25);
  EXPECT_DOUBLE_EQ(stts_reward(with_speedup(0.8)), 0.9);
  EXPECT_DOUBLE_EQ(stts_reward(Rejection{Stage::correctness, RejectionCode::wrong_output, "", {}}), 0);
}

TEST(SttsReward, IsOfTheFitnessIfNothingIsTimed) {
  const auto fitness = [](double value) {
    return Evaluation(Acceptance{Metrics::create(Measurement::exact(value)).value(), {}});
  };
  EXPECT_DOUBLE_EQ(stts_reward(fitness(2)), 1.5);
  EXPECT_DOUBLE_EQ(stts_reward(fitness(-4)), 0.5);
}

class SttsTrajectoryTest : public ::testing::Test {
 protected:
  Result<suite::SttsJournal> journal() const {
    return suite::SttsJournal::open(path(), {"numbers", 1, testing::numbers_task().digest.hex()});
  }
  std::filesystem::path path() const { return folder_.path() / "numbers" / "1.jsonl"; }

  /// As far as it comes; the journal is opened anew, like by another process.
  Status complete(const Script& script, const SttsPlan& plan) {
    auto opened = journal();
    if (!opened) return opened.error();
    const suite::SttsTools tools = script.tools();
    return suite::complete(*opened, plan, tools, [](std::size_t, const SttsTurn&) {}, {});
  }

  SttsTrajectory trajectory() const { return journal().value().trajectory(); }

 private:
  TemporaryFolder folder_;
};

std::deque<std::string> seven_replies() {
  return {"I would think about it.", program("2"),  program("wrong"), program("3"), program("1"),
          program("wrong again"),    program("1.2")};
}

std::vector<double> rewards_of(const SttsTrajectory& trajectory) {
  std::vector<double> rewards;
  for (const SttsTurn& turn : trajectory.turns) rewards.push_back(turn.reward);
  return rewards;
}

std::vector<Turns> shown_of(const SttsTrajectory& trajectory) {
  std::vector<Turns> shown;
  for (const SttsTurn& turn : trajectory.turns) shown.push_back(turn.shown);
  return shown;
}

TEST_F(SttsTrajectoryTest, ShowsTheConsecutiveWindowsThatWereComputedByHand) {
  const Script script(seven_replies());
  const Status made = complete(script, {7, 3, 2, SttsWindow::consecutive});
  ASSERT_TRUE(made) << describe(made.error());
  const SttsTrajectory all = trajectory();
  EXPECT_THAT(rewards_of(all), ElementsAre(0, 1.5, 0, 2, 1, 0, DoubleEq(1.1)));
  EXPECT_THAT(shown_of(all), ElementsAre(Turns{}, Turns{0}, Turns{0, 1}, Turns{0, 1}, Turns{2, 3},
                                         Turns{3, 4}, Turns{3, 4}));
}

TEST_F(SttsTrajectoryTest, ShowsTheTopTurnsThatWereComputedByHand) {
  const Script script(seven_replies());
  ASSERT_TRUE(complete(script, {7, 3, 2, SttsWindow::top}));
  EXPECT_THAT(shown_of(trajectory()), ElementsAre(Turns{}, Turns{0}, Turns{0, 1}, Turns{0, 1}, Turns{1, 3},
                                                  Turns{1, 3}, Turns{1, 3}));
}

// All turns but the first have the largest reward, 2.
TEST_F(SttsTrajectoryTest, ShowsTheFastestOfTurnsAboveTheCap) {
  const std::deque<std::string> replies = {program("wrong"), program("3"),  program("4"),
                                           program("3.5"),   program("27"), program("3.2")};
  const Script consecutive(replies), top(replies);
  ASSERT_TRUE(complete(consecutive, {6, 3, 2, SttsWindow::consecutive}));
  EXPECT_THAT(rewards_of(trajectory()), ElementsAre(0, 2, 2, 2, 2, 2));
  EXPECT_THAT(shown_of(trajectory()),
              ElementsAre(Turns{}, Turns{0}, Turns{0, 1}, Turns{1, 2}, Turns{2, 3}, Turns{3, 4}));
  std::filesystem::remove(path());
  ASSERT_TRUE(complete(top, {6, 3, 2, SttsWindow::top}));
  EXPECT_EQ(shown_of(trajectory()).back(), (Turns{2, 4}));
}

TEST_F(SttsTrajectoryTest, KeepsSystemAndUserInEveryPrompt) {
  const Script script(seven_replies());
  ASSERT_TRUE(complete(script, {7, 3, 2, SttsWindow::consecutive}));
  const auto& asked = script.model->asked;
  ASSERT_EQ(asked.size(), 7u);
  for (const auto& messages : asked) {
    EXPECT_EQ(messages.at(0), asked[0].at(0));
    EXPECT_EQ(messages.at(0).role, Role::system);
    EXPECT_EQ(messages.at(1), asked[0].at(1));
    EXPECT_EQ(messages.at(1).role, Role::user);
  }
  ASSERT_EQ(asked[4].size(), 6u);  // turns 3 and 4
  EXPECT_EQ(asked[4][2], (Message{Role::assistant, program("wrong")}));
  EXPECT_THAT(asked[4][3].text, HasSubstr("\"error_code\": \"wrong_output\""));
  EXPECT_THAT(asked[4][3].text, HasSubstr("\"error_message\": \"6 is not 7\""));
  EXPECT_EQ(asked[4][4], (Message{Role::assistant, program("3")}));
  EXPECT_THAT(asked[4][5].text, HasSubstr("\"score\": 3\n"));
  EXPECT_THAT(asked[1][3].text, HasSubstr("\"error_code\": \"no_code\""));
  EXPECT_EQ(script.model->bases[4].main_text(), "3\n");
}

TEST_F(SttsTrajectoryTest, ComesToTheTablesThatWereComputedByHand) {
  const Script script(seven_replies());
  ASSERT_TRUE(complete(script, {7, 3, 2, SttsWindow::consecutive}));
  const TaskResult last = suite::last_result(trajectory()), best = suite::best_result(trajectory());
  EXPECT_DOUBLE_EQ(last.speedup.value().median, 1.2);
  EXPECT_THAT(last.best_by_round, ElementsAre(0, 2, 0, 3, 1, 0, 1.2));
  EXPECT_DOUBLE_EQ(best.speedup.value().median, 3);
  EXPECT_THAT(best.best_by_round, ElementsAre(0, 2, 2, 3, 3, 3, 3));
  for (const TaskResult& one : {last, best}) {
    EXPECT_TRUE(one.correct);
    EXPECT_EQ(one.candidates, 6u);
    EXPECT_EQ(one.cost, (SuiteCost{7, 7, 70, 7, 0}));
  }
}

TEST_F(SttsTrajectoryTest, IsNotSolvedInTheLastTableIfItsLastTurnIsWrong) {
  const Script script({program("2"), program("wrong")});
  ASSERT_TRUE(complete(script, {2, 2, 1, SttsWindow::consecutive}));
  const TaskResult last = suite::last_result(trajectory()), best = suite::best_result(trajectory());
  EXPECT_FALSE(last.correct);
  EXPECT_EQ(last.failure, "correctness: wrong_output");
  EXPECT_TRUE(best.correct);
  EXPECT_EQ(best.failure, "");
}

TEST_F(SttsTrajectoryTest, NamesTheFurthestFailureIfNothingIsAccepted) {
  const Script script({program("wrong"), "nothing", "nothing"});
  ASSERT_TRUE(complete(script, {3, 3, 1, SttsWindow::consecutive}));
  EXPECT_EQ(suite::best_result(trajectory()).failure, "correctness: wrong_output");
  EXPECT_EQ(suite::last_result(trajectory()).failure, "reply: no_code");
}

TEST_F(SttsTrajectoryTest, TakesTheSameProgramAgainForAProgram) {
  const Script script({program("2"), program("2")});
  ASSERT_TRUE(complete(script, {2, 2, 1, SttsWindow::consecutive}));
  EXPECT_THAT(rewards_of(trajectory()), ElementsAre(1.5, 1.5));
}

TEST_F(SttsTrajectoryTest, BeginsWithTheSeedIfThereIsOne) {
  Task task = testing::numbers_task();
  task.seed = Source::create({{"seed.txt", "0.25\n"}}).value();
  const Script script({program("2")});
  auto opened = journal().value();
  const suite::SttsTools tools = script.tools(task);
  ASSERT_TRUE(suite::complete(opened, {1, 1, 1}, tools, [](std::size_t, const SttsTurn&) {}, {}));
  EXPECT_THAT(script.model->asked[0][1].text, HasSubstr("fitness: 0.25"));
  EXPECT_EQ(script.evaluator->evaluations, 2);
  EXPECT_EQ(opened.trajectory().turns.size(), 1u);
}

TEST_F(SttsTrajectoryTest, MakesNoTurnOfABrokenMachineAndAsksForNoReplyTwice) {
  const Script script({program("2"), program("broken"), program("3")});
  const SttsPlan plan = {3, 2, 1, SttsWindow::consecutive};
  const Status stopped = complete(script, plan);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::tool_failed);
  EXPECT_THAT(rewards_of(trajectory()), ElementsAre(1.5));
  script.evaluator->broken = false;
  ASSERT_TRUE(complete(script, plan));
  EXPECT_EQ(script.model->asked.size(), 3u);
  EXPECT_THAT(rewards_of(trajectory()), ElementsAre(1.5, 1, 2));
}

TEST_F(SttsTrajectoryTest, CountsWhatLostCallsCost) {
  const Script script({"error", "paid error", program("2")});
  const SttsPlan plan = {1, 1, 1, SttsWindow::consecutive};
  EXPECT_EQ(complete(script, plan).error().code, ErrorCode::network);
  EXPECT_EQ(complete(script, plan).error().message, "it broke off");
  ASSERT_TRUE(complete(script, plan));
  EXPECT_EQ(suite::best_result(trajectory()).cost, (SuiteCost{2, 2, 20, 2, 0}));
}

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

// Wherever a kill cuts the journal, what is whole in it stands, and the rest is asked for again.
TEST_F(SttsTrajectoryTest, EndsTheSameWhereverItWasCut) {
  const SttsPlan plan = {4, 2, 2, SttsWindow::top};
  const std::deque<std::string> replies = {program("2"), "nothing", program("wrong"), program("3")};
  ASSERT_TRUE(complete(Script(replies), plan));
  const std::string whole = file_bytes(path());
  for (std::size_t cut = 0; cut < whole.size(); cut += 101) {
    const std::string left = whole.substr(0, cut);
    write(path(), left);
    std::size_t there = 0;
    for (std::size_t at = left.find("\n{\"event\":\"reply\""); at != left.npos;
         at = left.find("\n{\"event\":\"reply\"", at + 1))
      there += left.find('\n', at + 1) != left.npos ? 1 : 0;
    const Script script({replies.begin() + static_cast<std::ptrdiff_t>(there), replies.end()});
    const Status made = complete(script, plan);
    ASSERT_TRUE(made) << cut << ": " << describe(made.error());
    ASSERT_EQ(script.model->asked.size(), 4 - there) << cut;
    ASSERT_EQ(file_bytes(path()), whole) << cut;
  }
}

TEST_F(SttsTrajectoryTest, RefusesTheJournalOfAnotherTask) {
  ASSERT_TRUE(complete(Script({program("2")}), {1, 1, 1}));
  const auto other = suite::SttsJournal::open(path(), {"numbers", 1, "00"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().message, HasSubstr("the task or the settings were changed"));
}

TEST_F(SttsTrajectoryTest, RefusesAJournalThatContradictsItself) {
  ASSERT_TRUE(complete(Script({program("2"), program("3")}), {2, 2, 1}));
  const std::string whole = file_bytes(path());
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    write(path(), text);
    const auto opened = journal();
    return !opened && opened.error().code == ErrorCode::corrupt &&
           opened.error().where.find("1.jsonl:") != std::string::npos;
  };
  EXPECT_TRUE(refused("\"shown\":[1]", "\"shown\":[7]"));
  EXPECT_TRUE(
      refused("server's feedback", "server's Feedback"));  // then the second reply answers other messages
  EXPECT_TRUE(refused("\"event\":\"verdict\"", "\"event\":\"turn\""));
  EXPECT_TRUE(refused("{\"event\":\"trajectory\"", "{\"event\""));
}

SttsReport two_trajectories() {
  const auto record = [](const std::string& name, double speedup, std::vector<double> by_turn) {
    TaskResult result;
    result.name = name;
    result.level = 1;
    result.correct = speedup > 0;
    if (speedup > 0) result.speedup = Measurement::exact(speedup, "x");
    result.best_by_round = std::move(by_turn);
    return result;
  };
  return {{"stts", {{"keep", "4"}}, 2, {record("level1/a", 1.1, {3, 1.1}), record("level1/b", 0, {0, 0})}},
          {"stts", {{"keep", "4"}}, 2, {record("level1/a", 3, {3, 3}), record("level1/b", 0, {0, 0})}}};
}

TEST(SttsReport, HasBothTables) {
  const std::string csv = results_csv(two_trajectories());
  EXPECT_THAT(csv, ::testing::StartsWith("table,task,level,correct,speedup,"));
  EXPECT_THAT(csv, HasSubstr("\nlast,level1/a,1,true,1.1,"));
  EXPECT_THAT(csv, HasSubstr("\nlast,level1/b,1,false,,"));
  EXPECT_THAT(csv, HasSubstr("\nbest_of_history,level1/a,1,true,3,"));
  // Half of them are correct; 1.1x is not faster than 1.2, and 3x is.
  EXPECT_THAT(levels_csv(two_trajectories()), HasSubstr("\nlast,all,2,0,0.5,0.5,0.5,0,0,0,0.55,"));
  EXPECT_THAT(levels_csv(two_trajectories()),
              HasSubstr("\nbest_of_history,all,2,0,0.5,0.5,0.5,0.5,0.5,0.5,1.5,"));
  const std::string table = to_table(two_trajectories());
  EXPECT_THAT(table, HasSubstr("the last turn\n"));
  EXPECT_THAT(table, HasSubstr("the best of history\n"));
}

TEST(SttsReport, IsTwiceTheSuitesInJson) {
  const auto json = nlohmann::json::parse(to_json(two_trajectories()));
  EXPECT_EQ(json["kind"], "stts");
  EXPECT_EQ(json["settings"]["keep"], "4");
  EXPECT_EQ(json["last"]["levels"][1]["fast_1.2"], 0.0);
  EXPECT_EQ(json["best_of_history"]["levels"][1]["fast_1.2"], 0.5);
  EXPECT_EQ(json["last"]["levels"][1]["amsr_by_round"], (std::vector<double>{1.5, 0.55}));
  const auto read = suite_report_from_json(json["last"].dump(), "results.json").value();
  EXPECT_EQ(read.results, two_trajectories().last.results);
}

}  // namespace
}  // namespace kernelsmith
