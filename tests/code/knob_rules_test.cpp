// The rules of knobs: which points they leave, and what is no rule.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/knobs.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kTwo = "int a = 1;  // @tune 1 2 4\nint b = 2;  // @tune 2 4\n";

KnobRules rules_of(const Source& source) {
  return KnobRules::find(source, find_knobs(source).value()).value();
}

std::string error_of(const std::string& text) {
  const auto knobs = find_knobs(cpp(text));
  return knobs ? "none" : describe(knobs.error());
}

TEST(KnobRules, LeaveThePointsThatKeepThem) {
  const Source source = cpp(kTwo + "// @require a * b <= 8\n// @require a != b or a == 4\n");
  EXPECT_THAT(rules_of(source).points(),
              ElementsAre(KnobPoint{0, 0}, KnobPoint{0, 1}, KnobPoint{1, 1}, KnobPoint{2, 0}));
  EXPECT_EQ(rules_of(source).broken_by(KnobPoint{2, 1}), "a * b <= 8");
  EXPECT_EQ(rules_of(source).broken_by(KnobPoint{1, 0}), "a != b or a == 4");
  EXPECT_EQ(rules_of(source).broken_by(KnobPoint{0, 0}), "");
}

TEST(KnobRules, CompareNamesAndFlags) {
  const Source source = python(
      "order = rows  # @tune rows cols\npack = False  # @tune True False\n"
      "# @require not pack or order == cols\n");
  EXPECT_THAT(rules_of(source).points(), ElementsAre(KnobPoint{0, 1}, KnobPoint{1, 0}, KnobPoint{1, 1}));
}

TEST(KnobRules, TakeARuleWithoutAValueForBroken) {
  EXPECT_THAT(rules_of(cpp("int a = 1;  // @tune 0 1\n// @require 4 % a == 0\n")).points(),
              ElementsAre(KnobPoint{1}));
}

TEST(KnobRules, AreNoRulesInProse) {
  EXPECT_TRUE(rules_of(cpp(kTwo + "// Rules begin with @require and a condition.\n")).empty());
}

TEST(KnobRules, HoldForWhatIsWritten) {
  const Source source = cpp(kTwo + "// @require a * b <= 8\n");
  EXPECT_TRUE(with_knobs(source, KnobPoint{2, 0}));
  EXPECT_THAT(describe(with_knobs(source, KnobPoint{2, 1}).error()),
              HasSubstr("breaks the rule `@require a * b <= 8`"));
}

TEST(KnobRules, NameTheLineOfAnError) {
  EXPECT_THAT(error_of(kTwo + "// @require a * b < 2\n"),
              HasSubstr("break their rule `@require a * b < 2`: a is "));
  EXPECT_THAT(error_of(kTwo + "// @require a * c < 2\n"),
              HasSubstr("kernel.cpp:3: @require: unknown name 'c'"));
  EXPECT_THAT(error_of(kTwo + "// @require a <\n"), HasSubstr("@require: expected a number"));
  EXPECT_THAT(error_of(kTwo + "// @require\n"), HasSubstr("@require: expected a number"));
  EXPECT_THAT(error_of("float a = .5;  // @tune .5 1\n// @require a < 1\n"),
              HasSubstr("the value .5 of a is neither"));
  EXPECT_THAT(error_of("int a = 1;  // @tune 1 2\n{ int a = 1;  // @tune 1 2\n}\n// @require a < 2\n"),
              HasSubstr("more than one knob is named a"));
}

TEST(KnobRules, MakeAnotherProgram) {
  EXPECT_FALSE(fingerprint(cpp(kTwo)) == fingerprint(cpp(kTwo + "// @require a < 4\n")));
}

}  // namespace
}  // namespace kernelsmith
