#include <cstdlib>

#include <gtest/gtest.h>

#include <kernelsmith/core/secret.hpp>

namespace kernelsmith {
namespace {

TEST(Secret, RedactsEveryOccurrence) {
  const Secret key("sk-abcd1");
  EXPECT_EQ(key.redact("bad key sk-abcd1, I said sk-abcd1sk-abcd1"), "bad key [key], I said [key][key]");
  EXPECT_EQ(key.redact("sk-abcd, SK-ABCD1"), "sk-abcd, SK-ABCD1");
  EXPECT_EQ(Secret().redact("nothing to hide"), "nothing to hide");
}

TEST(Secret, FindsALongKeyInAnotherCaseAndWithBytesBetween) {
  const Secret key("sk-AbCd0123456789xY");
  EXPECT_EQ(key.redact("a sk-abcd0123456789xy b"), "a [key] b");
  EXPECT_EQ(key.redact("a sk-AbCd01234\t5678\n9xY b"), "a [key] b");
  EXPECT_EQ(key.redact("a sk-AbCd01234\xE2\x80\x8B"
                       "56789xY b"),
            "a [key] b");
  EXPECT_EQ(key.redact("sk-AbCd0123456789x"), "sk-AbCd0123456789x");
  EXPECT_EQ(key.redact("ssk-sk-AbCd0123456789xYY"), "ssk-[key]Y");
  EXPECT_TRUE(key.stands_in("https://gateway/sk-AbCd0123456789xY/v1"));
  EXPECT_FALSE(key.stands_in("https://gateway/v1"));
}

TEST(Secret, APlaceholderSpoilsNoProgram) {
  EXPECT_EQ(Secret("EMPTY").redact("if (state == EMPTY) x();"), "if (state == EMPTY) x();");
  EXPECT_FALSE(Secret("x").stands_in("x"));
  EXPECT_EQ(Secret("placeholder").redact("std::placeholders::_1"), "std::placeholders::_1");
  EXPECT_EQ(Secret("abcdefghijklmnopqrst").redact("abcdefghijklmnopqrst"), "[key]");
}

TEST(Secret, ExpandsVariables) {
  setenv("KS_TEST_KEY", "abc", 1);
  unsetenv("KS_TEST_NO_KEY");
  EXPECT_EQ(expand_variables("x${KS_TEST_KEY}y$z")->reveal(), "xabcy$z");
  EXPECT_EQ(expand_variables("${KS_TEST_NO_KEY}").error().code, ErrorCode::not_found);
  EXPECT_NE(expand_variables("${KS_TEST_NO_KEY}").error().message.find("KS_TEST_NO_KEY"), std::string::npos);
  EXPECT_EQ(expand_variables("${KS_TEST_KEY").error().code, ErrorCode::bad_input);
  const Error no_name = expand_variables("${sk-abcde}").error();  // a key where a name belongs
  EXPECT_EQ(no_name.code, ErrorCode::bad_input);
  EXPECT_EQ(describe(no_name).find("sk-abcde"), std::string::npos);
}

}  // namespace
}  // namespace kernelsmith
