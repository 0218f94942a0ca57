// What a model thinks aloud is no answer, whatever it is wrapped in; what the answer is wrapped in stays.
#include <string>

#include <gmock/gmock.h>

#include "replies.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

const std::string kThought = fenced(marked("a_draft();\n"));
const std::string kAnswer = fenced("new;\n");
const Source kThinkersParent = cpp(marked("old;\n"));

TEST(Reasoning, IsLeftOutInEveryPairOfTags) {
  for (const auto& [open, close] :
       {std::pair("<thought>", "</thought>"), std::pair("<Thinking>", "</Thinking>"),
        std::pair("<THINK>", "</think>"), std::pair("[THINK]", "[/THINK]"),
        std::pair("<|think|>", "<|/think|>"), std::pair("◁think▷", "◁/think▷"),
        std::pair("<|begin_of_thought|>", "<|end_of_thought|>"),
        std::pair("<reasoning_process>", "</reasoning_process>"), std::pair("<plan>", "</plan>"),
        std::pair("<scratchpad>", "</scratchpad>"), std::pair("[ANALYSIS]", "[/ANALYSIS]")}) {
    const std::string draft = std::string(open) + "\nso:\n" + kThought + close + "\n";
    EXPECT_EQ(outcome(draft + kAnswer, kThinkersParent), marked("new;\n")) << open;
    EXPECT_EQ(outcome("Well.\n" + draft + "Here:\n" + kAnswer, kThinkersParent), marked("new;\n")) << open;
    EXPECT_EQ(outcome(std::string(open) + " an open ```cpp\n" + kStart + close + kAnswer, kThinkersParent),
              marked("new;\n"))
        << open;
    EXPECT_EQ(outcome(std::string(open) + "\n```cpp\nopen\n" + close + "\nHere: " + kAnswer, kThinkersParent),
              marked("new;\n"))
        << open;
    EXPECT_EQ(outcome(draft + "<<<<<<< SEARCH\nold;\n=======\nnew;\n>>>>>>> REPLACE\n", kThinkersParent),
              marked("new;\n"))
        << open;
  }
}

TEST(Reasoning, OfThoughtsIsNeverTheAnswer) {
  for (const char* tag : {"thought", "Thinking", "think", "reasoning"}) {
    const std::string open = "<" + std::string(tag) + ">", close = "</" + std::string(tag) + ">";
    EXPECT_THAT(outcome(open + "\n" + kThought + close + "\nSorry, no.\n", kThinkersParent),
                HasSubstr("declined"))
        << tag;
    EXPECT_THAT(outcome(open + "\n" + kThought, kThinkersParent), HasSubstr("truncated")) << tag;
    EXPECT_EQ(outcome("kept open\n" + kThought + close + "\n" + kAnswer, kThinkersParent), marked("new;\n"))
        << tag;
    for (const std::string& kept :
         {std::string("kept open\n"), "said " + close + " and more\n```cpp\nopen;\n"})
      EXPECT_EQ(outcome(kept + close + kAnswer, kThinkersParent), marked("new;\n")) << tag << kept;
    EXPECT_THAT(outcome(open + "\nhm\n" + close + " \n", kThinkersParent), HasSubstr("empty_reply")) << tag;
  }
  for (const std::string close : {"[/THINK]", "◁/think▷"})
    EXPECT_EQ(outcome("kept open\n" + kThought + close + "\n" + kAnswer, kThinkersParent), marked("new;\n"));
  EXPECT_EQ(outcome("<think>a</think>\n<think>b</think>\n" + kAnswer, kThinkersParent), marked("new;\n"));
  const std::string edit = "<<<<<<< SEARCH\nold;\n=======\nnew;\n>>>>>>> REPLACE\n";
  for (const std::string& whole : {kAnswer, edit})
    EXPECT_EQ(outcome(whole + "<think>\nwas that right?", kThinkersParent), marked("new;\n"));
  EXPECT_EQ(outcome("<think>\n<<<<<<< SEARCH\nwrong\n</think>\n" + edit, kThinkersParent), marked("new;\n"));
  EXPECT_EQ(outcome("[Reasoning]\nfaster so\n[Answer]\n" + kAnswer, kThinkersParent), marked("new;\n"))
      << "headings";
}

