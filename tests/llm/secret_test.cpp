#include <cstdlib>

#include <gtest/gtest.h>

#include <kernelsmith/llm/secret.hpp>

namespace kernelsmith {
namespace {

TEST(Secret, RedactsEveryOccurrence) {
  const Secret key("sk-abc");
  EXPECT_EQ(key.redact("bad key sk-abc, I said sk-abcsk-abc"), "bad key [key], I said [key][key]");
  EXPECT_EQ(Secret().redact("nothing to hide"), "nothing to hide");
}

TEST(Secret, ExpandsVariables) {
  setenv("KS_TEST_KEY", "abc", 1);
  unsetenv("KS_TEST_NO_KEY");
  EXPECT_EQ(expand_variables("x${KS_TEST_KEY}y$z")->reveal(), "xabcy$z");
  EXPECT_EQ(expand_variables("${KS_TEST_NO_KEY}").error().code, ErrorCode::not_found);
  EXPECT_NE(expand_variables("${KS_TEST_NO_KEY}").error().message.find("KS_TEST_NO_KEY"), std::string::npos);
  EXPECT_EQ(expand_variables("${KS_TEST_KEY").error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace kernelsmith
