#include "http/target.hpp"

#include <gmock/gmock.h>

namespace kernelsmith::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Target, AnEncodedSlashDoesNotPartSegments) {
  const auto target = parse_target("/results/a%2Fb%20c").value();
  EXPECT_THAT(target.segments, ElementsAre("results", "a/b c"));
  EXPECT_EQ(target.path, "/results/a%2Fb%20c");
}

TEST(Target, TheRootHasNoSegmentAndASlashAtTheEndOneMore) {
  EXPECT_THAT(parse_target("/")->segments, ElementsAre());
  EXPECT_THAT(parse_target("/a/")->segments, ElementsAre("a", ""));
  EXPECT_THAT(parse_target("//")->segments, ElementsAre("", ""));
}

TEST(Target, QueriesAreDecodedAndTheLastOfEqualNamesCounts) {
  const auto target = parse_target("/a?x=1&&y=a+b%3D&x=2&flag").value();
  EXPECT_THAT(target.query, ElementsAre(Pair("flag", ""), Pair("x", "2"), Pair("y", "a b=")));
  EXPECT_THAT(target.segments, ElementsAre("a"));
}

TEST(Target, APlusInThePathIsAPlus) { EXPECT_THAT(parse_target("/a+b")->segments, ElementsAre("a+b")); }

TEST(Target, TheAbsoluteFormIsTakenForItsPath) {
  EXPECT_THAT(parse_target("http://host:1/a")->segments, ElementsAre("a"));
  EXPECT_THAT(parse_target("http://host")->segments, ElementsAre());
}

TEST(Target, WhatIsNoPathIsRefused) {
  for (const char* text :
       {"", "*", "a", "https://host/a", "/%", "/%4", "/%zz", "/a%00", "/%0a", "/a?x=%1", "http://h?x"})
    EXPECT_FALSE(parse_target(text)) << text;
}

}  // namespace
}  // namespace kernelsmith::http
