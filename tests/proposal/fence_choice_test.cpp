// Which fenced block of a reply is the program, and where fences begin and end.
#include <string>

#include <gmock/gmock.h>

#include "replies.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

std::string program(const std::string& body, const std::string& helpers = "") {
  return "#include <cmath>\n" + helpers + "void softmax(float* x, int n) {\n" + body + "}\n";
}
const std::string kHelper = "static float half(float x) { return x / 2; }\n";
const std::string kDraft =
    program("  // a draft that is much longer than what comes of it\n  x[0] = half(x[0]);\n", kHelper);
const std::string kFinal = program("  x[0] = half(x[1]);\n", kHelper);
const Source kParent = cpp(program("  x[0] = 0;\n"));

TEST(FenceChoice, TakesTheLastProgramAndNotTheLongest) {
  EXPECT_EQ(outcome(fenced(kDraft) + "Wait, that is wrong.\n" + fenced(kFinal), kParent), kFinal);
  EXPECT_EQ(outcome(fenced(kDraft, "c++") + fenced(kFinal, ""), kParent), kFinal);
  const std::string shorter = program("  x[0] = half(x[0]);\n", kHelper);
  EXPECT_EQ(outcome(fenced(kDraft) + fenced(shorter), kParent), shorter)
      << "most of its lines are no excerpt";
}

TEST(FenceChoice, TakesNoExampleOrPartForTheProgram) {
  for (const std::string& behind :
       {std::string("int main() {\n  float x[4];\n  softmax(x, 4);\n}\n"), std::string("softmax(x, 4);\n"),
        std::string("  x[0] = half(x[1]);\n"), std::string("void softmax(float* x, int n);\n"),
        std::string("void softmax(float* x, int n) {\n"), kHelper})
    EXPECT_EQ(outcome(fenced(kFinal) + "For example:\n" + fenced(behind), kParent), kFinal) << behind;
  EXPECT_EQ(outcome(fenced(kFinal) + fenced("import kernel\nkernel.softmax(x)\n", "python"), kParent),
            kFinal);
  EXPECT_EQ(outcome(fenced("#define TILE 8\n" + kFinal) + "Or:\n" + fenced("#define TILE 64\n"),
                    cpp("#define TILE 16\n" + kFinal)),
            "#define TILE 8\n" + kFinal);
  for (const char* tag : {"text", "txt", "output"})
    EXPECT_EQ(outcome(fenced(kFinal, "") + fenced(kDraft, tag), kParent), kFinal) << tag;
  for (const char* tag : {"python", "python3", "triton", "py", "kernel.py"})
    EXPECT_EQ(outcome(fenced(kFinal) + fenced("def softmax(x):\n    return x\n", tag), kParent), kFinal)
        << tag;
  for (const char* tag : {"c++", "cuda", "cu", "cpp"})
    EXPECT_EQ(outcome(fenced("def f():\n    return 1\n", "py") + fenced("def f() {}\n", tag),
                      python("def f(): pass\n")),
              "def f():\n    return 1\n")
        << tag;
  const std::string in_python = "def softmax(x):\n    return half(x)\n\ndef half(x):\n    return x / 2\n";
  EXPECT_EQ(outcome(fenced(in_python, "python") + fenced("y = softmax(x)\nprint(y)\n", "python"),
                    python("def softmax(x):\n    return x\n")),
            in_python);
  const std::string type = "struct Half {\n  float of(float x);\n};\n", other = "struct Half;\nint g();\n";
  EXPECT_EQ(outcome(fenced(type) + fenced(other), cpp("struct Half {\n};\n")), type);
  const std::string model = "class Model(Base):\n    pass\n";
  EXPECT_EQ(outcome(fenced(model, "python") + fenced("y = Model(x)\n", "python"),
                    python("class Model:\n    x = 1\n")),
            model);
  const std::string member = program("  x[0] = table.half(x[1]);\n");
  EXPECT_EQ(outcome(fenced(kDraft) + fenced(member), kParent), member);
}

