#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <kernelsmith/code/blocks.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kTwoBlocks =
    "head\n// EVOLVE-BLOCK-START\none\n// EVOLVE-BLOCK-END\nmiddle\n"
    "  /* EVOLVE-BLOCK-START */\r\ntwo\n  /* EVOLVE-BLOCK-END */\ntail";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Blocks, AreFoundInEveryCommentForm) {
  for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{
           {"//", ""}, {"#", ""}, {"!", ""}, {"--", ""}, {"/*", " */"}, {"<!--", " -->"}, {"(*", " *)"}}) {
    const Source source =
        one_file("f.txt", open + " EVOLVE-BLOCK-START" + close + "\nx\n" + open + "EVOLVE-BLOCK-END" + close);
    const auto blocks = find_blocks(source);
    ASSERT_TRUE(blocks) << open << describe(blocks.error());
    ASSERT_EQ(blocks->size(), 1u) << open;
    EXPECT_EQ(blocks->front().end_line, 3u);
  }
}

TEST(Blocks, GiveAndTakeTheirTexts) {
  EXPECT_THAT(block_texts(cpp(kTwoBlocks)).value(), ElementsAre("one\n", "two\n"));
  const std::vector<std::string> texts{"1\n11", ""};
  const Source child = with_block_texts(cpp(kTwoBlocks), texts).value();
  EXPECT_THAT(block_texts(child).value(), ElementsAre("1\n11\n", ""));
  EXPECT_TRUE(check_frozen(cpp(kTwoBlocks), child));
  EXPECT_EQ(with_block_texts(cpp(kTwoBlocks), std::vector<std::string>{"1"}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Blocks, RefuseTextsThatForgeMarkers) {
  const std::vector<std::string> texts{"// EVOLVE-BLOCK-END\nevil\n// EVOLVE-BLOCK-START\n", ""};
  EXPECT_EQ(with_block_texts(cpp(kTwoBlocks), texts).error().code, ErrorCode::bad_input);
}

TEST(Blocks, NameTheLineOfABrokenMarker) {
  const auto where = [](const std::string& text) { return find_blocks(cpp(text)).error().where; };
  EXPECT_EQ(where("a\n// EVOLVE-BLOCK-START\n"), "kernel.cpp:2");
  EXPECT_EQ(where("a\n\n// EVOLVE-BLOCK-END\n"), "kernel.cpp:3");
  EXPECT_EQ(where("// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-START\n"), "kernel.cpp:2");
  EXPECT_EQ(where("int a; // EVOLVE-BLOCK-START\n"), "kernel.cpp:1");
  EXPECT_EQ(where("/* EVOLVE-BLOCK-START */ int a;\n"), "kernel.cpp:1");
  EXPECT_EQ(where("/* EVOLVE-BLOCK-START\n"), "kernel.cpp:1");
}

TEST(Blocks, LetProseSpeakOfMarkers) {
  EXPECT_TRUE(find_blocks(cpp("// between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END\n")).value().empty());
}

TEST(CheckFrozen, AllowsChangesInsideBlocksOnly) {
  const Source original = cpp(kTwoBlocks);
  EXPECT_TRUE(check_frozen(original, cpp(changed(kTwoBlocks, "two", "2\n2"))));
  const Status moved = check_frozen(original, cpp(changed(kTwoBlocks, "middle", "m1ddle")));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().where, "kernel.cpp:5");
  EXPECT_FALSE(check_frozen(original, cpp(changed(kTwoBlocks, "tail", "tail\n"))));
  EXPECT_FALSE(check_frozen(original, cpp(changed(kTwoBlocks, "START */\r\n", "START */\n"))));
  EXPECT_FALSE(
      check_frozen(original, cpp(changed(kTwoBlocks, "one", "// EVOLVE-BLOCK-END\n// EVOLVE-BLOCK-START"))));
}

TEST(CheckFrozen, ComparesTheFiles) {
  const Source original = Source::create({{"a.cpp", kTwoBlocks}, {"b.hpp", "frozen"}}).value();
  EXPECT_FALSE(check_frozen(original, Source::create({{"a.cpp", kTwoBlocks}}).value()));
  EXPECT_FALSE(check_frozen(original, Source::create({{"b.hpp", "frozen"}, {"a.cpp", kTwoBlocks}}).value()));
  const Status other =
      check_frozen(original, Source::create({{"a.cpp", kTwoBlocks}, {"b.hpp", "thawed"}}).value());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().where, "b.hpp:1");
}

TEST(CheckFrozen, LeavesASourceWithoutMarkersFree) {
  EXPECT_TRUE(check_frozen(cpp("a"), cpp("b")));
  EXPECT_FALSE(check_frozen(cpp("a"), python("a")));
}

TEST(OpenRegions, AreWholeFilesWithoutMarkers) {
  const auto regions = open_regions(cpp("a\nb")).value();
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].end, 3u);
}

}  // namespace
}  // namespace kernelsmith
