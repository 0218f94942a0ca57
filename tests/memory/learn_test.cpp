#include <map>
#include <memory>

#include <gtest/gtest.h>

#include <kernelsmith/memory/learn.hpp>

#include "memory_journal.hpp"
#include "memory_support.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

using kernelsmith::testing::MemoryJournal;

const LearntFrom kFrom{"run", "task", "cpu", {"softmax"}};

Evaluation accepted(double low, double high) {
  Report report;
  report.hardware = "a CPU";
  return Acceptance{Metrics::create({(low + high) / 2, low, high, 5, "x"}).value(), report};
}

/// Writes the events of programs that are evaluated one after another.
class History {
 public:
  History& child(std::uint64_t id, std::vector<ProgramId> parents, const std::string& text,
                 Evaluation verdict, std::optional<Digest> transcript = {}) {
    Proposal proposal{Child{cpp(text), Origin::rewrite, std::move(parents)}, {}, {}};
    proposal.transcript = transcript;
    events_->push_back(ProposalArrived{{id}, std::move(proposal)});
    events_->push_back(EvaluationArrived{.ticket = {id}, .program = {id}, .evaluation = std::move(verdict)});
    return *this;
  }
  History& again(std::uint64_t ticket, std::uint64_t program, Evaluation verdict) {
    events_->push_back(EvaluationArrived{
        .ticket = {ticket}, .program = {program}, .attempt = 1, .evaluation = std::move(verdict)});
    return *this;
  }
  std::vector<MemoryRule> rules() const { return learn(MemoryJournal(events_), kFrom).value().rules; }

  Learnt learnt(const LearntFrom& from) const { return learn(MemoryJournal(events_), from).value(); }

  /// Whether it helped, by the text of each rule that was shown and used.
  std::map<std::string, bool> helped(const std::vector<MemoryRule>& read, bool by_a_prompt = true) const {
    LearntFrom from = kFrom;
    from.read.rules = read;
    auto events = std::make_shared<std::vector<Event>>(*events_);
    if (by_a_prompt) std::get<ProposalArrived>(events->front()).proposal.prompt = digest_of("prompt");
    const Learnt learnt = learn(MemoryJournal(events), from).value();
    std::map<std::string, bool> texts;
    for (const MemoryRule& rule : read)
      if (const auto use = learnt.uses.find(rule.id()); use != learnt.uses.end())
        texts[rule.text] = use->second.helped;
    return texts;
  }

 private:
  testing::Events events_ = testing::no_events();
};

TEST(Learn, AGainBeyondTheNoiseIsATactic) {
  const auto rules = History()
                         .child(0, {}, "int a;\n", accepted(1, 1.1))
                         .child(1, {{0}}, "int b;\n", accepted(2.2, 2.2))
                         .rules();
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].kind, RuleKind::tactic);
  EXPECT_NE(rules[0].text.find("-int a;\n+int b;"), std::string::npos) << rules[0].text;
  ASSERT_EQ(rules[0].evidence.size(), 1u);
  const Evidence& evidence = rules[0].evidence[0];
  EXPECT_EQ(evidence.program, 1u);
  EXPECT_EQ(evidence.hardware, "a CPU");
  EXPECT_DOUBLE_EQ(evidence.gain->low, 2.0);
  EXPECT_DOUBLE_EQ(evidence.gain->high, 2.2);
}

TEST(Learn, ATacticIsDescribedByTheFirstSentencesOfItsReply) {
  const auto described = [](const std::string& reply) {
    LearntFrom from = kFrom;
    from.reply = [&](TicketId ticket) { return ticket.value == 1 ? reply : "Another one's."; };
    History run;
    run.child(0, {}, "int a;\n", accepted(1, 1)).child(1, {{0}}, "int b;\n", accepted(2, 2));
    return run.learnt(from).rules.front().about;
  };
  EXPECT_EQ(described("The loop is 1.5 times\ntoo long. I halve it! More.\n```\nint b;\n```\n"),
            "The loop is 1.5 times too long. I halve it!");
  EXPECT_EQ(described("One alone, without an end\n\n```\nint b;\n"), "One alone, without an end");
  EXPECT_EQ(described("```\nint b;\n```\nBehind it."), "");
  EXPECT_EQ(described("<think>Hm. Well.</think>\n```\nint b;\n```\n"), "");
  EXPECT_EQ(described(std::string(500, 'x')), "");
  EXPECT_EQ(described(""), "");
}

