#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/code/knob_setting.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

const std::string kBoth = "int a = 8; // @tune 8 16\nint b = x; // @tune x y\n";

TEST(KnobSetting, HoldsListsAndPoint) {
  const auto setting = knob_setting(cpp("int a = 16; // @tune 8 16\nf(y); // @tune x y\n"));
  ASSERT_TRUE(setting);
  EXPECT_EQ(setting->knobs, (std::vector<KnobList>{{"a", {"8", "16"}}, {"f", {"x", "y"}}}));
  EXPECT_EQ(setting->point, (KnobPoint{1, 1}));
}

TEST(KnobSetting, OtherValuesAreTheSameStructure) {
  const auto one = knob_setting(cpp(kBoth));
  const auto other = knob_setting(cpp("int a = 16; // @tune 8 16\nint b=y; // @tune x y\n// a remark\n"));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->structure, other->structure);
  EXPECT_NE(one->point, other->point);
}

TEST(KnobSetting, AnyOtherDifferenceIsAnotherStructure) {
  const auto structure = knob_setting(cpp(kBoth))->structure;
  for (const char* other : {"int a = 8; // @tune 8 16\nint b = x; // @tune x y z\n",
                            "int a = 8; // @tune 8 16\nint c = x; // @tune x y\n",
                            "int a = 8; // @tune 8 16\nint b = x; // @tune x y\nint c = 1;\n",
                            "int a = 8; // @tune 8 16\nint b = x;\n"})
    EXPECT_NE(knob_setting(cpp(other))->structure, structure) << other;
}

TEST(KnobSetting, ValuesOfAnyFormAreMasked) {
  EXPECT_EQ(knob_setting(cpp("int a = 8; // @tune 8 -4"))->structure,
            knob_setting(cpp("int a = -4; // @tune 8 -4"))->structure);
  EXPECT_EQ(knob_setting(cpp("#define A 8 // @tune 8 1024"))->structure,
            knob_setting(cpp("#define A 1024 // @tune 8 1024"))->structure);
}

TEST(KnobSetting, WithoutKnobsOrWithABrokenOneThereIsNone) {
  EXPECT_FALSE(knob_setting(cpp("int a = 8;")));
  EXPECT_FALSE(knob_setting(cpp("int a = 8; // @tune 16")));
  EXPECT_FALSE(knob_setting(Source()));
}

}  // namespace
}  // namespace kernelsmith
