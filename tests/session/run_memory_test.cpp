// A run and its memory: what it reads is fixed at its start, and what it teaches is added once, at its end.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/memory/memory_store.hpp>
#include <kernelsmith/session/learn_run.hpp>
#include <kernelsmith/session/prompt_preview.hpp>

#include "memory_family.hpp"
#include "notices.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunMemory : public ::testing::Test {
 protected:
  RunMemory() : task_(family::task_in(folder_ / "task")) {}

  Result<Session> begin(const std::string& name, const std::string& yaml) {
    return Session::create(task_, folder_ / name, family::config_for(task_.task, member_, yaml), listener_);
  }
  Result<Session> resume(const std::string& name, std::uint64_t iterations = 0) {
    return Session::resume(
        folder_ / name,
        [&](RunConfig& config) -> Status {
          if (iterations > 0) config.budgets.iterations = iterations;
          return {};
        },
        registry(), listener_);
  }
  void run(const std::string& name, const std::string& yaml) { ASSERT_TRUE(begin(name, yaml).value().run()); }
  /// A run that is stopped after its third commit.
  void stop_early(const std::string& name, const std::string& yaml) {
    auto session = begin(name, yaml).value();
    std::stop_source stop;
    int commits = 0;
    ASSERT_TRUE(session.run(
        [&](const Commit&) {
          if (++commits == 3) stop.request_stop();
        },
        stop.get_token()));
  }

  Registry registry() const { return family::registry_for(member_); }
  std::string with_memory(std::uint64_t iterations) const {
    return "budgets: {iterations: " + std::to_string(iterations) + "}\nmemory: {store: " + store_.string() +
           "}\n";
  }
  std::vector<MemoryRule> rules() const { return MemoryStore::open(store_).value().rules().value(); }
  std::string text_of(const std::string& file) const { return read_text_file(folder_ / file).value(); }

  const TemporaryFolder folder_;
  const fs::path store_ = folder_ / "memory";
  const family::Member member_{7, 30, 4};  // the fifth child triples the speed
  const TaskFolder task_;
  const std::shared_ptr<Notices> listener_ = std::make_shared<Notices>();
};

TEST_F(RunMemory, IsOffUnlessAStoreIsNamed) {
  run("a.run", "budgets: {iterations: 8}\n");
  EXPECT_EQ(text_of("a.run/run.yaml").find("memory"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "a.run/memory.jsonl"));
  EXPECT_FALSE(fs::exists(store_));
}

TEST_F(RunMemory, ARunShowsWhatAnEarlierOneTaughtAndSaysWhetherItHelped) {
  run("a.run", with_memory(8));
  EXPECT_THAT(listener_->text(), HasSubstr("rules from the run"));
  EXPECT_FALSE(fs::exists(folder_ / "a.run/memory.jsonl")) << "there was nothing to read";
  const auto learnt = rules();
  ASSERT_FALSE(learnt.empty());

  run("b.run", with_memory(8));
  const auto read = rules_from(text_of("b.run/memory.jsonl"), "b").value();
  ASSERT_FALSE(read.empty());
  const auto prompt = repeat_prompt(folder_ / "b.run", {1}, registry()).value();
  EXPECT_TRUE(prompt.is_the_same());
  EXPECT_THAT(prompt.preview.prompt.user, HasSubstr("tactic " + read.front().id()));
  EXPECT_THAT(prompt.preview.prompt.user, HasSubstr("+choice = n30"));
  EXPECT_EQ(prompt.preview.prompt.notes, read.size());
  const auto view = view_run(folder_ / "b.run", registry()).value();
  EXPECT_EQ(view.state.session_settings().at("memory"), MemorySnapshot{read}.digest().hex());
  for (const MemoryRule& rule : rules()) {
    if (rule.id() != read.front().id()) continue;
    ASSERT_EQ(rule.uses.size(), 1u);
    EXPECT_EQ(rule.uses.front().run, view.run_id);
    EXPECT_TRUE(rule.uses.front().helped);
  }
}

TEST_F(RunMemory, ARuleThatNoPromptHadRoomForWasNotUsed) {
  run("a.run", with_memory(8));
  run("b.run", with_memory(8) + "proposer: {budget_tokens: 1}\n");
  EXPECT_FALSE(rules_from(text_of("b.run/memory.jsonl"), "b").value().empty());
  EXPECT_EQ(repeat_prompt(folder_ / "b.run", {1}, registry())->preview.prompt.notes, 0U);
  for (const MemoryRule& rule : rules()) EXPECT_TRUE(rule.uses.empty()) << rule.text;
}