TEST(Learn, WhatAnAgentPrintedDescribesNothing) {
  LearntFrom from = kFrom;
  from.reply = [](TicketId) { return "evaluations left: 3."; };
  History run;
  run.child(0, {}, "int a;\n", accepted(1, 1))
      .child(1, {{0}}, "int b;\n", accepted(2, 2), digest_of("printed"));
  EXPECT_EQ(run.learnt(from).rules.front().about, "");
}

TEST(Learn, AGainWithinTheNoiseIsNoTactic) {
  EXPECT_TRUE(History()
                  .child(0, {}, "int a;\n", accepted(1, 1.2))
                  .child(1, {{0}}, "int b;\n", accepted(1.1, 1.3))
                  .rules()
                  .empty());
}

TEST(Learn, AGainOverABadParentIsOnlyWhatTheRunGained) {
  History run;
  run.child(0, {}, "int a;\n", accepted(30, 30)).child(1, {{0}}, "int bad;\n", accepted(1, 1));
  run.child(2, {{1}}, "int less;\n", accepted(7, 7));
  EXPECT_TRUE(run.rules().empty()) << "the seed is better";
  const auto rules = run.child(3, {{1}}, "int good;\n", accepted(45, 45)).rules();
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].kind, RuleKind::tactic);
  EXPECT_DOUBLE_EQ(rules[0].evidence[0].gain->median, 1.5) << "not 45";
}

TEST(Learn, OnlyTheFirstVerdictOfAProgramCounts) {
  EXPECT_TRUE(History()
                  .child(0, {}, "int a;\n", accepted(1, 1))
                  .child(1, {{0}}, "int b;\n", accepted(1, 1))
                  .again(2, 1, accepted(9, 9))
                  .rules()
                  .empty());
}

TEST(Learn, AnAcceptedRepairIsARefusal) {
  const Rejection refused{Stage::compile, RejectionCode::compile_failed, "error: no \x1b[31mvla", {}};
  const auto rules =
      History().child(0, {}, "int a;\n", refused).child(1, {{0}}, "int b;\n", accepted(1, 1)).rules();
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].kind, RuleKind::refusal);
  EXPECT_NE(rules[0].text.find("(compile, compile_failed):\nerror: no \\x1b[31mvla\n"), std::string::npos)
      << rules[0].text;
  EXPECT_NE(rules[0].text.find("+int b;"), std::string::npos);
}

TEST(Learn, WhatGainedNothingTeachesNothing) {
  History run;
  run.child(0, {}, "int a;\n", accepted(1, 1));
  for (std::uint64_t id = 1; id < 5; ++id)
    run.child(id, {{0}}, "int a, slow, n" + std::to_string(id) + ";\n", accepted(0.5, 0.5));
  EXPECT_TRUE(run.rules().empty()) << "most changes of good programs gain nothing";
}

