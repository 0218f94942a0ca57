#include "toolchain/usual_headers.hpp"

#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

TEST(UsualHeaders, AreSortedAndTakenOnce) {
  EXPECT_THAT(leading_usual_headers("// a kernel\n#include <vector>\n\n  #  include <cmath> // exp\n"
                                    "/* more */\n#include \"task.hpp\"\n#include <vector>\nint x;\n"),
              ElementsAre("cmath", "vector"));
}

TEST(UsualHeaders, CheapOnesStandBetweenUnnoticed) {
  EXPECT_THAT(leading_usual_headers("#include <cstdint>\n#include <cmath>\n"), ElementsAre("cmath"));
}

TEST(UsualHeaders, NothingIsTakenFromBehindWhatCouldChangeAMeaning) {
  for (const char* before : {"#define NDEBUG\n", "#pragma GCC target(\"avx2\")\n", "#ifdef X\n", "int x;\n",
                             "#include <mine.hpp>\n", "#include \"mine.hpp\"\n",
                             "// hides the next line \\\n", "/* open", "#include <vector> x\n", "R\"(\n",
                             "#include_next <vector>\n", "#include <vector\n", "#include\n<vector>\n"}) {
    const std::string text = std::string("#include <cmath>\n") + before + "#include <algorithm>\n";
    EXPECT_THAT(leading_usual_headers(text), ElementsAre("cmath")) << before;
  }
}

TEST(UsualHeaders, OneDirectiveALine) {
  EXPECT_THAT(leading_usual_headers("#include <cmath> #include <vector>\n"), IsEmpty());
  EXPECT_THAT(leading_usual_headers("#include <cmath> /* a */ #include <vector>\n"), ElementsAre("cmath"));
  EXPECT_THAT(leading_usual_headers("/* a */ #include <vector>\n"), ElementsAre("vector"));
  EXPECT_THAT(leading_usual_headers(""), IsEmpty());
  EXPECT_THAT(leading_usual_headers("#"), IsEmpty());
  EXPECT_THAT(leading_usual_headers("#include <"), IsEmpty());
  EXPECT_THAT(leading_usual_headers("#include \""), IsEmpty());
}

}  // namespace
}  // namespace kernelsmith::cpu
