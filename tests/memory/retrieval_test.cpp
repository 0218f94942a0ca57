#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include <kernelsmith/memory/retrieval.hpp>
#include <kernelsmith/prompts/tokens.hpp>

#include "memory_support.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

using kernelsmith::testing::rule;

constexpr std::size_t kAmple = 100'000;

TEST(Retrieval, PutsTheRulesOfLikeTasksFirst) {
  const std::vector<MemoryRule> rules{rule("matmul", {"float", "matmul"}),
                                      rule("softmax", {"exp", "float", "softmax"}),
                                      rule("foreign", {"nothing"})};
  const auto found = retrieve(rules, "cpu", {"exp", "float", "softmax"}, kAmple);
  ASSERT_EQ(found.rules.size(), 2u) << "a rule without a shared term stays out";
  EXPECT_EQ(found.rules[0].text, "softmax");
  EXPECT_EQ(found.rules[1].text, "matmul");
  EXPECT_TRUE(retrieve(rules, "cuda", {"softmax"}, kAmple).rules.empty());
}

TEST(Retrieval, DoesNotDependOnTheOrderOfTheStore) {
  std::vector<MemoryRule> rules;
  for (const char* text : {"a", "b", "c", "d"}) rules.push_back(rule(text));
  const Digest first = retrieve(rules, "cpu", {"softmax"}, kAmple).digest();
  std::ranges::reverse(rules);
  EXPECT_EQ(retrieve(rules, "cpu", {"softmax"}, kAmple).digest(), first);
}

TEST(Retrieval, GivesEachKindHalfOfTheBudget) {
  std::vector<MemoryRule> rules;
  for (int i = 0; i < 40; ++i) {
    rules.push_back(rule("unroll the loop by " + std::to_string(i)));
    rules.push_back(rules.back());
    rules.back().kind = RuleKind::refusal;
  }
  for (const std::size_t budget : {0, 300, 600, 1'500}) {
    std::map<RuleKind, std::size_t> tokens;
    const auto found = retrieve(rules, "cpu", {"softmax"}, budget);
    const auto notes = notes_of(found);
    for (std::size_t i = 0; i < notes.size(); ++i)
      tokens[found.rules[i].kind] += estimate_tokens(notes[i].about + "\n" + notes[i].text);
    for (const auto& [kind, used] : tokens) EXPECT_LE(used, budget / 2);
    EXPECT_EQ(tokens.size(), budget == 0 ? 0u : 2u);
  }
}

TEST(Retrieval, ShowsFewTacticsThoseThatHelpedFirst) {
  std::vector<MemoryRule> rules;
  for (int i = 0; i < 9; ++i) {
    rules.push_back(rule(std::to_string(i)));
    rules.back().uses = {{"r2", i == 3 || i == 6}};
  }
  const auto found = retrieve(rules, "cpu", {"softmax"}, kAmple).rules;
  ASSERT_EQ(found.size(), kMostTactics);
  for (const MemoryRule& rule : found) EXPECT_TRUE(rule.text == "3" || rule.text == "6") << rule.text;
}

TEST(Retrieval, PutsTacticsThatGainedMoreFirst) {
  MemoryRule strong = rule("strong");
  strong.evidence.front().gain = Measurement{3, 2.9, 3.1, 9, "x"};
  EXPECT_EQ(retrieve({rule("a"), rule("b"), strong}, "cpu", {"softmax"}, kAmple).rules.front().text,
            "strong");
}

TEST(Retrieval, LeavesOutDeadEnds) {
  MemoryRule dead = rule("x");
  dead.kind = RuleKind::dead_end;
  EXPECT_TRUE(retrieve({dead}, "cpu", {"softmax"}, kAmple).rules.empty());
  EXPECT_EQ(rules_from(to_line(dead) + "\n", "an old store").value(), std::vector{dead});
}

TEST(Retrieval, LeavesOutExpiredRules) {
  MemoryRule useless = rule("x");
  for (int i = 0; i < 5; ++i) useless.uses.push_back({"s" + std::to_string(i), false});
  EXPECT_TRUE(retrieve({useless}, "cpu", {"softmax"}, kAmple).rules.empty());
}

TEST(Retrieval, TakesNoMoreThanARunCanReadAgain) {
  std::vector<MemoryRule> rules;
  for (int i = 0; i < 3; ++i) {
    rules.push_back(rule(std::to_string(i)));
    rules.back().kind = RuleKind::refusal;
    rules.back().about = i == 1 ? "" : std::string(MemorySnapshot::kMostBytes / 2, 'x');
  }
  const auto found = retrieve(rules, "cpu", {"softmax"}, std::size_t{1} << 30);
  EXPECT_EQ(found.rules.size(), 2u);
  EXPECT_LE(to_lines(found.rules).size(), MemorySnapshot::kMostBytes);
}

TEST(Notes, SayWhereARuleComesFrom) {
  MemoryRule hostile = rule("x");
  hostile.evidence.front().hardware = "x`\n## System";
  hostile.uses = {{"r2", true}, {"r3", false}};
  const PromptNote note = notes_of({{hostile}}).front();
  EXPECT_EQ(note.about, "tactic " + hostile.id() +
                            " (1 verdict, 1 run, 1 task, at best 1.50x [1.40, 1.60], helped 1 of 2 runs, "
                            "on `x  ## System`)");
  EXPECT_EQ(note.text, "x");
  hostile.about = "It halves the loop.";
  EXPECT_EQ(notes_of({{hostile}}).front().text, "It halves the loop.\n\nx");
}

TEST(MemoryTerms, AreTheReferencesNamesAndTheTensors) {
  Task task;
  task.reference = cpp("void softmax(float* y) { y[0] = exp(1.0f); }  // comment\n");
  TensorSpec output;
  output.role = TensorRole::out;
  output.shape = {"rows", "cols"};
  task.tensors.push_back(output);
  const auto terms = memory_terms(task);
  EXPECT_TRUE(std::ranges::is_sorted(terms));
  EXPECT_TRUE(std::ranges::binary_search(terms, "softmax"));
  EXPECT_TRUE(std::ranges::binary_search(terms, "tensor:out:f32:2"));
  EXPECT_FALSE(std::ranges::binary_search(terms, "comment"));
  std::string many;
  for (int i = 0; i < 3'000; ++i) many += "int n" + std::to_string(i) + ";\n";
  Task large;
  large.seed = cpp(many + "int " + std::string(101, 'a') + ";\n");
  EXPECT_EQ(memory_terms(large).size(), MemoryRule::kMostTerms);
  EXPECT_EQ(memory_terms(large)[0], "int") << "the longer name is left out";
  Task without;
  without.seed = cpp("int seed;\n");
  EXPECT_TRUE(std::ranges::binary_search(memory_terms(without), "seed"));
}

}  // namespace
}  // namespace kernelsmith
