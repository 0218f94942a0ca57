// score_candidates(): a verdict stands beside its own candidate, whatever becomes of the others.
#include <latch>
#include <utility>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/suite/suite.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Two candidates meet here.
std::latch meeting(2);

/// A candidate's text is what becomes of it: a speedup, the name of an error, "wrong" or "meets".
Result<Evaluation> verdict_of(const EvaluationJob& job) {
  std::string text(job.source.main_text());
  if (text == "meets") {
    meeting.arrive_and_wait();
    text = "1";
  }
  if (text == "wrong")
    return Evaluation(Rejection{Stage::correctness, RejectionCode::wrong_output, "off\nby one", {}});
  if (const auto error = error_code_from(text)) return fail(*error, "it is " + text);
  // "noisy" is measured once slower and once faster.
  const auto fitness = text != "noisy"                ? Measurement::exact(std::stod(text))
                       : job.candidate.value % 2 == 0 ? Measurement{3, 2.9, 3.1, 9, ""}
                                                      : Measurement{5, 4.9, 5.1, 9, ""};
  return Evaluation(Acceptance{Metrics::create(fitness, {{"own_kernels", 0}}).value(), {}});
}

class Scripted final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task&, const std::stop_token&) const override {
    return blocking(verdict_of);
  }
};

/// Preparing a task never ends by itself.
class Lasting final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task&, const std::stop_token& stop) const override {
    wait_for_stop(stop);
    return fail(ErrorCode::cancelled, "stopped");
  }
};

class Host final : public SuiteHost {
 public:
  explicit Host(const Registry& registry) : registry_(registry) {}
  Result<RunConfig> configure(const Task& task) override { return default_config(task, registry_); }
  void begin(const SuiteTask& task, std::size_t, std::size_t) override { begun.push_back(task.name); }
  void end(const TaskResult&) override {}

  std::vector<std::string> begun;

 private:
  const Registry& registry_;
};

class Score : public ::testing::Test {
 protected:
  Score() {
    registry_.evaluators["command"] = [] { return std::make_unique<Scripted>(); };
    folder_.write("task/task.yaml",
                  "version: 1\nname: a\nbackend: command\nfiles: {seed: seed.txt}\ncommand: [none]\n");
    folder_.write("task/seed.txt", "1");
  }

  /// Scores candidates 0, 1, ... with these texts; "gone" is a file that is not there.
  TaskResult score(const std::vector<std::string>& texts) {
    FoundCandidates found;
    CandidatePaths& paths = found.of_task.emplace_back();
    for (const std::string& text : texts) {
      const std::string name = "candidates/" + std::to_string(paths.size());
      paths.push_back(text == "gone" ? folder_.path() / name : folder_.write(name, text));
      found.claims[paths.back()] = {"them", static_cast<double>(paths.size())};
    }
    Host host(registry_);
    const auto report = score_candidates({{"a", 1, folder_.path() / "task"}}, found,
                                         {folder_.path() / "out", {}}, registry_, host, false);
    return report.value().results.at(0);
  }

  TemporaryFolder folder_;
  Registry registry_ = default_registry();
};

std::vector<std::string> verdicts_of(const TaskResult& result) {
  std::vector<std::string> verdicts;
  for (std::size_t i = 0; i < result.of_candidates.size(); ++i) {
    EXPECT_EQ(result.of_candidates[i].name, std::to_string(i));
    EXPECT_EQ(result.of_candidates[i].claimed, static_cast<double>(i + 1));
    verdicts.push_back(result.of_candidates[i].verdict);
  }
  return verdicts;
}

TEST_F(Score, AVerdictStandsBesideItsCandidate) {
  const TaskResult result = score({"2", "unsupported", "wrong", "gone", "3", "corrupt", "4"});
  EXPECT_THAT(verdicts_of(result),
              ElementsAre("accepted", "not evaluated: unsupported", "correctness: wrong_output",
                          "not evaluated: not_found", "accepted", "not evaluated: corrupt",
                          "not evaluated: corrupt"));
  EXPECT_EQ(result.candidates, 3u);
  EXPECT_EQ(result.speedup->median, 3);
  EXPECT_THAT(result.best_by_round, ElementsAre(2, 2, 2, 2, 3, 3, 3));
  EXPECT_EQ(result.error->code, ErrorCode::unsupported) << "the first one is the task's";
  EXPECT_EQ(result.of_candidates[5].error->message, "it is corrupt");
  EXPECT_THAT(result.of_candidates[6].error->message, HasSubstr("it had no turn"));
}

TEST_F(Score, TasksAreScoredAtOnce) {
  FoundCandidates found;
  std::vector<SuiteTask> tasks;
  for (const auto& [name, text] : {std::pair{"a", "meets"}, {"b", "1"}, {"c", "meets"}, {"d", "1"}}) {
    tasks.push_back({name, 1, folder_.path() / "task"});
    found.of_task.push_back({folder_.write("candidates/" + std::string(name), text)});
  }
  Host host(registry_);
  SuiteOptions options{folder_.path() / "out", {}};
  options.at_once = 2;
  const auto report = score_candidates(tasks, found, options, registry_, host, false).value();
  ASSERT_EQ(report.results.size(), 4u) << "one by one they would not meet";
  host.begun.resize(2);
  EXPECT_THAT(host.begun, UnorderedElementsAre("a", "c"))
      << "neighbours in the list may not fit a GPU together";
  EXPECT_EQ(report.results[0].name, "a");
  EXPECT_TRUE(report.results[1].correct);
}

TEST_F(Score, ATaskThatTakesTooLongIsARow) {
  registry_.evaluators["command"] = [] { return std::make_unique<Lasting>(); };
  FoundCandidates found;
  found.of_task.push_back({folder_.write("candidates/0", "1")});
  Host host(registry_);
  SuiteOptions options{folder_.path() / "out", {}};
  options.longest_task = Seconds(0.25);
  options.at_once = 2;  // the task is tried twice
  const auto report =
      score_candidates({{"a", 1, folder_.path() / "task"}}, found, options, registry_, host, false);
  const TaskResult& result = report.value().results.at(0);
  EXPECT_EQ(result.error->code, ErrorCode::timeout);
  EXPECT_THAT(result.error->message, HasSubstr("longer than 0.25 s"));
  EXPECT_THAT(host.begun, ElementsAre("a", "a"));
}

TEST_F(Score, SaysWhereTheTimeWentAndWhyNothingWasAccepted) {
  const TaskResult result = score({"wrong"});
  EXPECT_EQ(result.failure, "correctness: wrong_output");
  EXPECT_EQ(result.reason, "off");
  double sum_s = 0;
  for (const auto& [step, seconds] : result.spent_s) sum_s += seconds;
  EXPECT_GT(result.wall_s, 0);
  EXPECT_DOUBLE_EQ(sum_s, result.wall_s);
  EXPECT_EQ(score({"wrong", "2"}).reason, "") << "the task is solved";
}

TEST_F(Score, IdenticalFilesAreMeasurementsOfOneProgram) {
  const TaskResult result = score({"noisy", "noisy", "1"});
  EXPECT_EQ(result.of_candidates[0].speedup, result.of_candidates[1].speedup);
  EXPECT_GT(result.speedup->median, 3);
  EXPECT_LT(result.speedup->median, 5) << "not the luckiest";
  EXPECT_EQ(result.of_candidates[2].speedup->median, 1);
}

TEST_F(Score, WhatNobodyKnowsIsNotTrue) {
  const TaskResult result = score({"2", "wrong", "unsupported"});
  EXPECT_EQ(result.of_candidates[0].own_kernels, false);
  EXPECT_EQ(result.of_candidates[1].own_kernels, std::nullopt);
  EXPECT_EQ(result.of_candidates[2].own_kernels, std::nullopt);
}

TEST_F(Score, ACandidateOfATaskThatCannotBeLoadedHasARow) {
  folder_.write("task/task.yaml", "version: 1\nname: a\nbackend: comand\n");
  const TaskResult result = score({"2", "3"});
  EXPECT_THAT(verdicts_of(result), ElementsAre("not evaluated: bad_input", "not evaluated: bad_input"));
  EXPECT_EQ(result.error->code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace kernelsmith
