#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <kernelsmith/code/lexer.hpp>

namespace kernelsmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(std::string_view text, Language language) {
  std::vector<std::string> result;
  for (const Token& token : tokenize(text, language)) result.emplace_back(token.in(text));
  return result;
}

std::vector<TokenKind> kinds(std::string_view text, Language language) {
  std::vector<TokenKind> result;
  for (const Token& token : tokenize(text, language)) result.push_back(token.kind);
  return result;
}

TEST(Lexer, KnowsLanguagesByExtension) {
  EXPECT_EQ(language_of("a/kernel.CPP"), Language::cpp);
  EXPECT_EQ(language_of("kernel.cu"), Language::cuda);
  EXPECT_EQ(language_of("kernel.py"), Language::python);
  EXPECT_EQ(language_of("kernel.cpp.txt"), Language::other);
  EXPECT_EQ(language_of("Makefile"), Language::other);
}

TEST(Lexer, TakesTheLongestOperator) {
  EXPECT_THAT(texts("a+++b<<=c->*d", Language::cpp),
              ElementsAre("a", "++", "+", "b", "<<=", "c", "->*", "d"));
  EXPECT_THAT(texts("k<<<g,b>>>(x)", Language::cuda),
              ElementsAre("k", "<<<", "g", ",", "b", ">>>", "(", "x", ")"));
  EXPECT_THAT(texts("a//b**c:=d", Language::python), ElementsAre("a", "//", "b", "**", "c", ":=", "d", ""));
}

TEST(Lexer, ReadsNumbers) {
  EXPECT_THAT(texts("1'000 0x1p-3f .5e+2 1.f", Language::cpp),
              ElementsAre("1'000", "0x1p-3f", ".5e+2", "1.f"));
}

TEST(Lexer, ReadsStrings) {
  EXPECT_THAT(texts(R"(u8"a\"b"_s L'\'' ""sv)", Language::cpp),
              ElementsAre(R"(u8"a\"b"_s)", R"(L'\'')", "\"\"sv"));
  const std::string raw = "R\"x(a)\" // \n)x\" + fooR\"y\"";
  EXPECT_THAT(texts(raw, Language::cpp), ElementsAre("R\"x(a)\" // \n)x\"", "+", "fooR", "\"y\""));
  EXPECT_THAT(texts("x = rb'\\'#' + '''a\n# b'''", Language::python),
              ElementsAre("x", "=", "rb'\\'#'", "+", "'''a\n# b'''", ""));
}

TEST(Lexer, MarksWhatItCannotBeSureAbout) {
  EXPECT_THAT(kinds("\"open\nx", Language::cpp), ElementsAre(TokenKind::unknown, TokenKind::identifier));
  EXPECT_THAT(kinds("R\"(open", Language::cpp), ElementsAre(TokenKind::unknown));
  EXPECT_THAT(kinds("/* open", Language::cpp), ElementsAre(TokenKind::unknown));
  EXPECT_THAT(kinds("fo\\\no", Language::cpp),
              ElementsAre(TokenKind::identifier, TokenKind::unknown, TokenKind::identifier));
  EXPECT_EQ(kinds("f\"{x[\"a#b\"]}\"", Language::python).front(), TokenKind::unknown);
  EXPECT_EQ(kinds("f\"{{ {x:{w}} }}\"", Language::python).front(), TokenKind::string);
}

TEST(Lexer, KeepsCommentsApart) {
  EXPECT_THAT(texts("a // b \\\n c\nd /* e\n */ f", Language::cpp),
              ElementsAre("a", "// b \\\n c", "d", "/* e\n */", "f"));
  const auto tokens = tokenize("a # b\n", Language::python);
  EXPECT_EQ(tokens[1].kind, TokenKind::comment);
  EXPECT_EQ(without_comments(tokens).size(), tokens.size() - 1);
}

TEST(Lexer, BoundsDirectives) {
  const std::string text = "#define A(x) \\\n  x\nint a; #b";
  const auto tokens = tokenize(text, Language::cpp);
  EXPECT_EQ(tokens[0].kind, TokenKind::directive);
  EXPECT_EQ(tokens[6].in(text), "x");
  EXPECT_EQ(tokens[6].line, 2u);
  EXPECT_TRUE(tokens[6].in_directive);
  EXPECT_EQ(tokens[7].kind, TokenKind::line_end);
  EXPECT_FALSE(tokens[8].in_directive);
  EXPECT_EQ(tokens[11].kind, TokenKind::operation);
  EXPECT_THAT(texts("#include <a//b.h> // c", Language::cpp),
              ElementsAre("#", "include", "<a//b.h>", "// c", ""));
}

TEST(Lexer, SeesPythonsLinesAndIndentation) {
  EXPECT_THAT(kinds("if a:\n\n  # c\n  b(1,\n 2)\n", Language::python),
              ElementsAre(TokenKind::identifier, TokenKind::identifier, TokenKind::operation,
                          TokenKind::line_end, TokenKind::comment, TokenKind::indent, TokenKind::identifier,
                          TokenKind::operation, TokenKind::number, TokenKind::operation, TokenKind::number,
                          TokenKind::operation, TokenKind::line_end));
}

TEST(Lexer, CountsDepthAndLines) {
  const std::string text = "f(\n[a])";
  const auto tokens = tokenize(text, Language::cpp);
  EXPECT_EQ(tokens[1].depth, 0u);
  EXPECT_EQ(tokens[3].depth, 2u);
  EXPECT_EQ(tokens[3].line, 2u);
  EXPECT_EQ(tokens[5].depth, 0u);
}

TEST(Lexer, FindsCalls) {
  const std::string text = "if (f(x)) g /*c*/ (y); k<<<1, 2>>>(z); h;";
  const auto tokens = tokenize(text, Language::cuda);
  std::vector<std::string> names;
  for (const Call& call : find_calls(text, tokens)) names.emplace_back(tokens[call.token].in(text));
  EXPECT_THAT(names, ElementsAre("f", "g", "k"));
}

TEST(Lexer, TakesApostrophesOfOtherLanguages) {
  EXPECT_THAT(texts("it's \"a b\" -- 2", Language::other),
              ElementsAre("it", "'", "s", "\"a b\"", "-", "-", "2"));
  EXPECT_THAT(texts("", Language::cpp), IsEmpty());
}

}  // namespace
}  // namespace kernelsmith
