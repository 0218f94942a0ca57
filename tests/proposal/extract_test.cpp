#include <string>

#include <gmock/gmock.h>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/proposal/extract.hpp>

#include "replies.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

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

TEST(Extract, TakesEachBlockFromAFenceOfItsOwn) {
  const auto block = [](const std::string& text) { return kStart + text + kEnd; };
  const auto file = [&](const std::string& a, const std::string& b) {
    return "head();\n" + block(a) + "middle();\n\n" + block(b) + "tail();\n";
  };
  const Source parent = cpp(file("old\n", "older\n"));
  EXPECT_EQ(outcome("First:\n" + fenced(block("new\n")) + "Then:\n" + fenced("\n" + block("newer\n") + "\n"),
                    parent),
            file("new\n", "newer\n"));
  EXPECT_EQ(
      outcome(fenced("make\n", "sh") + fenced(block("a\n")) + fenced(block("b\n")) + fenced("a\n"), parent),
      file("a\n", "b\n"));
  for (const std::string& unclear :
       {fenced(block("a\n")), fenced(block("a\n")) + fenced(block("b\n")) + fenced(block("c\n")),
        fenced(block("a\n")) + fenced("other();\n" + block("b\n"))})
    EXPECT_THAT(outcome(unclear, parent), HasSubstr("edit_frozen")) << unclear;
  EXPECT_EQ(outcome(fenced(block("a\n")) + fenced(file("new\n", "newer\n")), parent),
            file("new\n", "newer\n"));
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
  EXPECT_EQ(texts("**inc/tile.hpp**\n" + fenced("T\n") + fenced("snippet\n")), "k\nT\n");
}

TEST(Extract, RefusesForeignPathsWhereThereAreSeveralFiles) {
  const Source two = Source::create({{"kernel.cpp", "k\n"}, {"tile.hpp", "t\n"}}).value();
  for (const char* info : {"cpp ../evil.cpp", "cpp:/etc/passwd", "string.h", "cpp other.cpp"}) {
    EXPECT_THAT(outcome(fenced("x\n", info), two), HasSubstr("bad_path")) << info;
    EXPECT_EQ(outcome(fenced("x\n", info), cpp("old\n")), "x\n") << "only one file can be meant: " << info;
  }
  EXPECT_THAT(outcome("File: other.cpp\n" + fenced("x\n"), two), HasSubstr("bad_path"));
  for (const char* line :
       {"</plan>", "Coding...", "\\boxed{", "I use C:\\temp", "and/or", "It does what old.cpp did:"})
    EXPECT_EQ(outcome(std::string(line) + "\n" + fenced("x\n"), two), "x\n") << line;
}

