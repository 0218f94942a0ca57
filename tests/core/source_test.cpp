#include <gtest/gtest.h>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {
namespace {

TEST(Source, KeepsItsFilesInOrder) {
  const Source source = Source::create({{"b.cpp", "two"}, {"inc/a.hpp", "one"}}).value();
  EXPECT_EQ(source.main_text(), "two");
  EXPECT_EQ(source.bytes(), 6u);
  ASSERT_NE(source.find("inc/a.hpp"), nullptr);
  EXPECT_EQ(source.find("missing"), nullptr);
}

TEST(Source, RefusesPathsThatLeaveItsFolder) {
  for (const char* path : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\\b", "a\nb"}) {
    const auto source = Source::create({{path, ""}});
    ASSERT_FALSE(source) << path;
    EXPECT_EQ(source.error().code, ErrorCode::bad_input);
  }
}

TEST(Source, RefusesARepeatedPath) { EXPECT_FALSE(Source::create({{"a", "1"}, {"a", "2"}})); }

TEST(Source, DigestCoversPathsAndTexts) {
  const auto digest = [](const char* path, const char* text) {
    return Source::create({{path, text}}).value().digest();
  };
  EXPECT_EQ(digest("a", "x"), digest("a", "x"));
  EXPECT_NE(digest("a", "x"), digest("b", "x"));
  EXPECT_NE(digest("a", "x"), digest("a", "y"));
}

}  // namespace
}  // namespace kernelsmith