TEST(Reasoning, IsNotWhatTheAnswerIsWrappedIn) {
  const std::string answer = fenced(marked("new;\n"));
  EXPECT_EQ(outcome("<answer>\n" + answer + "</answer>\n", kThinkersParent), marked("new;\n"));
  EXPECT_EQ(outcome("<answer>\n" + answer + "</answer>\nRun it:\n" + fenced("make\n", "sh"), kThinkersParent),
            marked("new;\n"));
  EXPECT_EQ(outcome("<plan>\n" + kThought + "</plan>\n<answer>\n" + answer + "</answer>\n", kThinkersParent),
            marked("new;\n"));
  EXPECT_EQ(
      outcome("<answer>\n<think>\n" + kThought + "</think>\n" + answer + "</answer>\n", kThinkersParent),
      marked("new;\n"));
  for (const std::string tag : {"answer", "final", "solution", "code"})
    EXPECT_EQ(outcome("<" + tag + ">\n" + answer + "</" + tag + ">\nIn it:\n" + fenced("a_part();\n"),
                      kThinkersParent),
              marked("new;\n"))
        << tag;
  EXPECT_EQ(outcome("<Final_Answer>\n" + kAnswer + "</Final_Answer>\nor:\n" + fenced("make\n", "sh"),
                    kThinkersParent),
            marked("new;\n"));
  EXPECT_EQ(outcome(fenced("x;\n", "sh") + "<details>\n" + answer + "</details>\n", kThinkersParent),
            marked("new;\n"));
  EXPECT_EQ(outcome("<answer>\n" + kStart + "new;\n" + kEnd + "</answer>\n", kThinkersParent),
            marked("new;\n"));
}

TEST(Reasoning, IsNoCode) {
  const std::string code = "template <thought>\n<thought>\nint x;\n</thought>\n[think]\n[/think]\n";
  EXPECT_EQ(outcome(fenced(code), kThinkersParent), marked(code));
  EXPECT_EQ(outcome(fenced("a  // </think>\nnew\n"), kThinkersParent), marked("a  // </think>\nnew\n"));
  EXPECT_EQ(outcome(kStart + "template <thought> struct S;\n" + kEnd, kThinkersParent),
            marked("template <thought> struct S;\n"));
}

TEST(Reasoning, InChannelsLeavesTheFinalMessage) {
  const std::string analysis = "<|channel|>analysis<|message|>Let me see.\n" + kThought;
  EXPECT_EQ(outcome(analysis + "<|end|><|start|>assistant<|channel|>final<|message|>Here:\n" + kAnswer +
                        "<|return|>",
                    kThinkersParent),
            marked("new;\n"));
  EXPECT_EQ(outcome("<|start|>assistant" + analysis + "<|end|>\n" + kAnswer, kThinkersParent),
            marked("new;\n"));
  EXPECT_EQ(outcome("<|channel|>final<|message|>" + kAnswer, kThinkersParent), marked("new;\n"));
  EXPECT_THAT(outcome(analysis, kThinkersParent), HasSubstr("truncated"));
  EXPECT_THAT(outcome(analysis + "<|end|>", kThinkersParent), HasSubstr("empty_reply"));
  EXPECT_EQ(outcome(fenced("auto s = \"<|channel|>\";\n"), kThinkersParent),
            marked("auto s = \"<|channel|>\";\n"));
}

TEST(Reasoning, IsReadOnceInAReplyOfVeryManyTags) {
  std::string tags;
  for (int i = 0; i < 20'000; ++i) tags += "<a" + std::to_string(i) + ">\n[think]\n";
  EXPECT_EQ(outcome(tags + kAnswer, kThinkersParent), marked("new;\n"));
  std::string line;
  for (int i = 0; i < 20'000; ++i) line += "<think></think>";
  EXPECT_EQ(outcome(line + "\n" + kAnswer, kThinkersParent), marked("new;\n"));
}

}  // namespace
}  // namespace kernelsmith