TEST(FenceChoice, PrefersWhatHasMarkersOrFrozenText) {
  const auto file = [](const std::string& body) {
    return "#include \"task.hpp\"\nvoid softmax(float* x, int n) {\n  " + kStart + body + "  " + kEnd + "}\n";
  };
  const Source parent = cpp(file("  x[0] = 0;\n"));
  const std::string usage = fenced("float x[4] = {1, 2, 3, 4};\nsoftmax(x, 4);\n");
  EXPECT_EQ(outcome(fenced(file("  x[0] = 1;\n")) + usage, parent), file("  x[0] = 1;\n"));
  EXPECT_EQ(outcome(fenced("  x[0] = 1;\n") + usage, parent), file("  x[0] = 1;\n")) << "the block alone";
  EXPECT_EQ(
      outcome(fenced("#include \"task.hpp\"\nvoid softmax(float* x, int n) {\n  x[0] = 1;\n}\n") + usage,
              parent),
      file("  x[0] = 1;\n"));
  EXPECT_EQ(outcome(fenced(file("  x[0] = 1;\n")) + fenced(file("  x[0] = 2;\n")), parent),
            file("  x[0] = 2;\n"));
  const std::string aside = fenced("snippet(); // has no markers at all\n");
  EXPECT_EQ(outcome(fenced("make\n", "bash") + fenced(file("  x[0] = 1;\n")) + aside, parent),
            file("  x[0] = 1;\n"));
  EXPECT_EQ(
      outcome(fenced("#include \"task.hpp\"\nvoid softmax(float* x, int n) {\n  x[0] = 1;\n}\n") + aside,
              parent),
      file("  x[0] = 1;\n"));
}

TEST(FenceChoice, ABlockMayCallWhatIsFrozen) {
  const std::string usage = fenced("float x[4] = {1, 2, 3, 4};\nsoftmax(x, 4);\n");
  const auto within = [](const std::string& body) {
    return kHelper + "void softmax(float* x, int n) {\n" + kStart + body + kEnd + "}\n";
  };
  const std::string old = "  x[0] = half(x[0]);\n", fresh = "  x[0] = half(x[1]);\n";
  EXPECT_EQ(outcome(fenced(fresh) + usage, cpp(within(old))), within(fresh));
  const auto around = [](const std::string& block) { return kHelper + kStart + block + kEnd; };
  EXPECT_EQ(outcome(fenced(kDraft) + fenced(program(fresh)), cpp(around(program(old)))),
            around(program(fresh)));
}

TEST(FenceChoice, ReadsOnBehindTheParentForAProgramOnly) {
  const std::string parent = kParent.files().front().text;
  EXPECT_EQ(outcome("Now:\n" + fenced(kFinal) + "Before:\n" + fenced(parent), kParent), kFinal);
  EXPECT_THAT(outcome(fenced(parent) + "Run it so:\n" + fenced("softmax(x, 4);\n"), kParent),
              HasSubstr("unchanged"));
  const Source block = cpp(marked("old;\n"));
  EXPECT_EQ(outcome("Old code:\n" + fenced(marked("old;\n")) + "New code:\n" + fenced("new;\n"), block),
            marked("new;\n"));
  for (const std::string& quoted : {std::string("head();\nold;\ntail();\n"), std::string("old;\n")})
    EXPECT_EQ(outcome(fenced("new;\n") + "in place of\n" + fenced(quoted), block), marked("new;\n"))
        << quoted;
  EXPECT_THAT(outcome("It is good:\n" + fenced(marked("old;\n")) + fenced("make\n", "sh"), block),
              HasSubstr("unchanged"));
}

TEST(FenceChoice, RefusesAProgramInPieces) {
  EXPECT_THAT(outcome(fenced(kHelper) + "and\n" + fenced(program("  x[0] = half(x[0]);\n")), kParent),
              HasSubstr("no_code: the program is spread over several code blocks: the last one calls half"));
}

TEST(FenceChoice, IgnoresFileNamesWhereThereIsOneFile) {
  EXPECT_EQ(outcome("`softmax_v2.cpp`:\n" + fenced(kFinal), kParent), kFinal);
  EXPECT_EQ(outcome(fenced(kFinal, "cpp softmax_v2.cpp"), kParent), kFinal);
  EXPECT_EQ(outcome("kernel.cpp\n" + fenced(kFinal) + "baseline.cpp\n" + fenced(kDraft), kParent), kFinal);
  EXPECT_EQ(outcome(fenced("// kernel.cpp\n" + kFinal), kParent), kFinal);
}

