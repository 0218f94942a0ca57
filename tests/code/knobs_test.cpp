#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/knobs.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::ElementsAre;

// A source with one knob; any other gives an error as the knob's name.
Knob only_knob(const Source& source) {
  auto knobs = find_knobs(source);
  if (knobs && knobs->size() == 1) return knobs->front();
  Knob none;
  none.name = knobs ? std::to_string(knobs->size()) + " knobs" : describe(knobs.error());
  none.values = {none.name};
  return none;
}

TEST(Knobs, AreReadInEveryLanguage) {
  const Knob tile = only_knob(cpp("\nconstexpr int kTile = 64;  // @tune 8 16 64\n"));
  EXPECT_EQ(tile.line, 2u);
  EXPECT_EQ(tile.name, "kTile");
  EXPECT_EQ(tile.value(), "64");
  EXPECT_THAT(tile.values, ElementsAre("8", "16", "64"));

  EXPECT_EQ(only_knob(python("def f(\n  BLOCK: tl.constexpr = 128,  # @tune 64 128\n")).name, "BLOCK");
  EXPECT_EQ(only_knob(cpp("#define TILE 8 /* @tune 8 16 */\n")).name, "TILE");
  EXPECT_EQ(only_knob(one_file("k.ml", "let tile = 8 (* @tune 8 16 *)\n")).value(), "8");
  EXPECT_EQ(only_knob(one_file("k.f90", "tile = 8 ! @tune 8 16\n")).name, "tile");
  EXPECT_EQ(only_knob(one_file("k.jl", "@inline tile = 8 # @tune 8 16\n")).name, "tile");
}

TEST(Knobs, TakeSignsFloatsAndNames) {
  EXPECT_EQ(only_knob(cpp("int a = -1; // @tune -1 0 +2")).value(), "-1");
  EXPECT_EQ(only_knob(cpp("int f() { return -1; } // @tune -1 1")).value(), "-1");
  EXPECT_EQ(only_knob(cpp("int a = b -1; // @tune 1 2")).value(), "1");
  EXPECT_EQ(only_knob(cpp("float a = 1.5e-3f; // @tune 1.5e-3f .5f")).value(), "1.5e-3f");
  EXPECT_EQ(only_knob(cpp("constexpr bool kPack = true; // @tune true false")).value(), "true");
  EXPECT_EQ(only_knob(cpp("auto l = Layout::row; // @tune row column")).value(), "row");
  EXPECT_EQ(only_knob(python("mode = 'a' # @tune 'a' \"b\"")).value(), "'a'");
}

TEST(Knobs, IgnoreStringsAndProse) {
  EXPECT_TRUE(find_knobs(cpp("auto s = \"64 // @tune 1 2\";")).value().empty());
  EXPECT_TRUE(find_knobs(cpp("// Every @tune comment lists values.\nint x;")).value().empty());
}

TEST(Knobs, NameTheLineOfAnError) {
  const auto error = [](const std::string& text) { return find_knobs(cpp("\n" + text)).error(); };
  for (const char* text :
       {"int a = 3; // @tune 1 2", "// @tune 1 2", "int a = 3; // @tune", "int a = 3; // @tune 3 3",
        "int a = 3; // @tune 3 a+b", "int a = 3; // try @tune 3 4"}) {
    EXPECT_EQ(error(text).code, ErrorCode::bad_input) << text;
    EXPECT_EQ(error(text).where, "kernel.cpp:2") << text;
  }
}

TEST(Knobs, LieInsideBlocks) {
  const std::string block = "// EVOLVE-BLOCK-START\nint a = 1; // @tune 1 2\n// EVOLVE-BLOCK-END\n";
  EXPECT_EQ(find_knobs(cpp(block)).value().size(), 1u);
  EXPECT_EQ(find_knobs(cpp(block + "int b = 1; // @tune 1 2\n")).error().where, "kernel.cpp:4");
}

