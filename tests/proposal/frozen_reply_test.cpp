// Replies without markers: the whole file is told from what goes into a block, and its frozen text is
// compared.
#include <string>

#include <gmock/gmock.h>

#include "replies.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

std::string in_python(const std::string& block) {
  return "import numpy as np\n\nLIMIT = 5\n\n# EVOLVE-BLOCK-START\n" + block +
         "# EVOLVE-BLOCK-END\n\nif __name__ == \"__main__\":\n    print(f(LIMIT))\n";
}
const std::string kOld = "def f(n):\n    return n\n";
const std::string kNew = "def f(n):\n    return n + 0\n";
const std::string kHead = "import numpy as np\n\nLIMIT = 5\n";
const std::string kTail = "if __name__ == \"__main__\":\n    print(f(LIMIT))\n";

std::string of_python(const std::string& text) {
  return outcome(fenced(text, "python"), python(in_python(kOld)));
}

TEST(FrozenReply, IsCutOutOfTheWholeFile) {
  EXPECT_EQ(of_python(kHead + "\n" + kNew + "\n\n" + kTail), in_python(kNew));
  EXPECT_EQ(of_python("import  numpy as np\nLIMIT=5\n" + kNew + kTail), in_python(kNew)) << "blanks";
  EXPECT_EQ(of_python(kNew), in_python(kNew)) << "the block alone";
  EXPECT_THAT(outcome(fenced(kHead + "\n\n" + kOld + kTail), python(in_python("\n" + kOld + "\n"))),
              HasSubstr("unchanged"));
}

TEST(FrozenReply, MayHaveOtherBlanksWhateverTheyAre) {
  for (const char* blank : {"\f", "\v", " \t"}) {
    std::string reply = in_python(kNew);
    reply.replace(reply.find("\n\n"), 2, "\n" + std::string(blank) + "\n");
    EXPECT_EQ(of_python(reply), in_python(kNew)) << "in the reply";
    std::string parent = in_python(kOld);
    parent.replace(parent.find("\n\n"), 2, "\n" + std::string(blank) + "\n");
    EXPECT_THAT(outcome(fenced(in_python(kNew), "python"), python(parent)), HasSubstr(kNew)) << "in the seed";
  }
}

TEST(FrozenReply, MarksOfByteOrderWithinATextAreNoCrash) {
  std::string parent = in_python(kOld);
  parent.insert(parent.find("LIMIT"), "\xef\xbb\xbf");
  EXPECT_FALSE(outcome(fenced(in_python(kNew), "python"), python(parent)).empty());
  std::string reply = in_python(kNew);
  reply.insert(reply.find("LIMIT"), "\xef\xbb\xbf");
  EXPECT_FALSE(of_python(reply).empty());
}

TEST(FrozenReply, MayLackTheFilesBeginningOrEnd) {
  EXPECT_EQ(of_python(kHead + "\n\n" + kNew), in_python(kNew));
  EXPECT_EQ(of_python(kNew + "\n" + kTail), in_python(kNew));
  EXPECT_EQ(of_python("# EVOLVE-BLOCK-START\n" + kNew + "# EVOLVE-BLOCK-END\n\n" + kTail), in_python(kNew));
}

TEST(FrozenReply, MayBeRepeatedInABlockWhereThatDoesNoHarm) {
  for (const std::string line :
       {"import numpy as np\n", "from math import pi\n", "@jit\n", "    return n\n"}) {
    const auto file = [&](const std::string& block) {
      return line + "def g(n):\n" + line + "\n# EVOLVE-BLOCK-START\n" + (line == "@jit\n" ? line : "") +
             block + "# EVOLVE-BLOCK-END\n\n" + kTail;
    };
    const std::string block = line + kNew;
    EXPECT_THAT(outcome(fenced(block + kTail, "python"), python(file(kOld))), HasSubstr(kNew)) << line;
  }
}

TEST(FrozenReply, MayHaveACommentInItsPlace) {
  const Source parent = cpp(marked("old;\n"));
  EXPECT_EQ(
      outcome(fenced("// ... (unchanged)\n\n" + kStart + "new;\n" + kEnd + "/* the rest as before */\n"),
              parent),
      marked("new;\n"));
  EXPECT_THAT(outcome(fenced("// faster\n#define head\n" + kStart + "new;\n" + kEnd), parent),
              HasSubstr("edit_frozen"));
  EXPECT_EQ(of_python("# as before\n# EVOLVE-BLOCK-START\n" + kNew + "# EVOLVE-BLOCK-END\n# ...\n"),
            in_python(kNew));
}

