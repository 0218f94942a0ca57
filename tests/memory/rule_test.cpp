#include <algorithm>

#include <gtest/gtest.h>

#include <kernelsmith/memory/rule.hpp>

#include "memory_support.hpp"

namespace kernelsmith {
namespace {

using kernelsmith::testing::rule;

TEST(MemoryRule, ReadsBackWhatItWrites) {
  MemoryRule written = rule("tile by 8\n\"quoted\" \xe2\x84\xa2", {"exp", "softmax"});
  written.uses = {{"r2", true}, {"r3", false}};
  written.about = "It halves the loop.";
  written.evidence.push_back({"r2", 1, "t2", "", {}});
  const auto read = rule_from(to_line(written));
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(*read, written);
}

TEST(MemoryRule, RefusesEveryChangedByte) {
  const std::string line = to_line(rule("x"));
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string cut = line.substr(0, i);
    EXPECT_FALSE(rule_from(cut)) << i;
    std::string spaced = line;
    spaced.insert(i, " ");
    const auto read = rule_from(spaced);
    EXPECT_TRUE(!read || to_line(*read) == spaced) << i;
  }
}

TEST(MemoryRule, RefusesWhatIsNotSound) {
  const std::string line = to_line(rule("x", {"a", "b"}));
  const auto with = [&](const std::string& old, const std::string& fresh) {
    std::string text = line;
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), fresh);
  };
  EXPECT_TRUE(rule_from(line));
  EXPECT_FALSE(rule_from(with(R"("kind":"tactic")", R"("kind":"order")")));
  EXPECT_FALSE(rule_from(with(R"("text":"x")", R"("text":"y")"))) << "the id is another rule's";
  EXPECT_FALSE(rule_from(with(R"(["a","b"])", R"(["b","a"])")));
  EXPECT_FALSE(rule_from(with(R"(["a","b"])", R"(["a","a"])")));
  EXPECT_FALSE(rule_from(with(R"("low":1.4)", R"("low":2.4)")));
  EXPECT_FALSE(rule_from(with(R"("low":1.4)", R"("low":1e999)")));
  EXPECT_FALSE(rule_from(with(R"("backend":"cpu",)", R"("backend":"cpu","backend":"cpu",)")));
  EXPECT_FALSE(rule_from(to_line(rule("\x1b[2J")))) << "it would steer a terminal";
  EXPECT_FALSE(rule_from(with(R"("uses":[])", R"("uses":[],"zz":1)")));
  EXPECT_FALSE(rule_from(with(R"({"backend")", R"({"about":"","backend")")));
  EXPECT_TRUE(rule_from(with(R"({"backend")", R"({"about":"b","backend")")));
}

TEST(MemoryRule, KeepsOneDescriptionInAnyOrder) {
  MemoryRule first = rule("x"), second = rule("x"), none = rule("x");
  first.about = "a";
  second.about = "b";
  MemoryRule one = none, other = second;
  for (const MemoryRule& more : {second, first}) add_to(one, more);
  for (const MemoryRule& more : {none, first}) add_to(other, more);
  EXPECT_EQ(one.about, "a");
  EXPECT_EQ(other.about, "a");
}

MemoryRule with_verdicts(const std::string& run, std::uint64_t first, std::uint64_t end) {
  MemoryRule rule = testing::rule("x");
  rule.evidence.clear();
  for (std::uint64_t program = first; program < end; ++program)
    rule.evidence.push_back({run, program, "t1", "a CPU", {}});
  return rule;
}

TEST(MemoryRule, KeepsTheSameVerdictsInAnyOrderOfMerges) {
  std::vector<MemoryRule> parts;
  for (const char* run : {"a", "b", "c", "d", "e", "f"})
    for (const std::uint64_t first : {0, 9, 18}) parts.push_back(with_verdicts(run, first, first + 15));
  MemoryRule forward = parts.front(), backward = parts.back();
  for (const MemoryRule& part : parts) add_to(forward, part);
  for (std::size_t i = parts.size(); i-- > 0;) add_to(backward, parts[i]);
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward.evidence.size(), MemoryRule::kMostVerdicts);
  EXPECT_EQ(std::ranges::count(forward.evidence, "a", &Evidence::run), MemoryRule::kMostVerdictsOfRun);
  EXPECT_EQ(forward.evidence.back().run, "d") << "four runs fill it";
}

TEST(MemoryRule, NamesTheLineThatCannotBeRead) {
  const auto read = rules_from(to_lines({rule("x")}) + "{}\n", "store/rules.jsonl");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  EXPECT_EQ(read.error().where, "store/rules.jsonl:2");
}

TEST(MemoryRule, LosesRankAndExpiresWhenItNeverHelps) {
  MemoryRule useless = rule("x"), useful = rule("y");
  for (std::size_t i = 0; i < MemoryRule::kExpiresAfter; ++i) {
    EXPECT_FALSE(useless.expired());
    const double before = useless.rank();
    useless.uses.push_back({"s" + std::to_string(i), false});
    useful.uses.push_back({"s" + std::to_string(i), i == 0});
    EXPECT_LT(useless.rank(), before);
  }
  EXPECT_TRUE(useless.expired());
  MemoryRule found_again = useless;
  found_again.evidence.front().run = "s3";
  EXPECT_FALSE(found_again.expired()) << "its verdict proves it, whatever an earlier version noted";
  EXPECT_EQ(found_again.helped(), 1u);
  EXPECT_FALSE(useful.expired());
  EXPECT_GT(useful.rank(), useless.rank());
}

}  // namespace
}  // namespace kernelsmith
