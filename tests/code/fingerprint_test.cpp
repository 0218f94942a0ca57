#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/code/fingerprint.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void expect_same(Source (*make)(std::string), const Pairs& pairs) {
  for (const auto& [a, b] : pairs)
    EXPECT_EQ(fingerprint(make(a)), fingerprint(make(b))) << a << "\n---\n" << b;
}
void expect_different(Source (*make)(std::string), const Pairs& pairs) {
  for (const auto& [a, b] : pairs)
    EXPECT_NE(fingerprint(make(a)), fingerprint(make(b))) << a << "\n---\n" << b;
}

TEST(Fingerprint, SeesThroughSpacingAndComments) {
  expect_same(cpp, {{"int a = b + c;", "int  a=b+c ;\n"},
                    {"int a; // one", "/* two */ int a;"},
                    {"int a = 1;  // @tune 1 2\n", "int a = 1;  // @tune 1 2  \n"},
                    {"#define A 1\nint a;\r\n", "#define A 1 // one\n\n\nint a;\n"}});
  expect_same(python,
              {{"a = [1,\n  2]\n", "a = [1, 2]  # two\n\n"}, {"if a:\n  b\n", "# c\nif a:\n  # d\n  b"}});
}

TEST(Fingerprint, KeepsWhatMeansSomethingInCpp) {
  expect_different(
      cpp,
      {
          {"int a;", "int b;"},
          {"a + +b", "a ++b"},
          {"ab", "a b"},
          {"x = \"a b\";", "x = \"a  b\";"},
          {"R\"(//a)\"", "R\"(//b)\""},
          {"\"a\"_s", "\"a\" _s"},
          {"a<:b", "a< :b"},
          {"#define A\nint a;", "#define A int a;"},
          {"#define F(x)", "#define F (x)"},
          {"#define S(x) #x\nS(a+b)", "#define S(x) #x\nS(a + b)"},
          {"#include <a//b>", "#include <a//c>"},
          {"int a;\n#if 1", "int a; #if 1"},
          {"fo\\\no", "fo o"},
          {"// a \\\nint b;\nint c;", "// a\nint b;\nint c;"},
          {"int a = __LINE__;", "\nint a = __LINE__;"},
          {"int a = __builtin_source_location();", "\nint a = __builtin_source_location();"},
          {"#define P(a, b) a##b\nint a = P(__LI, NE__);", "#define P(a, b) a##b\n\nint a = P(__LI, NE__);"},
          {"#define P(a, b) a%:%:b\nint a = P(__LI, NE__);",
           "#define P(a, b) a%:%:b\n\nint a = P(__LI, NE__);"},
          {"a<::b>", "a<: :b>"},
          {"\"a\n//b", "\"a\n//c"},
          {"// a ?"
           "?/\nint b;",
           "// a\nint b;"},
          {"int a = 1; // @tune 1 2", "int a = 1; // @tune 1 3"},
          {"// EVOLVE-BLOCK-START\na\n// EVOLVE-BLOCK-END\n", "a"},
      });
}

TEST(Fingerprint, KeepsWhatMeansSomethingInPython) {
  expect_different(python, {
                               {"if a:\n  b\n  c", "if a:\n  b\nc"},
                               {"a\nb", "a b"},
                               {"a = '''x\n# y'''", "a = '''x\n# z'''"},
                               {"f\"{d[\"k#1\"]}\"", "f\"{d[\"k#2\"]}\""},
                               {"f'{{ {d['k#1']}'", "f'{{ {d['k#2']}'"},
                               {"# a\rb = 1", "# a\rb = 2"},
                               {"if a:\n  b\n\\\n  c", "if a:\n  b\n  c"},
                               {"# coding: latin-1\na", "# coding: utf-8\na"},
                           });
}

TEST(Fingerprint, SeesThroughDocstrings) {
  expect_same(python, {
                          {"\"\"\"one\"\"\"\nimport a\n", "import a\n"},
                          {"def f():\n  'one'\n  return 1\n", "def f():\n  # two\n  return 1\n"},
                          {"def f():\n  'one'  # a\n\n  # b\n  'two' 'three'\n  return 1\n",
                           "def f():\n  return 1\n"},
                      });
}

TEST(Fingerprint, KeepsStringsThatMeanSomething) {
  expect_different(python,
                   {
                       {"a = 'one'\nb", "a = 'two'\nb"},
                       {"def f():\n  f'{g()}'\n  return 1\n", "def f():\n  return 1\n"},
                       {"def f():\n  'one'\n", "def f():\n"},
                       {"def f():\n  'one'\na = 1\n", "def f():\na = 1\n"},
                       {"f(\n'one'\n)\n", "f(\n)\n"},
                       {"def f():\n  'one'\n  return f.__doc__\n", "def f():\n  'two'\n  return f.__doc__\n"},
                   });
}

TEST(Fingerprint, TakesUnknownLanguagesByteForByte) {
  EXPECT_NE(fingerprint(one_file("k.f90", "a = b")), fingerprint(one_file("k.f90", "a  = b")));
}

TEST(Fingerprint, CoversPathsAndTheBordersOfFiles) {
  const auto two = [](const char* a, const char* b) {
    return fingerprint(Source::create({{"a.cpp", a}, {"b.cpp", b}}).value());
  };
  EXPECT_NE(two("int a; int b;", ""), two("int a;", "int b;"));
  EXPECT_NE(fingerprint(one_file("a.cpp", "x")), fingerprint(one_file("b.cpp", "x")));
  EXPECT_NE(fingerprint(one_file("a.cpp", "x")), fingerprint(one_file("a.cu", "x")));
}

}  // namespace
}  // namespace kernelsmith