TEST(Extract, AppliesEdits) {
  const std::string edit = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n";
  EXPECT_EQ(outcome("Try:\n" + fenced(edit, "diff"), cpp(marked("old\n"))), marked("new\n"));
  EXPECT_THAT(outcome(edit, cpp("other\n")), HasSubstr("edit_unmatched: edit 1 (`old`)"));
  EXPECT_THAT(outcome(edit, cpp("old\nold\n")), HasSubstr("edit_ambiguous: edit 1 (`old`)"));
  EXPECT_THAT(outcome(edit + "<<<<<<< SEARCH\nold\n=======\nother\n>>>>>>> REPLACE\n", cpp("old\n")),
              HasSubstr("edit_conflict: edit 2 (`old`)"));
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

TEST(Extract, NeverGivesTheParentBack) {
  const Source parent = cpp(marked("old\n"));
  for (const std::string& reply :
       {fenced(marked("old\n")), fenced("old\n"), fenced("old\r\n"), fenced(kStart + "old\n" + kEnd),
        std::string("<<<<<<< SEARCH\nold\n=======\nold\n>>>>>>> REPLACE\n"),
        std::string("<<<<<<< SEARCH\nold\n=======\nx\n>>>>>>> REPLACE\n<<<<<<< "
                    "SEARCH\nx\n=======\nold\n>>>>>>> REPLACE\n")})
    EXPECT_THAT(outcome(reply, parent), HasSubstr("unchanged")) << reply;
  const Source two = Source::create({{"kernel.cpp", "k\n"}, {"tile.hpp", "t\n"}}).value();
  EXPECT_THAT(outcome(fenced("t\n", "cpp tile.hpp"), two), HasSubstr("unchanged"));
}

TEST(Extract, TakesFencesThatAreIndentedOrWrapped) {
  EXPECT_EQ(outcome("1. So:\n\n   ```python\n   def f():\n       return 1\n   ```\n", python("old\n")),
            "def f():\n    return 1\n");
  EXPECT_EQ(outcome("```markdown\n# Answer\n\n```cpp\nnew\n```\n\nDone.\n```\n", cpp("old\n")), "new\n");
  EXPECT_EQ(outcome("````markdown\n```cpp\nnew\n```\n````\n", cpp("old\n")), "new\n");
  EXPECT_EQ(outcome("~~~md\n```cpp\nnew\n```\n~~~\n", cpp("old\n")), "new\n");
  EXPECT_THAT(outcome("```markdown\n```cpp\nnew\n```\n", cpp("old\n")), HasSubstr("truncated"));
  EXPECT_EQ(outcome("```md\nnew\n```\n", one_file("README.md", "old\n")), "new\n");
}

TEST(Extract, TakesAFileNamedInsideItsFence) {
  const Source parent = Source::create({{"kernel.cpp", "k\n"}, {"inc/tile.hpp", "t\n"}}).value();
  for (const char* name : {"// inc/tile.hpp\n", "// File: inc/tile.hpp\n", "// filename: inc/tile.hpp\n",
                           "// Path: inc/tile.hpp\n", "/* inc/tile.hpp */\n", "# inc/tile.hpp\n"}) {
    const auto result = extract(fenced("K\n", "cpp kernel.cpp") + fenced(name + std::string("T\n")), parent,
                                ReplyForm::whole);
    ASSERT_TRUE(std::holds_alternative<Source>(result)) << name;
    EXPECT_EQ(std::get<Source>(result).files()[0].text, "K\n");
    EXPECT_EQ(std::get<Source>(result).files()[1].text, "T\n") << name;
  }
  EXPECT_EQ(outcome(fenced("// kernel.cpp\nnew\n"), cpp("// kernel.cpp\nold\n")), "// kernel.cpp\nnew\n");
  EXPECT_EQ(outcome(fenced("// see other.cpp\nnew\n"), cpp("old\n")), "// see other.cpp\nnew\n");
}

TEST(Extract, TakesNoCommandOrPatchForAProgram) {
  for (const char* info : {"bash", "sh", "shell", "console", "diff", "patch", "json", "yaml"})
    EXPECT_THAT(outcome(fenced("x\n", info), cpp("old\n")),
                HasSubstr("no_code: the reply's fenced code is tagged"));
  EXPECT_EQ(outcome(fenced("x\n", "json"), one_file("a.json", "old\n")), "x\n");
  EXPECT_EQ(outcome(fenced("x\n", "text"), cpp("old\n")), "x\n");
}

TEST(Extract, NamesWhatIsWrongWithAReply) {
  for (const char* reply :
       {"I can't do that.", "I can’t help", "i cannot", "Sorry, no", "I'm unable to", "As an AI model,",
        "I'm sorry, but no.", "I am sorry", "I apologize", "I can not", "I am unable", "I won't",
        "I'm not able", "I am not able", "I must decline", "Unfortunately, I"})
    EXPECT_THAT(outcome(reply, cpp("old\n")), HasSubstr("declined")) << reply;
  EXPECT_THAT(outcome(" \n", cpp("old\n")), HasSubstr("empty_reply"));
  EXPECT_THAT(outcome("Use larger tiles.", cpp("old\n")), HasSubstr("no_code"));
  EXPECT_THAT(outcome("```cpp\nint a", cpp("old\n")), HasSubstr("truncated"));
  EXPECT_THAT(outcome(fenced("\n"), cpp("old\n")), HasSubstr("no_code"));
  EXPECT_EQ(std::get<Refusal>(extract(fenced("x\n"), cpp("old\n"), ReplyForm::whole, true)).code,
            RefusalCode::truncated);
  EXPECT_THAT(outcome(fenced("x\n"), Source()), HasSubstr("no_code"));
}

const std::string kOldKernel = "int f() {\n  return 1;\n}\n", kNewKernel = "int f() {\n  return 2;\n}\n";

TEST(Extract, AStrayFenceBehindAProgramTakesNothingFromIt) {
  for (const char* tail : {"```\n", "```\nGood luck!\n", "\nDone.\n\n```cpp\n", "Build it:\n```bash\nmake\n",
                           "```text\nfaster\n"}) {
    EXPECT_EQ(outcome(fenced(kNewKernel) + tail, cpp(kOldKernel)), kNewKernel) << tail;
    EXPECT_EQ(outcome(fenced(marked("new;\n")) + tail, cpp(marked("old;\n"))), marked("new;\n")) << tail;
  }
  EXPECT_THAT(outcome(fenced(kNewKernel) + "Better still:\n```cpp\nint f() {\n  retu", cpp(kOldKernel)),
              HasSubstr("truncated"));
}

TEST(Extract, AFenceWithoutAnEndHoldsAWholeProgram) {
  for (const char* end : {"", "struct S {\n};\n", "#endif\n"})
    EXPECT_EQ(outcome("Here:\n```cpp\n" + kNewKernel + end, cpp(kOldKernel)), kNewKernel + end);
  EXPECT_EQ(outcome("Here:\n```python\ndef f():\n    return (2)\n", python("def f():\n    return 1\n")),
            "def f():\n    return (2)\n");
  for (const char* broken :
       {"int f() {\n  return 2;\n", "int g() {\n  return 2;\n}\n", "int f() {\n  return 2;\n}\nint h("})
    EXPECT_THAT(outcome("```cpp\n" + std::string(broken), cpp(kOldKernel)), HasSubstr("truncated")) << broken;
  EXPECT_THAT(outcome("```python\ndef f():\n", python("def f():\n    return 1\n")), HasSubstr("truncated"));
}

TEST(Extract, FencesAndTagsAroundAProgramAreNoPartOfIt) {
  for (const std::string& reply :
       {"```cpp\n```cpp\n" + kNewKernel + "```\n", "```cpp\n```cpp\n" + kNewKernel + "```\n```\n",
        "```\n```cpp\n" + kNewKernel + "```\n```\n", "```cpp\ncpp\n" + kNewKernel + "```\n",
        "```\ncpp\n" + kNewKernel + "```\n", "```\nkernel.cpp\n" + kNewKernel + "```\n",
        "```cpp\n// kernel.cpp\n" + kNewKernel + "```\n", "```cpp\n" + kNewKernel + "```cpp\n",
        "```cpp\n" + kNewKernel + "``````\n", "````cpp\n```cpp\n" + kNewKernel + "```\n````\n",
        "```cpp\n" + kNewKernel + "``\n```\n"})
    EXPECT_EQ(outcome(reply, cpp(kOldKernel)), kNewKernel) << reply;
}

TEST(Extract, FencesInADocstringEndNothing) {
  const std::string text =
      "def f():\n    \"\"\"Example:\n\n    ```\n    f()\n    ```\n    \"\"\"\n    return 2\n";
  EXPECT_EQ(outcome(fenced(text, "python"), python("def f():\n    return 1\n")), text);
  const std::string tagged =
      "def f():\n    \"\"\"\n    ```python\n    f()\n    ```\n    \"\"\"\n    return 2\n";
  EXPECT_EQ(outcome("So:\n" + fenced(tagged, "python") + "Done.\n", python("def f():\n    return 1\n")),
            tagged);
  const std::string flush = "\"\"\"\n```\nf()\n```\n\"\"\"\ndef f():\n    return 2\n";
  EXPECT_EQ(outcome(fenced(flush, "python"), python("def f():\n    return 1\n")), flush);
  const std::string odd = "s = '\"\"\"'\n";
  EXPECT_EQ(outcome(fenced(odd, "python"), python("old\n")), odd) << "what only looks like a docstring";
}

TEST(Extract, ReadsCodeThatIsEscapedForHtml) {
  const std::string text = "bool f(int a, int& b) {\n  return a < b && b > 2;\n}\n";
  const std::string escaped = "bool f(int a, int&amp; b) {\n  return a &lt; b &amp;&amp; b &gt; 2;\n}\n";
  EXPECT_EQ(outcome(fenced(escaped), cpp("bool f(int a, int& b) {\n  return a;\n}\n")), text);
  EXPECT_EQ(outcome("<<<<<<< SEARCH\na &lt; b;\n=======\na &gt; b; // &quot;x&quot;\n>>>>>>> REPLACE\n",
                    cpp("a < b;\n")),
            "a > b; // \"x\"\n");
  for (const std::string own :
       {"auto f = [](int& x) { return \"&lt;\"; };\n", "f(a < b ? \"&lt;\" : \"\");\n"})
    EXPECT_EQ(outcome(fenced(own), cpp("old\n")), own) << "what has signs of its own is not escaped";
  EXPECT_EQ(outcome(fenced("f(\"&lt;\");\n"), cpp("f(\"&amp;\");\n")), "f(\"&lt;\");\n")
      << "nor like its parent";
}

TEST(Extract, RefusesWhatIsBeyondEveryProgramsSize) {
  std::string line = "value = 1;  // and a comment that makes the line long\n", text;
  while (text.size() <= (std::size_t{1} << 20)) text += line;
  EXPECT_THAT(outcome(fenced(text), cpp("old\n")), HasSubstr("too_large: the program would have"));
  EXPECT_THAT(outcome("<<<<<<< SEARCH\nold\n=======\n" + text + ">>>>>>> REPLACE\n", cpp("old\n")),
              HasSubstr("too_large: the program would have"));
  EXPECT_EQ(outcome(fenced("b\n" + text.substr(line.size())), cpp("a\n" + text.substr(line.size()))),
            "b\n" + text.substr(line.size()));  // a parent that is larger stands for its children
  EXPECT_THAT(outcome(std::string((std::size_t{4} << 20) + 1, 'x'), cpp("old\n")),
              HasSubstr("too_large: the reply has"));
  std::string fences;
  for (int i = 0; i < 201; ++i) fences += fenced("kernel.cpp\n");
  EXPECT_THAT(outcome(fences, cpp("old\n")), HasSubstr("too_large: the reply has 201 code blocks"));
}

TEST(Extract, AParentWithManyLinesIsReadOnce) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "x;\n";
  EXPECT_EQ(outcome(fenced("y;\n" + text), cpp(text)), "y;\n" + text);
}

}  // namespace
}  // namespace kernelsmith