TEST(FenceChoice, ChoosesForEachFile) {
  const Source two = Source::create({{"kernel.cpp", program("  x[0] = 0;\n")}, {"tile.hpp", "t\n"}}).value();
  const auto result =
      extract(fenced(kDraft, "cpp kernel.cpp") + fenced("T\n", "cpp tile.hpp") +
                  fenced(kFinal, "cpp kernel.cpp") + fenced("softmax(x, 4);\n", "cpp kernel.cpp"),
              two, ReplyForm::whole);
  ASSERT_TRUE(std::holds_alternative<Source>(result));
  EXPECT_EQ(std::get<Source>(result).files()[0].text, kFinal);
  EXPECT_EQ(std::get<Source>(result).files()[1].text, "T\n");
}

TEST(Fences, MayOpenBehindProseOrInAList) {
  const std::string code = "def f():\n    return 1\n";
  const std::string end = code + "```\n";
  const Source parent = python("old\n");
  for (const char* opening : {"Here it is: ```python\n", "Here it is:```\n", "- ```\n", "* ```\n", "+ ```\n",
                              "1. ```\n", "12) ```\n", "<answer>```\n", "  * ```python\n"})
    EXPECT_EQ(outcome(opening + end, parent), code) << opening;
  EXPECT_EQ(outcome("- ```python\n  def f():\n      return 1\n  ```\n", parent), code)
      << "indented with the item";
  EXPECT_EQ(outcome("   ```python\ndef f():\n    return 1\n   ```\n", parent), code) << "less than its fence";
}

TEST(Fences, MayEndBehindCodeOrBeforeATag) {
  for (const char* end : {"new```\nDone.\n", "new```", "new\n```</answer>\n", "new```  \n"})
    for (const char* opening : {"```cpp\n", "<answer>```cpp\n"})
      EXPECT_EQ(outcome(std::string(opening) + end, cpp("old\n")), "new\n") << opening << end;
  EXPECT_EQ(outcome(fenced("a ```\nb\n"), cpp("old\n")), "a ```\nb\n")
      << "a fence that is closed keeps its text";
  EXPECT_THAT(outcome("```cpp\na `b```c\n", cpp("old\n")), HasSubstr("truncated"));
}

TEST(Fences, ProseThatSpeaksOfThemOpensNone) {
  for (const char* prose : {"I put it into ```cpp\n", "It is fenced by ```\n", "Here: ```x```\n",
                            "Use ```cpp tags\n", "```x``` is the name\n"}) {
    EXPECT_EQ(outcome(prose + fenced("new\n"), cpp("old\n")), "new\n") << prose;
    EXPECT_EQ(outcome(prose + fenced("new\n", ""), cpp("old\n")), "new\n") << prose;
  }
}

TEST(Fences, ThatAreQuotedAreNone) {
  EXPECT_THAT(outcome("> ```cpp\n> new\n> ```\n", cpp("old\n")), HasSubstr("no_code"));
}

TEST(Fences, NeedNoEndBehindAWholeBlock) {
  const Source parent = cpp(marked("old\n"));
  for (const std::string& behind : {std::string(), std::string("tail();\n"), std::string("Done.\n")})
    EXPECT_EQ(outcome("```cpp\nhead();\n" + kStart + "new\n" + kEnd + behind, parent), marked("new\n"))
        << behind;
  EXPECT_THAT(outcome("```cpp\nhead();\n" + kStart + "new\n", parent), HasSubstr("truncated"));
  EXPECT_THAT(outcome("```cpp\nnew\n", parent), HasSubstr("truncated"));
  const auto cut = extract("```cpp\nhead();\n" + kStart + "new\n" + kEnd, parent, ReplyForm::whole, true);
  EXPECT_EQ(std::get<Refusal>(cut).code, RefusalCode::truncated);
}

TEST(Fences, MayFollowAByteOrderMark) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(outcome(mark + fenced("new\n"), cpp("old\n")), "new\n");
  EXPECT_EQ(outcome("So:\n" + mark + "```cpp\n" + mark + "new\n```\n", cpp("old\n")), "new\n");
  EXPECT_EQ(outcome(mark + "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n", cpp("old\n")), "new\n");
}

}  // namespace
}  // namespace kernelsmith
