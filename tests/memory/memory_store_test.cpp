#include <algorithm>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <kernelsmith/memory/memory_store.hpp>

#include "memory_support.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using kernelsmith::testing::rule;

TEST(MemoryStore, AddsTheSameRunOnce) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "a/memory").value();
  EXPECT_TRUE(store.rules().value().empty());
  EXPECT_EQ(store.add({{rule("x"), rule("y")}, {}}).value(), 2u);
  const auto once = store.rules().value();
  EXPECT_EQ(store.add({{rule("y"), rule("x")}, {}}).value(), 0u);
  EXPECT_EQ(store.rules().value(), once);
  EXPECT_EQ(store.add({{rule("x", {"exp"}, "r2")}, {}}).value(), 0u);
  std::size_t verdicts = 0;
  for (const MemoryRule& one : store.rules().value()) verdicts += one.evidence.size();
  EXPECT_EQ(verdicts, 3u) << "another run adds its verdict to the rule that is there";
}

TEST(MemoryStore, IsTheUsersAlone) {
  const TemporaryFolder folder;
  const fs::path path = folder / "memory";
  ASSERT_TRUE(MemoryStore::open(path).value().add({{rule("x")}, {}}));
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((path / "rules.jsonl").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);

  ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
  EXPECT_EQ(MemoryStore::open(path).error().code, ErrorCode::permission);
  fs::create_directory_symlink(folder.path(), folder / "link");
  EXPECT_EQ(MemoryStore::open(folder / "link").error().code, ErrorCode::bad_input);
}

TEST(MemoryStore, ForgetsARule) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "memory").value();
  ASSERT_TRUE(store.add({{rule("x"), rule("y")}, {}}));
  ASSERT_TRUE(store.forget(rule("x").id()));
  ASSERT_EQ(store.rules().value().size(), 1u);
  EXPECT_EQ(store.rules().value().front().text, "y");
  EXPECT_EQ(store.forget(rule("x").id()).error().code, ErrorCode::not_found);
}

TEST(MemoryStore, CountsTheUsesOfRulesThatAreStillThere) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "memory").value();
  ASSERT_TRUE(store.add({{rule("x")}, {}}));
  const auto uses_with = [](bool helped) {
    return std::map<std::string, RuleUse>{{rule("x").id(), {"r2", helped}},
                                          {rule("gone").id(), {"r2", true}}};
  };
  ASSERT_TRUE(store.add({{}, uses_with(false)}));
  const std::vector<RuleUse> once{{"r2", false}}, later{{"r2", true}};
  ASSERT_EQ(store.rules().value().size(), 1u);
  EXPECT_EQ(store.rules().value().front().uses, once);
  ASSERT_TRUE(store.add({{}, uses_with(true)}));
  ASSERT_TRUE(store.add({{}, uses_with(false)}));
  EXPECT_EQ(store.rules().value().front().uses, later) << "the run went on, and then it helped";
}

TEST(MemoryStore, KnowsTheRunsThatBeganWithIt) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "memory").value();
  EXPECT_FALSE(store.knows("0123"));
  ASSERT_TRUE(store.note_beginning("0123"));
  ASSERT_TRUE(store.note_beginning("0123"));
  EXPECT_TRUE(store.knows("0123"));
  EXPECT_FALSE(store.knows("../rules.jsonl"));
  EXPECT_FALSE(store.knows(""));
}

TEST(MemoryStore, LosesNothingWhenSeveralWrite) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "memory").value();
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&store, writer] {
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(store.add({{rule(std::to_string(writer) + "." + std::to_string(i))}, {}}));
    });
  writers.clear();
  EXPECT_EQ(store.rules().value().size(), 20u);
}

// Versions before the limits wrote rules of any length, and read none beyond 256 KiB.
TEST(MemoryStore, ReadsAndMendsRulesThatAreTooLong) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "memory").value();
  MemoryRule grown = rule("x", {});
  for (std::uint64_t i = 10'000; i < 15'000; ++i) {
    grown.terms.push_back("term" + std::to_string(i));
    grown.evidence.push_back({"r1", i, "t1", "a CPU", {}});
    grown.uses.push_back({"r" + std::to_string(i), true});
  }
  const std::string lines = to_lines({grown, rule("y")});
  ASSERT_GT(lines.size(), std::size_t{256} << 10);
  std::ofstream(folder / "memory/rules.jsonl") << lines;

  const auto read = store.rules();
  ASSERT_TRUE(read) << describe(read.error());
  ASSERT_EQ(read->size(), 2u);
  const auto mended = std::ranges::find(*read, grown.id(), &MemoryRule::id);
  ASSERT_NE(mended, read->end());
  EXPECT_EQ(mended->terms.size(), MemoryRule::kMostTerms);
  EXPECT_EQ(mended->evidence.size(), MemoryRule::kMostVerdictsOfRun);
  EXPECT_EQ(mended->uses.size(), MemoryRule::kMostUses);
  EXPECT_EQ(store.add({{grown, rule("z")}, {}}).value(), 1u);
  EXPECT_EQ(store.rules().value().size(), 3u);
  EXPECT_LT(fs::file_size(folder / "memory/rules.jsonl"), std::size_t{256} << 10);
}

TEST(MemoryStore, LeavesAFileThatItCannotRead) {
  const TemporaryFolder folder;
  const auto store = MemoryStore::open(folder / "memory").value();
  std::ofstream(folder / "memory/rules.jsonl") << "not a rule\n";
  EXPECT_EQ(store.add({{rule("x")}, {}}).error().code, ErrorCode::bad_input);
  std::string left;
  std::getline(std::ifstream(folder / "memory/rules.jsonl"), left);
  EXPECT_EQ(left, "not a rule");
}

}  // namespace
}  // namespace kernelsmith