TEST(FrozenReply, IsRefusedByTheLineThatIsChanged) {
  const std::string head = "import numpy as np\n\nLIMIT = 500\n";
  for (const std::string& reply :
       {head + kNew + kTail, head + kNew, "LIMIT = 500\n" + kNew, "LIMIT=500\n" + kNew + kTail})
    EXPECT_THAT(of_python(reply), HasSubstr("and changes or leaves out the frozen line `LIMIT = 5`"))
        << reply;
  EXPECT_THAT(of_python(kHead + kNew + "if __name__ == \"__main__\":\n    print(f(500))\n"),
              HasSubstr("frozen line `print(f(LIMIT))`"));
  EXPECT_THAT(
      of_python("import numpy as np\nimport os\n\nLIMIT = 5\n" + kNew + kTail),
      HasSubstr("edit_frozen: the reply defines LIMIT, which is frozen, and adds to the frozen text"));
  EXPECT_THAT(outcome(fenced("LIMIT = 500\n# EVOLVE-BLOCK-START\nx\n# EVOLVE-BLOCK-END\n", "python"),
                      python("LIMIT = 5\n# EVOLVE-BLOCK-START\ny\n# EVOLVE-BLOCK-END\n")),
              HasSubstr("the frozen line `LIMIT = 5` is `LIMIT = 500` in the reply"));
}

TEST(FrozenReply, IsNotSeenInABlockThatOnlyLooksAlike) {
  const auto file = [](const std::string& block) {
    return "#include <cmath>\n#include \"task.hpp\"\n\nvoid f(float* x, int n) {\n  " + kStart + block +
           "  " + kEnd + "  return;\n}\n";
  };
  const Source parent = cpp(file("  x[0] = 1;\n"));
  const std::string with_return = "  if (n == 0) {\n    return;\n  }\n";
  EXPECT_EQ(outcome(fenced(with_return), parent), file(with_return)) << "ends like the file by chance";
  const std::string braces = "  for (int i = 0; i < n; ++i) {\n    x[i] = 1;\n  }\n";
  EXPECT_EQ(outcome(fenced(braces), parent), file(braces));
  const std::string include = "#include <cmath>\n  x[0] = 2;\n";
  EXPECT_EQ(outcome(fenced(include), parent), file(include)) << "an include twice does no harm";
  EXPECT_THAT(
      outcome(fenced("void f(float* x, long n) {\n  x[0] = 2;\n  return;\n}\n"), parent),
      HasSubstr(
          "edit_frozen: the reply defines f, which is frozen, and changes or leaves out the frozen line "
          "`void f(float* x, int n) {`"));
  EXPECT_THAT(
      outcome(fenced("#include <cmath>\n#include \"task.hpp\"\nvoid f(float* x, int n) {\n  x[0] = 2;\n}\n"),
              parent),
      HasSubstr("edit_frozen"))
      << "the file's end is changed";
}

TEST(FrozenReply, NamesOfTheBlocksMayChange) {
  const auto file = [](const std::string& block) {
    return "void f(int) {}\nconstexpr int kLimit = 5;\n" + kStart + block + kEnd;
  };
  const Source parent = cpp(file("void f(float* x) { *x = 1; }\n"));
  const std::string fresh = "constexpr int kTile = 8;\nvoid f(float* x) { *x = 1 + kTile; }\n";
  EXPECT_EQ(outcome(fenced(fresh), parent), file(fresh));
  EXPECT_THAT(outcome(fenced("constexpr int kLimit = 500;\n" + fresh), parent),
              HasSubstr("frozen line `constexpr int kLimit = 5;`"));
}

TEST(FrozenReply, PartsSeveralBlocks) {
  const auto file = [](const std::string& a, const std::string& b) {
    return "int head();\n" + kStart + a + kEnd + "int middle = 1;\n\n" + kStart + b + kEnd + "int tail();\n";
  };
  const Source parent = cpp(file("a\n", "b\n"));
  EXPECT_EQ(outcome(fenced("int head();\na2\nint middle = 1;\nb2\nint tail();\n"), parent),
            file("a2\n", "b2\n"));
  EXPECT_THAT(outcome(fenced("int head();\na2\nint middle = 2;\nb2\nint tail();\n"), parent),
              HasSubstr("edit_frozen: the reply is the whole file and changes or leaves out the frozen line "
                        "`int middle = 1;`"));
  EXPECT_THAT(outcome(fenced("a2\nb2\n"), parent), HasSubstr("no_code: the reply leaves out the markers"));
  EXPECT_THAT(outcome(fenced("int head();\na2\nint middle = 1;\nint middle = 1;\nb2\nint tail();\n"), parent),
              HasSubstr("no_code: the reply leaves out the markers"))
      << "two places";
}

TEST(FrozenReply, MayLackAByteOrderMark) {
  const auto file = [](const std::string& block) { return "\xef\xbb\xbfhead();\n" + kStart + block + kEnd; };
  EXPECT_EQ(outcome(fenced("head();\n" + kStart + "new\n" + kEnd), cpp(file("old\n"))), file("new\n"));
  EXPECT_EQ(outcome(fenced("head();\nnew\n"), cpp(file("old\n"))), file("new\n"));
}

}  // namespace
}  // namespace kernelsmith