TEST_F(RunMemory, DoesNotDependOnWhatBecomesOfTheStore) {
  run("a.run", with_memory(8));
  run("whole.run", with_memory(9));
  // The same run, stopped, its memory taken away, and resumed.
  fs::remove_all(store_);
  run("again.run", with_memory(8));
  stop_early("parts.run", with_memory(9));
  fs::remove_all(store_);
  auto session = resume("parts.run").value();
  ASSERT_TRUE(session.run());
  const auto digest = [&](const std::string& name) {
    return view_run(folder_ / name, registry()).value().archive_digest();
  };
  EXPECT_EQ(digest("parts.run"), digest("whole.run"));
}

TEST_F(RunMemory, AStoppedRunTeachesWhenItIsResumedAndOnce) {
  stop_early("a.run", with_memory(8));
  EXPECT_TRUE(rules().empty());
  ASSERT_TRUE(resume("a.run").value().run());
  const auto once = rules();
  EXPECT_FALSE(once.empty());
  ASSERT_TRUE(resume("a.run").value().run());
  const auto view = view_run(folder_ / "a.run", registry()).value();
  EXPECT_EQ(MemoryStore::open(store_).value().add(learn_run(view).value()).value(), 0u);
  EXPECT_EQ(rules(), once);
  ASSERT_TRUE(resume("a.run", 20).value().run());
  EXPECT_GE(rules().size(), once.size());
}

TEST_F(RunMemory, ARunFolderOfSomebodyElseDoesNotWriteToAMemory) {
  stop_early("theirs.run", with_memory(8));
  fs::remove_all(store_);  // as on the machine of another user, who has a memory under the same name
  ASSERT_TRUE(MemoryStore::open(store_));
  ASSERT_TRUE(resume("theirs.run").value().run());
  EXPECT_THAT(listener_->text(), HasSubstr("did not begin with this memory"));
  EXPECT_TRUE(rules().empty());
  auto named = Session::resume(
      folder_ / "theirs.run",
      [&](RunConfig& config) {
        return read_config("memory: {store: " + store_.string() + "}\n", "--set", registry(), config);
      },
      registry());
  ASSERT_TRUE(named) << describe(named.error());
  ASSERT_TRUE(named->run());
  EXPECT_FALSE(rules().empty()) << "its user named it";
}

TEST_F(RunMemory, ASnapshotThatWasChangedIsRefused) {
  run("a.run", with_memory(8));
  stop_early("b.run", with_memory(8));
  const std::string text = text_of("b.run/memory.jsonl");
  std::ofstream(folder_ / "b.run/memory.jsonl", std::ios::app) << to_lines(rules());
  EXPECT_EQ(resume("b.run").error().code, ErrorCode::corrupt);
  fs::remove(folder_ / "b.run/memory.jsonl");
  EXPECT_EQ(resume("b.run").error().code, ErrorCode::corrupt);
  std::ofstream(folder_ / "b.run/memory.jsonl") << text;
  EXPECT_TRUE(resume("b.run"));
  const std::string yaml = text_of("b.run/run.yaml");
  std::ofstream(folder_ / "b.run/run.yaml") << yaml.substr(0, yaml.find("memory:"));
  EXPECT_EQ(resume("b.run").error().code, ErrorCode::corrupt);
}

TEST_F(RunMemory, AReplayReadsWhatTheRunReadAndTeachesNothing) {
  run("a.run", with_memory(8));
  run("b.run", with_memory(9));
  const auto before = rules();
  run("c.run", with_memory(9) + "proposer: {kind: recording, run: " + (folder_ / "b.run").string() +
                   ", evaluations: kept}\n");
  EXPECT_EQ(text_of("c.run/memory.jsonl"), text_of("b.run/memory.jsonl"));
  EXPECT_EQ(rules(), before);
  const auto view = [&](const char* name) { return view_run(folder_ / name, registry()).value(); };
  EXPECT_EQ(view("c.run").archive_digest(), view("b.run").archive_digest());
  EXPECT_EQ(learn_run(view("c.run")).error().code, ErrorCode::invalid_argument);
}

TEST_F(RunMemory, AMemoryThatOthersCanEnterIsRefusedBeforeTheRunBegins) {
  fs::create_directory(store_);
  fs::permissions(store_, fs::perms(0755));
  EXPECT_EQ(begin("a.run", with_memory(8)).error().code, ErrorCode::permission);
  EXPECT_FALSE(fs::exists(folder_ / "a.run"));
}

}  // namespace
}  // namespace kernelsmith