TEST(NearKnobs, AreToldWithWhatWasMeant) {
  for (const auto& [written, meant] :
       std::vector<std::pair<std::string, std::string>>{{"@tunes 1 4", "@tune 1 4"},
                                                        {"@tuned 1 4", "@tune 1 4"},
                                                        {"@Tune 1 4", "@tune 1 4"},
                                                        {"@ tune 1 4", "@tune 1 4"},
                                                        {"@tune: 1 4", "@tune 1 4"},
                                                        {"@tune(1, 4)", "@tune 1 4"},
                                                        {"@tune=[1,4]", "@tune 1 4"},
                                                        {"@tune1 4", "@tune 1 4"},
                                                        {"@TUNABLE -1 4", "@tune -1 4"},
                                                        {"@tunes", "@tune and the values to try"}}) {
    for (const Source& source :
         {cpp("\nint a = 1; // " + written), cpp("\nint a = 1; /* " + written + " */"),
          python("\na = 1  # " + written), one_file("k.f90", "\na = 1 ! " + written)}) {
      EXPECT_TRUE(find_knobs(source).value().empty()) << written;
      EXPECT_THAT(find_near_knobs(source), ElementsAre(NearKnob{0, 2, written, meant}))
          << source.files().front().path;
    }
  }
  const Source names = cpp("constexpr Exp kExp = library;  // @tunes library polynomial\n");
  EXPECT_EQ(describe(find_near_knobs(names).at(0), "kernel.cpp"),
            "kernel.cpp:1: `@tunes library polynomial` makes no knob; `@tune library polynomial` would");
  EXPECT_EQ(find_near_knobs(cpp("// @tunes 1 4\nint a = 1;\n")).size(), 1u);
}

TEST(NearKnobs, AreNoKnobsNorProse) {
  for (const char* text :
       {"int a = 1; // @tune 1 4", "int a = 1; // @tuned by hand", "// Every @tuned constant.",
        "int a = 1; // me@tunes.example 1 4", "auto s = \"@tunes 1 4\";", "int a = 1; // @tune_range 1 4",
        "int a = 1; // tunes 1 4"})
    EXPECT_TRUE(find_near_knobs(cpp(text)).empty()) << text;
  const std::string block = "// EVOLVE-BLOCK-START\nint a = 1;\n// EVOLVE-BLOCK-END\n";
  EXPECT_TRUE(find_near_knobs(cpp(block + "int b = 1; // @tunes 1 2\n")).empty()) << "no knob may lie there";
  EXPECT_TRUE(find_near_knobs(cpp("// EVOLVE-BLOCK-END\nint b = 1; // @tunes 1 2\n")).empty());
}

TEST(Knobs, AreDescribed) {
  const Source source = cpp("\nconstexpr int kTile = 64;  // @tune 8 16 64\nf(2); // @tune 2 3\n");
  const auto knobs = find_knobs(source).value();
  EXPECT_EQ(describe(knobs.at(0), "kernel.cpp"), "knob kTile (kernel.cpp:2) is 64 of 8 16 64");
  EXPECT_THAT(describe(knobs.at(1), "kernel.cpp"), testing::HasSubstr("(kernel.cpp:3) is 2 of 2 3"));
}

TEST(Knobs, SpanAProductOfPoints) {
  EXPECT_EQ(points_of({}), 1u);
  EXPECT_EQ(points_of(find_knobs(cpp("int a = 1; // @tune 1 2 4\nint b = x; // @tune x y\n")).value()), 6u);
  Knob wide;
  wide.values.assign(1 << 16, "1");
  EXPECT_EQ(points_of(std::vector<Knob>(5, wide)), UINT64_MAX);
}

TEST(WithKnobs, SetsEachKnob) {
  const std::string block =
      "// EVOLVE-BLOCK-START\nint a = 1; // @tune 1 200\nint b = x; // @tune x y\n// EVOLVE-BLOCK-END\n";
  const std::vector<std::size_t> choice{1, 1};
  const Source child = with_knobs(cpp(block), choice).value();
  EXPECT_NE(child.main_text().find("int a = 200; // @tune 1 200\nint b = y;"), std::string::npos);
  EXPECT_TRUE(check_frozen(cpp(block), child));
}

TEST(WithKnobs, KeepsASignFromFusing) {
  const Source source = cpp("int a = x -8; // @tune 8 -4");
  const std::vector<std::size_t> choice{1};
  EXPECT_EQ(with_knobs(source, choice).value().main_text(), "int a = x - -4; // @tune 8 -4");
}

TEST(WithKnobs, RefusesWrongChoices) {
  const Source source = cpp("int a = 1; // @tune 1 2");
  EXPECT_EQ(with_knobs(source, std::vector<std::size_t>{}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(with_knobs(source, std::vector<std::size_t>{2}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith
