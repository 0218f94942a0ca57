#include <string>

#include <gmock/gmock.h>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/proposal/extract.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

const std::string kStart = "// EVOLVE-BLOCK-START\n";
const std::string kEnd = "// EVOLVE-BLOCK-END\n";

std::string marked(const std::string& block) { return "head();\n" + kStart + block + kEnd + "tail();\n"; }
std::string fenced(const std::string& text, const std::string& info = "cpp") {
  return "```" + info + "\n" + text + "```\n";
}

// The child's first text, or the refusal.
std::string outcome(const std::string& reply, const Source& parent, ReplyForm form = ReplyForm::either) {
  const auto result = extract(reply, parent, form);
  if (const auto* refusal = std::get_if<Refusal>(&result)) {
    return std::string(name_of(refusal->code)) + ": " + refusal->detail;
  }
  return std::string(std::get<Source>(result).main_text());
}

TEST(Extract, TakesAFencedFileWithAnyTag) {
  for (const char* info : {"", "cpp", "c++", "CUDA C++", "kernel.cpp"}) {
    EXPECT_EQ(outcome("Here it is:\n\n" + fenced("new\n", info) + "Enjoy!\n", cpp("old\n")), "new\n") << info;
  }
  EXPECT_EQ(outcome("~~~~\nnew\n```\n~~~~", cpp("old\n")), "new\n```\n");
}

TEST(Extract, KeepsTheParentsLineEnds) {
  EXPECT_EQ(outcome("```\r\na\r\nb\r\n```\r\n", cpp("old\n")), "a\nb\n");
  EXPECT_EQ(outcome("```\na\n```\n", cpp("old\r\n")), "a\r\n");
}

TEST(Extract, TakesAWholeFileWithMarkers) {
  EXPECT_EQ(outcome(fenced(marked("new\n")), cpp(marked("old\n"))), marked("new\n"));
  EXPECT_EQ(
      outcome(fenced("\n  head( );\n" + kStart + "new\n" + kEnd + "tail();" + "\n\n"), cpp(marked("old\n"))),
      marked("new\n"));
}

TEST(Extract, TakesWhatStandsBetweenTheMarkers) {
  const Source parent = cpp(marked("old\n"));
  EXPECT_EQ(outcome(fenced("  new\n"), parent), marked("  new\n"));
  EXPECT_EQ(outcome(fenced(kStart + "new\n" + kEnd), parent), marked("new\n"));
  EXPECT_EQ(outcome("Sure.\n" + kStart + "new\n" + kEnd + "Done.", parent), marked("new\n"));
  EXPECT_EQ(outcome(fenced("head();\n  new\ntail();\n"), parent), marked("  new\n"));
}

TEST(Extract, PrefersTheFenceThatIsTheProgram) {
  const std::string reply = fenced("g++ -O3 -march=native kernel.cpp -o a_rather_long_name\n", "bash") +
                            fenced(marked("new\n")) +
                            fenced("snippet_that_is_long(); // but has no markers at all\n");
  EXPECT_EQ(outcome(reply, cpp(marked("old\n"))), marked("new\n"));
}

TEST(Extract, TakesSeveralFiles) {
  const Source parent = Source::create({{"kernel.cpp", "k\n"}, {"inc/tile.hpp", "t\n"}}).value();
  const auto texts = [&](const std::string& reply) {
    const auto result = extract(reply, parent, ReplyForm::whole);
    const auto* child = std::get_if<Source>(&result);
    return child ? child->files()[0].text + child->files()[1].text : std::get<Refusal>(result).detail;
  };
  EXPECT_EQ(texts("**inc/tile.hpp**\n" + fenced("T\n") + "`kernel.cpp`:\n\n" + fenced("K\n")), "K\nT\n");
  EXPECT_EQ(texts(fenced("T\n", "cpp:inc/tile.hpp")), "k\nT\n");
  EXPECT_EQ(texts(fenced("T\n", "cpp title=\"./inc/tile.hpp\"") + fenced("snippet\n")), "k\nT\n");
}

TEST(Extract, RefusesForeignPaths) {
  for (const char* info : {"cpp ../evil.cpp", "cpp:/etc/passwd", "string.h", "cpp other.cpp"}) {
    EXPECT_THAT(outcome(fenced("x\n", info), cpp("old\n")), HasSubstr("bad_path")) << info;
  }
  EXPECT_THAT(outcome("File: other.cpp\n" + fenced("x\n"), cpp("old\n")), HasSubstr("bad_path"));
}

TEST(Extract, AppliesEdits) {
  const std::string edit = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n";
  EXPECT_EQ(outcome("Try:\n" + fenced(edit, "diff"), cpp(marked("old\n"))), marked("new\n"));
  EXPECT_THAT(outcome(edit, cpp("other\n")), HasSubstr("edit_unmatched: edit 1 (`old`)"));
  EXPECT_THAT(outcome(edit, cpp("old\nold\n")), HasSubstr("edit_ambiguous: edit 1 (`old`)"));
  EXPECT_THAT(outcome(edit, cpp("old\n" + marked("x\n"))), HasSubstr("edit_frozen: kernel.cpp:1"));
  EXPECT_THAT(outcome("<<<<<<< SEARCH\nold\n=======\nne", cpp("old\n")), HasSubstr("truncated"));
  EXPECT_THAT(outcome(edit, cpp("old\n"), ReplyForm::whole), HasSubstr("no_code"));
  EXPECT_THAT(outcome(fenced("new\n"), cpp("old\n"), ReplyForm::edits), HasSubstr("no_code"));
}

TEST(Extract, EnforcesFrozenBytes) {
  const Source parent = cpp(marked("old\n"));
  EXPECT_THAT(outcome(fenced("hack();\n" + kStart + "new\n" + kEnd + "tail();\n"), parent),
              HasSubstr("edit_frozen"));
  EXPECT_THAT(outcome(fenced(marked("a\n") + kStart + "b\n" + kEnd), parent), HasSubstr("edit_frozen"));
  EXPECT_THAT(outcome(fenced("head();\n" + kStart + "new\n"), parent), HasSubstr("edit_frozen"));
  const Source two = Source::create({{"kernel.cpp", marked("old\n")}, {"frozen.hpp", "f\n"}}).value();
  EXPECT_THAT(outcome(fenced("g\n", "cpp frozen.hpp"), two), HasSubstr("edit_frozen"));
}

TEST(Extract, NamesWhatIsWrongWithAReply) {
  EXPECT_THAT(outcome(" \n", cpp("old\n")), HasSubstr("empty_reply"));
  EXPECT_THAT(outcome("Use larger tiles.", cpp("old\n")), HasSubstr("no_code"));
  EXPECT_THAT(outcome("I'm sorry, but no.", cpp("old\n")), HasSubstr("declined"));
  EXPECT_THAT(outcome("```cpp\nint a", cpp("old\n")), HasSubstr("truncated"));
  EXPECT_THAT(outcome(fenced("\n"), cpp("old\n")), HasSubstr("no_code"));
  EXPECT_EQ(std::get<Refusal>(extract(fenced("x\n"), cpp("old\n"), ReplyForm::whole, true)).code,
            RefusalCode::truncated);
  EXPECT_THAT(outcome(fenced("x\n"), Source()), HasSubstr("no_code"));
}

}  // namespace
}  // namespace kernelsmith
