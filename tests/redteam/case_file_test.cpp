// The declarations are read strictly: a case that says nothing, or something unknown, must not pass for a
// case.
#include "case_file.hpp"

#include "temporary_folder.hpp"
#include "testing.hpp"

namespace kernelsmith::redteam {
namespace {

Result<Case> parse(const std::string& text, const Places& places = {}) {
  return parse_case("cases/rmsnorm/trick.cpp", text, places);
}

TEST(CaseFile, ReadsAlternatives) {
  const auto read = parse(
      "// redteam: rejected(run, crashed) or neutralised\n// twin: honest\n// tries: something\n\nint x;\n");
  ASSERT_TRUE(read) << describe(read.error());
  ASSERT_EQ(read->must.size(), 2U);
  EXPECT_EQ(describe(read->must[0]), "rejected(run, crashed)");
  EXPECT_EQ(describe(read->must[1]), "neutralised");
  EXPECT_EQ(read->name, "trick");
  EXPECT_EQ(read->task, "rmsnorm");
  EXPECT_FALSE(read->honest());
}

TEST(CaseFile, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {
           "int x;\n",
           "// redteam: neutralised\n// twin: honest\n",
           "// redteam: neutralised\n// tries: has no twin\n",
           "// redteam: honest\n// twin: honest\n// tries: honest with a twin\n",
           "// redteam: honest or neutralised\n// tries: either\n",
           "// redteam: rejected(run)\n// twin: honest\n// tries: no code\n",
           "// redteam: rejected(run, sunk)\n// twin: honest\n// tries: unknown code\n",
           "// redteam: rejected(sea, crashed)\n// twin: honest\n// tries: unknown stage\n",
           "// redteam: refused()\n// twin: honest\n// tries: no word\n",
           "// redteam: neutralised\n// redteam: neutralised\n// twin: honest\n// tries: twice\n",
           "// redteam: neutralised\n// twin: honest\n// tries: x\n// note: unknown key\n",
       })
    EXPECT_FALSE(parse(text)) << text;
}

TEST(CaseFile, PutsThePlacesIn) {
  const auto read = parse("// redteam: neutralised\n// twin: honest\n// tries: x\n\"@A@\" @B@ \"@A@\"\n",
                          {{"A", "/tmp/a"}});
  ASSERT_TRUE(read);
  EXPECT_NE(read->text.find("\"/tmp/a\" @B@ \"/tmp/a\""), std::string::npos);
}

TEST(CaseFile, SplitsIntoFiles) {
  const auto read = parse(
      "// redteam: neutralised\n// twin: honest\n// tries: x\n\n//--- a.cpp\nint a;\n//--- b/c.hpp\nint "
      "c;\n");
  ASSERT_TRUE(read);
  const auto source = source_of(*read, "unused.cpp");
  ASSERT_TRUE(source);
  ASSERT_EQ(source->files().size(), 2U);
  EXPECT_EQ(source->files()[0], (SourceFile{"a.cpp", "int a;\n"}));
  EXPECT_EQ(source->files()[1], (SourceFile{"b/c.hpp", "int c;\n"}));
}

/// A backend's folder of cases, beside the tool that reads them.
class CaseFolder : public testing::Test {
 protected:
  CaseFolder() {
    std::filesystem::create_directories(cases_ / "t");
    std::filesystem::create_symlink(KERNELSMITH_SOURCE_DIR "/tests/redteam/cases.py",
                                    folder_.path() / "cases.py");
  }

  void write(const char* name, const char* text) const { std::ofstream(cases_ / "t" / name) << text; }

  const TemporaryFolder folder_;
  const std::filesystem::path cases_ = folder_.path() / "cpu" / "cases";
};

TEST_F(CaseFolder, WantsEveryTwinToBeThere) {
  write("trick.cpp", "// redteam: neutralised\n// twin: honest\n// tries: x\n");
  EXPECT_FALSE(load_cases(cases_, {}));
  write("honest.cpp", "// redteam: honest\n// tries: nothing\n");
  const auto cases = load_cases(cases_, {}).value();
  EXPECT_EQ(cases.size(), 2U);
}

TEST_F(CaseFolder, PutsPatchesOn) {
  write("honest.cpp", "// redteam: honest\n// tries: nothing\n\nint a;\nint b;\n");
  const char* const declaration = "// redteam: neutralised\n// twin: honest\n// tries: x\n";
  write("trick.cpp.patch", (std::string(declaration) + "\n-int a;\n+int @A@;\n").c_str());
  const auto cases = load_cases(cases_, {{"A", "c"}}).value();
  EXPECT_EQ(cases.back().name, "trick");
  EXPECT_EQ(cases.back().text, std::string(declaration) + "\nint c;\nint b;\n");
  write("trick.cpp.patch", (std::string(declaration) + "\n-int d;\n+int c;\n").c_str());
  EXPECT_FALSE(load_cases(cases_, {}));
}

TEST(CaseFile, ThreeThirdsAreAllCasesAndKeepTasksWhole) {
  const auto all = load_cases(KERNELSMITH_SOURCE_DIR "/tests/redteam/cpu/cases", {}).value();
  std::map<std::string, int> third_with;
  std::size_t cases = 0;
  for (const int which : {0, 1, 2}) {
    for (const Case& one : third_of(all, which)) {
      EXPECT_EQ(third_with.try_emplace(one.task, which).first->second, which) << one.task;
      ++cases;
    }
  }
  EXPECT_EQ(cases, all.size());
}

}  // namespace
}  // namespace kernelsmith::redteam
