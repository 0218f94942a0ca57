// Answers that arrived before a kill and were not journalled yet are taken up, and not asked for again.
#include <fstream>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/session.hpp>

#include "notices.hpp"
#include "temporary_folder.hpp"
#include "toy_task.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// What a proposer was asked, and whether it answers.
struct Script {
  std::mutex mutex;
  std::set<std::uint64_t> asked;
  std::function<void()> on_ask;
  bool answers = true;
  std::string prompt = "a prompt";  ///< as it would be sent
};

Proposal child_of(const ProposalRequest& request, std::string_view text) {
  Proposal proposal = as_proposal(request, Source::create({{"seed.txt", std::string(text)}}).value()).value();
  proposal.prompt = digest_of("a prompt");
  return proposal;
}

class ScriptedProvider final : public ProposerProvider {
 public:
  explicit ScriptedProvider(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  Result<std::shared_ptr<Proposer>> make(const Task&, const std::stop_token&) const override {
    return blocking([script = script_](const ProposalRequest& request) -> Result<Proposal> {
      const auto n = request.ticket.value;
      {
        const std::lock_guard lock(script->mutex);
        script->asked.insert(n);
      }
      if (script->on_ask) script->on_ask();
      if (!script->answers) return fail(ErrorCode::cancelled, "stopped");
      return child_of(request, "a = " + std::to_string(n % 4) + "  # @tune 0 1 2 3\nb = " +
                                   std::to_string(n % 5) + "  # @tune 0 1 2 3 4\nc = 0  # @tune 0 1\n");
    });
  }
  ProposerTraits traits() const override { return {.operators = {{Operator::rewrite, ""}}}; }
  Result<CallPlanner> planner(const Task&) const override {
    return CallPlanner([script = script_](const ProposalRequest&) {
      return std::optional(PlannedCall{digest_of(script->prompt), std::nullopt});
    });
  }

 private:
  std::shared_ptr<Script> script_;
};

class ReplySpoolTest : public testing::Test {
 protected:
  Registry registry() const {
    Registry registry = toy::registry();
    registry.proposers["scripted"] = [script = script_] {
      return std::make_unique<ScriptedProvider>(script);
    };
    return registry;
  }

  /// A run that was stopped while it waited for the answer to its first ticket.
  void begin_and_stop() {
    const TaskFolder task = toy::task_in(task_);
    RunConfig config = default_config(task.task, registry()).value();
    ASSERT_TRUE(read_config(
        "budgets: {iterations: 4}\nworkers: 1\nlimits: {confirm: false}\nproposer: {kind: scripted}\n",
        "run.yaml", registry(), config));
    std::stop_source stop;
    script_->answers = false;
    script_->on_ask = [&] { stop.request_stop(); };
    auto session = Session::create(task, run_, std::move(config)).value();
    ASSERT_EQ(session.run({}, stop.get_token())->reason, EndReason::stopped);
    ASSERT_TRUE(script_->asked.contains(1));
    script_->answers = true;
    script_->on_ask = {};
    script_->asked.clear();
  }

  Result<Session> resume() { return Session::resume(run_, {}, registry(), notices_); }

  void leave(const std::string& name, const std::string& text) {
    fs::create_directories(run_ / "arrived");
    std::ofstream(run_ / "arrived" / name) << text;
  }

  /// `internal` if the run is resumed.
  ErrorCode refusal() {
    const auto session = resume();
    return session ? ErrorCode::internal : session.error().code;
  }

  bool nothing_on_its_way() const { return !fs::exists(run_ / "arrived") || fs::is_empty(run_ / "arrived"); }

  std::shared_ptr<Notices> notices_ = std::make_shared<Notices>();
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  ScratchFolder scratch_ = ScratchFolder::create().value();
  fs::path task_ = scratch_.path();
  fs::path run_ = scratch_.path() / "a.run";
};

constexpr const char* kPaid = "a = 3  # @tune 0 1 2 3\nb = 4  # @tune 0 1 2 3 4\nc = 1  # @tune 0 1\n";

Proposal first_answer() {
  ProposalRequest request;
  request.ticket = {1};
  return child_of(request, kPaid);
}

TEST_F(ReplySpoolTest, AnAnswerThatWasOnItsWayIsTakenAndNotBoughtAgain) {
  begin_and_stop();
  leave("1.json", to_json(first_answer()));
  leave("2.json.new", "{\"cut off");
  auto session = resume().value();
  const auto outcome = session.run().value();
  EXPECT_FALSE(script_->asked.contains(1));
  EXPECT_TRUE(script_->asked.contains(2));
  EXPECT_EQ(outcome.best->program->id, ProgramId{1});
  EXPECT_EQ(outcome.best->program->source.main_text(), kPaid);
  EXPECT_TRUE(nothing_on_its_way());
}

TEST_F(ReplySpoolTest, AnAnswerToAnotherPromptIsTakenAndSaid) {
  begin_and_stop();
  leave("1.json", to_json(first_answer()));
  ASSERT_TRUE(resume());
  EXPECT_THAT(notices_->messages, testing::IsEmpty());
  const TemporaryFolder folder;
  run_ = folder.path() / "b.run";
  task_ = folder.path() / "task";
  begin_and_stop();
  leave("1.json", to_json(first_answer()));
  script_->prompt = "a changed prompt";
  ASSERT_TRUE(resume().value().run());
  EXPECT_THAT(
      notices_->messages,
      testing::ElementsAre(testing::HasSubstr("the answer kept for ticket 1 answers another prompt")));
  EXPECT_FALSE(script_->asked.contains(1));
}

TEST_F(ReplySpoolTest, CostsThatNoCallHasAreNamed) {
  begin_and_stop();
  const auto refusal_of = [&](const Cost& cost) {
    Proposal kept = first_answer();
    kept.cost = cost;
    leave("1.json", to_json(kept));
    return refusal();
  };
  for (const Cost& cost : std::vector<Cost>{{.usd = 1e9, .input_tokens = 1000},
                                            {.usd = -1},
                                            {.input_tokens = std::uint64_t{1} << 60},
                                            {.input_tokens = 5, .cached_tokens = 6},
                                            {.calls = 1, .untold = 2}})
    EXPECT_EQ(refusal_of(cost), ErrorCode::corrupt) << cost.usd << " USD, " << cost.input_tokens << " tokens";
  EXPECT_EQ(refusal_of({.usd = 0.5, .input_tokens = 9000, .calls = 1}), ErrorCode::internal)
      << "this one is taken";
}

TEST_F(ReplySpoolTest, WhatTheJournalHasIsForgotten) {
  begin_and_stop();
  ASSERT_TRUE(resume().value().run());
  const Digest before = view_run(run_, registry())->archive_digest();
  leave("1.json", to_json(first_answer()));
  ASSERT_TRUE(resume().value().run());
  EXPECT_TRUE(nothing_on_its_way());
  EXPECT_EQ(view_run(run_, registry())->archive_digest(), before);
}

TEST_F(ReplySpoolTest, AnAnswerThatCannotBeOneIsAskedForAgain) {
  for (const Source& source : {Source(), Source::create({{"other.txt", kPaid}}).value(),
                               Source::create({{"seed.txt", kPaid}, {"more.txt", ""}}).value()}) {
    const TemporaryFolder folder;
    run_ = folder.path() / "a.run";
    task_ = folder.path() / "task";
    begin_and_stop();
    Proposal kept = child_of({}, kPaid);
    std::get<Child>(kept.outcome).source = source;
    leave("1.json", to_json(kept));
    auto session = resume().value();
    const auto outcome = session.run().value();
    EXPECT_EQ(outcome.reason, EndReason::budget);
    EXPECT_TRUE(script_->asked.contains(1));
  }
}

TEST_F(ReplySpoolTest, OfAnAnswerThatWasKeptOnlyTheSourceIsBelieved) {
  begin_and_stop();
  Proposal kept = child_of({}, kPaid);
  std::get<Child>(kept.outcome).origin = Origin::seed;
  std::get<Child>(kept.outcome).parents = {ProgramId{77}};
  leave("1.json", to_json(kept));
  ASSERT_TRUE(resume().value().run());
  EXPECT_FALSE(script_->asked.contains(1));
  const auto view = view_run(run_, registry());
  const auto best = view->state.best();
  ASSERT_EQ(best->program->source.main_text(), kPaid);
  EXPECT_EQ(best->program->origin, Origin::rewrite);
  EXPECT_EQ(best->program->parents, std::vector{ProgramId{0}});
}

TEST_F(ReplySpoolTest, WhatIsNoRegularFileIsNeitherWaitedForNorRead) {
  begin_and_stop();
  fs::create_directories(run_ / "arrived");
  const fs::path file = run_ / "arrived" / "1.json";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), ErrorCode::corrupt);
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  EXPECT_EQ(refusal(), ErrorCode::corrupt);
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(refusal(), ErrorCode::corrupt);
  fs::remove(file);
  leave("notes.txt", "mine");
  EXPECT_TRUE(resume());
  EXPECT_TRUE(fs::exists(run_ / "arrived" / "notes.txt"));
}

TEST_F(ReplySpoolTest, TheFolderItselfIsNoLink) {
  begin_and_stop();
  const fs::path elsewhere = run_.parent_path() / "elsewhere";
  fs::create_directories(elsewhere);
  const fs::path precious = elsewhere / "1.json.new";
  std::ofstream(precious) << "mine";
  fs::remove_all(run_ / "arrived");
  fs::create_directory_symlink(elsewhere, run_ / "arrived");
  EXPECT_EQ(refusal(), ErrorCode::corrupt);
  EXPECT_TRUE(fs::exists(precious));
}

TEST_F(ReplySpoolTest, AFileThatIsNoAnswerIsNamed) {
  begin_and_stop();
  leave("1.json", "{}");
  const auto session = resume();
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::corrupt);
  EXPECT_THAT(session.error().where, testing::HasSubstr("1.json"));
}

}  // namespace
}  // namespace kernelsmith