TEST(Learn, IsWithinLimitsHoweverLongTheRunAndItsTexts) {
  const std::string refused_text(10'000, '\x01');
  const Rejection refused{Stage::compile, RejectionCode::compile_failed, refused_text, {}};
  History run;
  run.child(0, {}, "int a;\n", accepted(1, 1)).child(1, {{0}}, "int b;\n", refused);
  for (std::uint64_t id = 2; id < 202; ++id) {
    const std::string text = "int a, n" + std::to_string(id) + ";\n";
    run.child(id, {{id % 2}}, text, accepted(1, 1));
  }
  std::map<RuleKind, std::size_t> count;
  for (const MemoryRule& rule : run.rules()) {
    ++count[rule.kind];
    EXPECT_LE(rule.evidence.size(), MemoryRule::kMostVerdictsOfRun);
    EXPECT_LT(to_line(rule).size(), 20'000u);
  }
  EXPECT_EQ(count[RuleKind::refusal], 64u);
}

MemoryRule shown(RuleKind kind, const std::string& text) {
  MemoryRule rule = testing::rule(text);
  rule.kind = kind;
  return rule;
}

TEST(Learn, ATacticHelpedIfAChildThatGainedDidHalfOfIt) {
  History run;
  run.child(0, {}, "int a;\n", accepted(1, 1))
      .child(1, {{0}}, "int packed, wide;\n", accepted(2, 2))
      .child(2, {{0}}, "int unrolled;\n", accepted(1, 1));
  const auto tactic = [](const std::string& diff) { return shown(RuleKind::tactic, diff); };
  const std::string half = "-int c;\n+int packed, padded;\n", less = "+packed b c d\n",
                    flat = "+int unrolled;\n", empty = "nothing that was added";
  const std::map<std::string, bool> expected{{half, true}, {less, false}, {flat, false}, {empty, false}};
  EXPECT_EQ(run.helped({tactic(half), tactic(less), tactic(flat), tactic(empty)}), expected);
  EXPECT_TRUE(run.helped({tactic(half)}, false).empty()) << "nobody was shown it";
}

/// The comment's values stand on both sides of such a change. What one run taught helps the next one.
TEST(Learn, ATacticThatSetsKnobsHelps) {
  const auto text = [](const std::string& tile, const std::string& kind, const std::string& unroll) {
    return "// EVOLVE-BLOCK-START\nconstexpr int kTile = " + tile +
           ";  // @tune 8 16 64\nconstexpr bool kFast = " + kind + ";  // @tune true false\n#define UNROLL " +
           unroll + "\nint run() { return kTile; }\n// EVOLVE-BLOCK-END\nint frozen() { return 64; }\n";
  };
  const auto rules_of_step = [&](const std::string& before, const std::string& after) {
    return History().child(0, {}, before, accepted(1, 1)).child(1, {{0}}, after, accepted(5, 5)).rules();
  };
  for (const std::string& after :
       {text("64", "false", "1"), text("8", "true", "1"), text("8", "false", "4")}) {
    const auto rules = rules_of_step(text("8", "false", "1"), after);
    ASSERT_EQ(rules.size(), 1u);
    const auto helps = [&](const std::string& later) {
      History run;
      run.child(0, {}, text("8", "false", "1"), accepted(1, 1)).child(1, {{0}}, later, accepted(2, 2));
      return run.helped(rules).at(rules[0].text);
    };
    EXPECT_TRUE(helps(after)) << summary_of(rules[0]);
    EXPECT_TRUE(helps(after + "int more;\n"));
    EXPECT_FALSE(helps(text("16", "false", "2"))) << "other values";
    EXPECT_FALSE(helps(text("8", "false", "1") + "bool x = f(true, 64, 4);\n")) << "not the knob";
  }
}

/// A loop that is turned around brings in no word.
TEST(Learn, ATacticThatOnlyChangesAnOrderHelps) {
  const std::string rows = "for (i) for (j) s += a[i] + b[j];\n",
                    columns = "for (j) for (i) s += a[i] + b[j];\n";
  const auto rules =
      History().child(0, {}, rows, accepted(1, 1)).child(1, {{0}}, columns, accepted(5, 5)).rules();
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(summary_of(rules[0]), "5.00x: another order of what is there");
  const auto helps = [&](const std::string& later) {
    return History()
        .child(0, {}, rows, accepted(1, 1))
        .child(1, {{0}}, later, accepted(2, 2))
        .helped(rules)
        .at(rules[0].text);
  };
  EXPECT_TRUE(helps("int wide;\n" + columns));
  EXPECT_FALSE(helps("for (i) for (j) s += a[j] + b[i];\n"));
}

TEST(Learn, ARefusalHelpedIfAnAcceptedChildDidWhatWasAccepted) {
  History run;
  run.child(0, {}, "int a;\n", accepted(1, 1)).child(1, {{0}}, "int a, heap;\n", accepted(1, 1));
  run.child(2, {{0}}, "int a, stack;\n", Rejection{Stage::run, RejectionCode::crashed, "", {}});
  const std::string heap = "vla\n+heap\n", stack = "vla\n+stack\n";
  const std::map<std::string, bool> expected{{heap, true}, {stack, false}};
  EXPECT_EQ(run.helped({shown(RuleKind::refusal, heap), shown(RuleKind::refusal, stack)}), expected);
}

TEST(Learn, GivesLinesThatCanBeReadAndTheSameOnesAgain) {
  History run;
  run.child(0, {}, "int a;\n", accepted(1, 1)).child(1, {{0}}, "int \xff\x01;\n", accepted(2, 2));
  const auto rules = run.rules();
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(run.rules(), rules);
  EXPECT_EQ(rules_from(to_lines(rules), "test").value(), rules);
}

}  // namespace
}  // namespace kernelsmith
