#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/session.hpp>

#include "notices.hpp"
#include "toy_task.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

class SessionTest : public testing::Test {
 protected:
  Result<Session> begin(std::string_view yaml, std::shared_ptr<Observer> observer = {}) {
    const TaskFolder task = toy::task_in(folder_);
    return Session::create(task, run_, toy::config_for(task, yaml), std::move(observer));
  }
  Result<Session> resume(const std::function<Status(RunConfig&)>& change = {}) {
    return Session::resume(run_, change, toy::registry());
  }

  ScratchFolder scratch_ = ScratchFolder::create().value();
  const fs::path folder_ = scratch_.path();
  const fs::path run_ = folder_ / "a.run";
};

TEST_F(SessionTest, FindsTheBestAndKeepsItInTheRunFolder) {
  auto session = begin("budgets: {iterations: 300}\nworkers: 1\n").value();
  const auto outcome = session.run().value();
  ASSERT_TRUE(outcome.best);
  EXPECT_EQ(outcome.best->evaluation.metrics()->fitness().median, 3 + 4 + 1);
  EXPECT_EQ(read_text_file(session.best_folder() / "seed.txt").value(),
            outcome.best->program->source.main_text());
}

TEST_F(SessionTest, TheTunerTriesNoPointTwiceAndEndsWhenNoneIsLeft) {
  const auto outcome = begin("budgets: {iterations: 300}\nworkers: 1\n").value().run().value();
  EXPECT_EQ(outcome.reason, EndReason::exhausted);
  EXPECT_EQ(outcome.counts.accepted, 4u * 5 * 2);
  EXPECT_EQ(outcome.counts.repeated, 0u);
}

TEST_F(SessionTest, ResumesWithHigherBudgetsAndWithoutTheTasksFolder) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  fs::remove_all(folder_ / "task");
  auto session = resume([](RunConfig& config) -> Status {
                   config.budgets.iterations = 12;
                   return {};
                 }).value();
  EXPECT_EQ(session.run().value().counts.iterations, 12u);
  EXPECT_THAT(read_text_file(run_ / "run.yaml").value(), testing::HasSubstr("iterations: 12"));
}

/// What is known beforehand needs no evaluator: preparing one takes seconds.
const std::function<Status(RunConfig&)> kWithoutEvaluator = [](RunConfig& config) {
  return read_config("evaluator: {refuse: true}\n", "run.yaml", toy::registry(), config);
};

TEST_F(SessionTest, ARunThatHasEndedIsResumedWithoutItsEvaluator) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  auto session = resume(kWithoutEvaluator).value();
  const auto outcome = session.run().value();
  EXPECT_EQ(outcome.reason, EndReason::budget);
  EXPECT_EQ(outcome.counts.iterations, 5u);
}

TEST_F(SessionTest, ALargerBudgetNeedsTheEvaluator) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  const auto session = resume([](RunConfig& config) {
    config.budgets.iterations = 6;
    return kWithoutEvaluator(config);
  });
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::refused);
}

constexpr const char* kNested = "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-START\na = 1\n# EVOLVE-BLOCK-END\n";

TEST_F(SessionTest, ACandidateThatCannotBeReadIsRejectedWithoutAnEvaluator) {
  const TaskFolder task = toy::task_in(folder_);
  const RunConfig config = toy::config_for(task, "evaluator: {refuse: true}\n");
  const std::vector<Source> candidates{Source::create({{"seed.txt", kNested}}).value(), task.task.seed};
  std::vector<Result<Evaluation>> told;
  const Status done =
      evaluate_all(task.task, config, candidates, [&](std::size_t i, const Result<Evaluation>& one) {
        EXPECT_EQ(i, told.size());
        told.push_back(one);
      });
  ASSERT_EQ(told.size(), 2u);
  ASSERT_TRUE(told[0] && told[0]->rejection());
  EXPECT_EQ(told[0]->rejection()->code, RejectionCode::unreadable);
  EXPECT_EQ(told[1].error().code, ErrorCode::refused);
  ASSERT_FALSE(done) << "the other one needs it";
  EXPECT_EQ(done.error().code, ErrorCode::refused);
}

TEST_F(SessionTest, ASeedThatCannotBeReadIsToldBeforeTheEvaluatorIsMade) {
  TaskFolder task = toy::task_in(folder_);
  task.task.seed = Source::create({{"seed.txt", kNested}}).value();
  const auto session =
      Session::create(task, run_,
                      toy::config_for(task, "evaluator: {refuse: true}\nproposer: {kind: manual, folder: " +
                                                (folder_ / "desk").string() + "}\n"));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::bad_input);
  EXPECT_EQ(session.error().where, "seed.txt:2");
}

TEST_F(SessionTest, TicketsWithoutAVerdictAreCountedByTheirError) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  TicketOpened opened;
  opened.ticket = view_run(run_, toy::registry()).value().state.next_ticket();
  opened.op = Operator::tune;
  const std::vector<Event> events{opened, TicketClosed{opened.ticket, fail(ErrorCode::unstable, "noise"), 1}};
  ASSERT_TRUE(RunStore::open(run_).value()->append(events));
  const std::map<ErrorCode, std::uint64_t> expected{{ErrorCode::unstable, 1}};
  EXPECT_EQ(view_run(run_, toy::registry()).value().given_back, expected);
}

TEST_F(SessionTest, ARefusedTaskLeavesNoRunFolder) {
  const auto session = begin("evaluator: {refuse: true}\n");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::refused);
  EXPECT_FALSE(fs::exists(run_));
}

/// Replaces a text of the run's run.yaml.
void edit_config(const fs::path& run, const std::string& from, const std::string& to) {
  std::string text = read_text_file(run / "run.yaml").value();
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << text;
  std::ofstream(run / "run.yaml") << text.replace(at, from.size(), to);
}

TEST_F(SessionTest, AMigrationThatWasEditedIsRefused) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  edit_config(run_, "kind: best", "kind: weighted");
  const auto session = resume();
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().where, "migration");
  EXPECT_THAT(session.error().message, testing::HasSubstr("\"kind: best, count: 1\""));
  EXPECT_FALSE(view_run(run_, toy::registry())) << "the archive would be another";
}

TEST_F(SessionTest, APresetOfAxesIsComparedByItsAxes) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\narchive: {axes: behaviour}\n").value().run());
  const auto named = [](const char* preset) {
    return [preset](RunConfig& config) {
      return read_config("archive: {axes: " + std::string(preset) + "}\n", "--set", toy::registry(), config);
    };
  };
  EXPECT_TRUE(resume(named("behaviour")));
  const auto other = resume(named("kernel-smith"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().where, "axes");
  EXPECT_THAT(other.error().message, testing::HasSubstr("cannot become \"\"bytes\" logarithmic"));
}

TEST_F(SessionTest, ASamplerThatWasEditedIsTakenAndTold) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  edit_config(run_, "exploration: ", "exploration: 1");
  const auto listener = std::make_shared<Notices>();
  ASSERT_TRUE(Session::resume(run_, {}, toy::registry(), listener));
  EXPECT_THAT(
      listener->text(),
      testing::MatchesRegex("sampler changes from \"exploration: [0-9.]+\" to \"exploration: [0-9.]+\"\n"));
  listener->messages.clear();
  ASSERT_TRUE(Session::resume(run_, {}, toy::registry(), listener));
  EXPECT_EQ(listener->text(), "");
}

TEST_F(SessionTest, ARunWhoseSamplerWasChangedIsRepeatedWithBoth) {
  ASSERT_TRUE(begin("budgets: {iterations: 12}\nsampler: {opening: 1}\n").value().run());
  const auto changed = [](RunConfig& config) {
    return read_config("budgets: {iterations: 30}\nsampler: {kind: mixture, explore: 1, exploit: 0}\n",
                       "--set", toy::registry(), config);
  };
  ASSERT_TRUE(resume(changed).value().run());
  StoredRun stored = load_stored_run(run_, toy::registry()).value();
  const std::string recording = "proposer: {kind: recording, evaluations: kept, run: " + run_.string() +
                                "}\noperators: [{operator: tune}]\n";
  ASSERT_TRUE(read_config(recording, "replay", toy::registry(), stored.config));
  const fs::path again = folder_ / "b.run";
  const auto outcome = Session::create(stored.task, again, stored.config).value().run().value();
  EXPECT_FALSE(outcome.error) << describe(*outcome.error);
  EXPECT_EQ(view_run(again, toy::registry())->archive_digest(),
            view_run(run_, toy::registry())->archive_digest());
}

TEST_F(SessionTest, AnAxisThatNoProgramReportsIsTold) {
  const auto listener = std::make_shared<Notices>();
  ASSERT_TRUE(begin("budgets: {iterations: 5}\narchive: {axes: [{feature: nosuch, scale: linear, low: 0, "
                    "high: 1, bins: 4}]}\n",
                    listener)
                  .value()
                  .run());
  EXPECT_THAT(listener->text(),
              testing::ContainsRegex("^nothing reported the archive's axis \"nosuch\"[^\n]*\n$"));
}

TEST_F(SessionTest, AFolderThatIsTakenIsToldBeforeTheTaskIsPrepared) {
  fs::create_directories(run_ / "notes");
  EXPECT_EQ(begin("evaluator: {refuse: true}\n").error().code, ErrorCode::invalid_argument);
}

TEST_F(SessionTest, ADeterministicRunTakesNoOtherSamplerOrProposer) {
  ASSERT_TRUE(begin("deterministic: true\nbudgets: {iterations: 5}\n").value().run());
  edit_config(run_, "exploration: ", "exploration: 1");
  EXPECT_EQ(resume().error().where, "sampler");
  edit_config(run_, "exploration: 1", "exploration: ");
  ASSERT_TRUE(resume());
  edit_config(run_, "exhaustive: false", "exhaustive: true");
  EXPECT_EQ(resume().error().where, "proposer");
}

TEST_F(SessionTest, APipeInThePlaceOfTheConfigurationIsNotWaitedFor) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  fs::remove(run_ / "run.yaml");
  ASSERT_EQ(::mkfifo((run_ / "run.yaml").c_str(), 0600), 0);
  EXPECT_EQ(resume().error().code, ErrorCode::bad_input);
}

TEST_F(SessionTest, ATaskThatWasEditedIsNotThatOfTheRun) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  std::ofstream(run_ / "task/task.yaml", std::ios::app) << "timeout_s: 7\n";
  const auto session = resume();
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().where, "task");
}

TEST_F(SessionTest, AnErrorInTheChangeIsPassedOn) {
  ASSERT_TRUE(begin("budgets: {iterations: 5}\n").value().run());
  const auto session = resume([](RunConfig&) -> Status { return fail(ErrorCode::invalid_argument, "no"); });
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message, "no");
}

TEST_F(SessionTest, AViewIsTheReplayOfTheRun) {
  auto session = begin("budgets: {iterations: 60}\n").value();
  ASSERT_TRUE(session.run());
  Digest live;
  session.engine().inspect([&](const SearchState& state) { live = archive_digest(state); });

  const auto view = view_run(run_, toy::registry()).value();
  EXPECT_EQ(view.archive_digest(), live);
  const auto lineage = view.lineage_of_best;
  ASSERT_GE(lineage.size(), 2u);
  EXPECT_EQ(lineage.front().individual->program->origin, Origin::seed);
  EXPECT_EQ(lineage.back().individual, view.state.best());
  EXPECT_THAT(lineage.back().diff, testing::HasSubstr("--- a/seed.txt"));
  EXPECT_EQ(view.elites().size(), view.state.archipelago().statistics().filled);
}

TEST_F(SessionTest, ExportsALineForEveryProgramEvaluationAndEdge) {
  ASSERT_TRUE(begin("budgets: {iterations: 30}\nworkers: 1\n").value().run());
  const auto view = view_run(run_, toy::registry()).value();
  std::ostringstream out;
  ASSERT_TRUE(export_run(view, out));
  std::map<std::string, std::size_t> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);)
    for (const std::string type : {"run", "program", "evaluation", "lineage", "ticket", "repeat"})
      if (line.find("\"type\":\"" + type + "\"") != std::string::npos) ++lines[type];
  EXPECT_EQ(lines["run"], 1u);
  EXPECT_EQ(lines["program"], view.state.programs().size());
  EXPECT_EQ(lines["evaluation"], view.state.counts().evaluations);
  EXPECT_EQ(lines["ticket"], lines["evaluation"] + lines["repeat"]) << "each ticket led to one of them";
  std::size_t edges = 0;
  for (const auto& [id, program] : view.state.programs()) edges += view.state.lineage().parents(id).size();
  EXPECT_EQ(lines["lineage"], edges);
}

TEST_F(SessionTest, OfARunWhoseFolderIsDeletedTheBestIsSaved) {
  auto session = begin("budgets: {iterations: 300}\nworkers: 1\n").value();
  fs::create_directory(folder_ / "a.run.rescued");
  double best = 0;
  const auto outcome = session.run([&](const Commit& commit) {
    if (commit.new_best) best = commit.fitness;
    if (commit.ticket.value == 20) fs::remove_all(run_);
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::io);
  const fs::path saved = folder_ / "a.run.rescued-2";
  EXPECT_THAT(outcome.error().hint, testing::HasSubstr("saved in " + saved.string()));
  const auto source = Source::create({{"seed.txt", read_text_file(saved / "seed.txt").value()}}).value();
  EvaluationJob job;
  job.source = source;
  EXPECT_EQ(toy::sum_of_knobs(job), best);
  EXPECT_TRUE(fs::exists(saved / "report.json"));
  EXPECT_FALSE(fs::exists(run_));
}

TEST_F(SessionTest, EvaluatesCandidatesByThemselves) {
  const TaskFolder task = toy::task_in(folder_);
  const auto seed = load_candidate(task.task, folder_ / "task/seed.txt").value();
  std::vector<double> fitness;
  const Status done = evaluate_all(task.task, toy::config_for(task, "version: 1\n"), {seed, seed},
                                   [&](std::size_t, const Result<Evaluation>& evaluation) {
                                     ASSERT_TRUE(evaluation && evaluation->accepted());
                                     fitness.push_back(evaluation->metrics()->fitness().median);
                                   });
  ASSERT_TRUE(done);
  EXPECT_EQ(fitness, (std::vector<double>{0, 0}));
}

/// A run of a program that links the library; a candidate is a number, and numbers that end in 3 are
/// rejected.
class LibraryRun : public SessionTest {
 protected:
  Engine begin_run(EngineOptions options) {
    options.budgets.iterations = 40;
    options.seed = 9;
    options.seeds = {Source::create({{"x.txt", "0"}}).value()};
    return Engine::open(run_, std::move(options),
                        blocking([](const EvaluationJob& job) -> Result<Evaluation> {
                          const long x = std::stol(std::string(job.source.main_text()));
                          if (x % 10 == 3) return Rejection{Stage::run, RejectionCode::crashed, "three", {}};
                          auto metrics = Metrics::create(Measurement::exact(double(x)), {{"x", double(x)}});
                          return Acceptance{metrics.value(), {}};
                        }),
                        blocking([](const ProposalRequest& request) {
                          return Source::create({{"x.txt", std::to_string(request.ticket.value)}}).value();
                        }))
        .value();
  }
  Digest archive_of_run(const EngineOptions& options) {
    Engine engine = begin_run(options);
    EXPECT_TRUE(engine.run());
    Digest live;
    engine.inspect([&](const SearchState& state) { live = archive_digest(state); });
    return live;
  }
};

TEST_F(LibraryRun, IsShownAndExported) {
  EngineOptions options;
  options.axes = {{"x", LinearScale{0, 100, 10}}};
  options.topology = Topology::ring(2).value();
  const Digest live = archive_of_run(options);
  const auto view = view_run(run_, toy::registry()).value();
  EXPECT_FALSE(view.has_task);
  EXPECT_TRUE(view.has_cells);
  EXPECT_EQ(view.archive_digest(), live);
  EXPECT_EQ(view.config.seed, 9u);
  EXPECT_EQ(view.reason, EndReason::budget);
  EXPECT_EQ(view.best_evaluation()->metrics()->fitness().median, 40);
  EXPECT_EQ(view.state.failures().size(), 1u);
  EXPECT_FALSE(view.lineage_of_best.empty());
  std::ostringstream out;
  ASSERT_TRUE(export_run(view, out));
  EXPECT_THAT(out.str(), testing::StartsWith("{\"run\":\"" + view.run_id));
}

TEST_F(LibraryRun, CellsByWhatOnlyTheProgramComputesAreNotMadeUp) {
  EngineOptions options;
  options.axes = {{"digits", LinearScale{0, 10, 10}}};
  options.describe = [](const Source& source, const Evaluation&) {
    return std::map<std::string, double>{{"digits", double(source.bytes())}};
  };
  ASSERT_TRUE(begin_run(options).run());
  const auto view = view_run(run_, toy::registry()).value();
  EXPECT_FALSE(view.has_cells);
  EXPECT_EQ(view.best_evaluation()->metrics()->fitness().median, 40);
}

TEST_F(LibraryRun, CellsBySourceFeaturesAreKnownWhereTheProgramSaysThatItHasThem) {
  EngineOptions options;
  options.axes = {{"bytes", LinearScale{0, 10, 10}}};
  options.describe = [axes = options.axes](const Source& source, const Evaluation&) {
    return source_features(source, axes);
  };
  options.recorded = {{kDescribeSetting, kSourceFeatures}};
  const Digest live = archive_of_run(options);
  const auto view = view_run(run_, toy::registry()).value();
  EXPECT_TRUE(view.has_cells);
  EXPECT_EQ(view.archive_digest(), live);
}

TEST_F(LibraryRun, OneThatHasOnlyBegunIsShown) {
  begin_run({});
  const auto view = view_run(run_, toy::registry()).value();
  EXPECT_EQ(view.reason, EndReason::unfinished);
  EXPECT_EQ(view.best_evaluation(), nullptr);
}

TEST(TaskFolder, IsCopiedWithEveryFile) {
  const auto scratch = ScratchFolder::create().value();
  const TaskFolder task = toy::task_in(scratch.path());
  ASSERT_TRUE(write_task_folder(task, scratch.path() / "copy"));
  const auto copy = load_task_folder(scratch.path() / "copy").value();
  EXPECT_EQ(copy.task.digest, task.task.digest);
  EXPECT_EQ(copy.files, task.files);
}

}  // namespace
}  // namespace kernelsmith
