#include <string>

#include <gmock/gmock.h>

#include <kernelsmith/code/edit.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

std::string edit(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

std::variant<Source, EditFault> applied(const Source& source, const std::string& reply) {
  return apply_edits(source, parse_edits(reply).value());
}

std::string text_after(const std::string& text, const std::string& reply) {
  const auto outcome = applied(cpp(text), reply);
  const auto* fault = std::get_if<EditFault>(&outcome);
  return fault ? "FAULT " + fault->detail : std::string(std::get<Source>(outcome).main_text());
}

TEST(Edits, ApplyOneAfterAnother) {
  EXPECT_EQ(text_after("a\nb\nc\n", edit("b\n", "x\ny\n") + "prose\n" + edit("y\nc\n", "z\n")), "a\nx\nz\n");
}

TEST(Edits, AreFoundInTheParentFirst) {
  EXPECT_EQ(text_after("a;\nsync();\nb;\n", edit("a;\n", "a;\nsync();\n") + edit("sync();\n", "wait();\n")),
            "a;\nsync();\nwait();\nb;\n")
      << "what another edit adds is not searched";
  EXPECT_EQ(text_after("a\nb\n", edit("a\n", "b\n") + edit("b\n", "c\n")), "b\nc\n");
  EXPECT_EQ(text_after("a\nb\n", edit("b\n", "c\n") + edit("a\n", "b\n")), "b\nc\n");
  EXPECT_EQ(text_after("a\nb\n", edit("c\n", "d\n") + edit("a\n", "c\n")), "d\nb\n")
      << "what the parent lacks, in the result";
}

TEST(Edits, CountOnceWhereTheyAreTheSame) {
  EXPECT_EQ(text_after("a\nb\n", edit("a\n", "a\nx\n") + edit("a\n", "a\nx\n")), "a\nx\nb\n");
}

TEST(Edits, MayShareTheLinesAroundWhatTheyChange) {
  EXPECT_EQ(text_after("a\nb\nc\n", edit("a\nb\n", "x\nb\n") + edit("b\nc\n", "b\nz\n")), "x\nb\nz\n");
  EXPECT_EQ(text_after("a\nb\n", edit("b\n", "y\nb\n") + edit("a\n", "a\nx\n")), "a\nx\ny\nb\n")
      << "each beside its own line";
  EXPECT_EQ(text_after("a\nb", edit("b\n", "b\nc\n")), "a\nb\nc") << "an open end";
  EXPECT_EQ(text_after("a\nb\n", edit("a\n", "a\n") + edit("a\n", "x\n")), "x\nb\n");
}

TEST(Edits, ThatChangeTheSameLinesAreAConflict) {
  const auto outcome = applied(cpp("a\nb\nc\n"), edit("b\nc\n", "x\n") + edit("a\nb\n", "y\n"));
  const auto& fault = std::get<EditFault>(outcome);
  EXPECT_EQ(fault.kind, EditFault::Kind::conflict);
  EXPECT_EQ(fault.edit, 1u);
  EXPECT_EQ(fault.detail, "edit 2 (`a`) changes the same lines as edit 1 (`b`), at kernel.cpp:2");
  for (const std::string& reply :
       {edit("b\n", "x\n") + edit("b\n", "y\n"), edit("b\n", "b\nx\n") + edit("b\n", "b\ny\n"),
        edit("b\n", "b\nx\n") + edit("b\n", "y\n"), edit("a\nb\n", "a\nx\nb\n") + edit("a\nb\n", "y\n")})
    EXPECT_THAT(text_after("a\nb\nc\n", reply), HasSubstr("changes the same lines")) << reply;
}

TEST(Edits, ADoubledDividerIsNoCode) {
  const std::string head = "<<<<<<< SEARCH\na\n=======\n", tail = ">>>>>>> REPLACE\n";
  EXPECT_EQ(text_after("a\nb\n", head + "=======\nx\n" + tail), "x\nb\n");
  EXPECT_EQ(text_after("a\nb\n", head + "x\n=======\n" + tail), "x\nb\n");
  EXPECT_EQ(text_after("a\nb\n", head + "======= \n" + tail), "b\n");
  EXPECT_EQ(text_after("a\nb\n", head + "x\nTitle\n=====\n" + tail), "x\nTitle\n=====\nb\n");
}

TEST(Edits, DeleteAndKeepAnOpenEnd) {
  EXPECT_EQ(text_after("a\nb\nc", edit("b\n", "")), "a\nc");
  EXPECT_EQ(text_after("a\nb", edit("b\n", "c\n")), "a\nc");
  EXPECT_EQ(text_after("a\n\nb\n", edit("a\n\n", "a\n")), "a\nb\n");
}

TEST(Edits, MatchWholeLinesOnly) { EXPECT_EQ(text_after("ax\nx\n", edit("x\n", "y\n")), "ax\ny\n"); }

TEST(Edits, KeepTheFilesLineEnds) {
  EXPECT_EQ(text_after("a\r\nb\r\n", edit("a\n", "x\ny\n")), "x\r\ny\r\nb\r\n");
  EXPECT_EQ(text_after("a\nb\n", "<<<<<<< SEARCH\r\na\r\n=======\r\nx\r\n>>>>>>> REPLACE\r\n"), "x\nb\n");
}

TEST(Edits, SayWhichDoesNotMatch) {
  const auto outcome = applied(cpp("a\nb\n"), edit("a\n", "x\n") + edit("  \n  q = 1;\n", "r\n"));
  const auto& fault = std::get<EditFault>(outcome);
  EXPECT_EQ(fault.kind, EditFault::Kind::unmatched);
  EXPECT_EQ(fault.edit, 1u);
  EXPECT_EQ(fault.detail, "edit 2 (`q = 1;`) occurs nowhere in the source");
}

TEST(Edits, SayWhichIsAmbiguous) {
  const Source source = Source::create({{"a.cpp", "x\n"}, {"b.cpp", "y\nx\n"}}).value();
  const auto outcome = applied(source, edit("x\n", "z\n"));
  const auto& fault = std::get<EditFault>(outcome);
  EXPECT_EQ(fault.kind, EditFault::Kind::ambiguous);
  EXPECT_THAT(fault.detail, HasSubstr("2 times in the source, first at a.cpp:1 and b.cpp:2"));
}

TEST(Edits, AreNotAppliedForHours) {
  std::string text, reply;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + "\n";
  for (int i = 0; i < 10'000; ++i) reply += edit(std::to_string(i) + "\n", "x" + std::to_string(i) + "\n");
  const auto outcome = applied(cpp(text), reply);
  ASSERT_TRUE(std::holds_alternative<EditFault>(outcome));
  EXPECT_EQ(std::get<EditFault>(outcome).kind, EditFault::Kind::too_many);
  EXPECT_THAT(text_after(text, reply.substr(0, 50 * edit("1\n", "x1\n").size())), HasSubstr("x10\n"));
}

TEST(Edits, RefuseAnEmptySearch) {
  EXPECT_THAT(text_after("a\n", edit("", "x\n")), HasSubstr("empty SEARCH"));
}

TEST(Edits, MatchWithoutBlanksAtLineEnds) {
  EXPECT_EQ(text_after("a;  \nb;\nc;\n", edit("a;\nb;\t \n", "x;\n")), "x;\nc;\n");
  EXPECT_EQ(text_after("a;\na;  \n", edit("a;\n", "x;\n")), "x;\na;  \n") << "an exact match comes first";
  EXPECT_THAT(text_after("a; \na;  \n", edit("a;\n", "x;\n")), HasSubstr("occurs 2 times"));
  EXPECT_THAT(text_after("  \nb;\n", edit("\n", "x;\n")), HasSubstr("occurs nowhere")) << "nothing to go by";
}

TEST(Edits, MatchAtAnotherIndentation) {
  const std::string text = "if (x) {\n    for (;;) {\n        a;\n\n    }\n}\n";
  EXPECT_EQ(text_after(text, edit("for (;;) {\n    a;\n\n}\n", "for (;;) {\n    b;\n\n}\nc;\n")),
            "if (x) {\n    for (;;) {\n        b;\n\n    }\n    c;\n}\n");
  EXPECT_EQ(text_after(text, edit("        for (;;) {\n            a;\n", "        do {\n            a;\n")),
            "if (x) {\n    do {\n        a;\n\n    }\n}\n");
  EXPECT_EQ(text_after("\tif (x)\n\t\ta;\n", edit("if (x)\n\ta;\n", "b;\n")), "\tb;\n");
  EXPECT_EQ(text_after("\ta;\n", edit("    a;\n", "    b;\n    \tc;\n")), "\tb;\n\t\tc;\n")
      << "tabs for blanks";
  EXPECT_EQ(text_after("    a;\n", edit("  a;\n", "b;\n  c;\n")), "  b;\n    c;\n");
}

TEST(Edits, AreRefusedWhereTheIndentationDoesNotTell) {
  EXPECT_THAT(text_after("  a;\n    a;\n", edit("a;\n", "b;\n")), HasSubstr("occurs 2 times"));
  EXPECT_THAT(text_after("if (x)\n  a;\n", edit("  if (x)\n  a;\n", "b;\n")), HasSubstr("occurs nowhere"))
      << "no uniform shift";
  EXPECT_THAT(text_after("a;\n", edit("    a;\n", "b;\n")), HasSubstr("cannot be indented to match"));
}

TEST(Edits, TakeMarkersInOtherForms) {
  const std::string tail = "a\n=======\nb\n>>>>>>> REPLACE\n";
  for (const char* begin : {"<<<<<<< SEARCH:", "<<<<<<< search", "<<<<<<<SEARCH", "  <<<<<<<<< Search :",
                            "<<<<<<< SEARCH kernel.cpp", "<<<<<<< SEARCH: `src/kernel.cpp`"})
    EXPECT_EQ(text_after("a\n", begin + std::string("\n") + tail), "b\n") << begin;
  const std::string head = "<<<<<<< SEARCH\na\n=======\n";
  for (const char* end :
       {"b\n>>>>>>> replace", "b\n>>>>>>> REPLACE:", "b >>>>>>> REPLACE", "b>>>>>>>REPLACE",
        "b>>>>>>> REPLACE```", "b\n>>>>>>> REPLACE kernel.cpp", "b\n>>>>>>> REPLACE  (done)"})
    EXPECT_EQ(text_after("a\n", head + end + "\n"), "b\n") << end;
  EXPECT_EQ(text_after("a\n", head + "b>>>>>>> REPLACE<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE"),
            "c\n");
  EXPECT_EQ(text_after("a\n", head + "x<<1;\n>>>>>>> REPLACEMENT\nb\n>>>>>>> REPLACE"),
            "x<<1;\n>>>>>>> REPLACEMENT\nb\n");
}

TEST(Edits, AreForTheFileThatTheyName) {
  const Source source = Source::create({{"a.cpp", "x\n"}, {"b.cpp", "x\n"}}).value();
  const auto child = applied(source, "<<<<<<< SEARCH b.cpp\nx\n=======\ny\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(std::holds_alternative<Source>(child));
  EXPECT_EQ(std::get<Source>(child).files()[1].text, "y\n");
  const auto other = applied(source, "<<<<<<< SEARCH c.cpp\nx\n=======\ny\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(std::holds_alternative<EditFault>(other));
  EXPECT_EQ(std::get<EditFault>(other).kind, EditFault::Kind::no_file);
  EXPECT_THAT(std::get<EditFault>(other).detail, HasSubstr("edit 1 (`x`) is for c.cpp"));
}

TEST(Edits, NameABrokenEdit) {
  const std::string whole = edit("a\n", "b\n");
  const auto fault = [&](const std::string& reply) {
    const auto edits = parse_edits(whole + reply);
    return edits ? "" : edits.error().where + ": " + edits.error().message;
  };
  EXPECT_EQ(fault("<<<<<<< SEARCH\na\n"), "line 6: edit 2 is without its =======");
  EXPECT_EQ(fault("<<<<<<< SEARCH\na\n=======\nb\n"), "line 6: edit 2 is without its >>>>>>> REPLACE");
  EXPECT_EQ(fault("<<<<<<< SEARCH\na\n=======\n" + whole), "line 6: edit 2 is without its >>>>>>> REPLACE");
  EXPECT_EQ(fault("<<<<<<< SEARCH int a;\n=======\nb\n>>>>>>> REPLACE\n"),
            "line 6: edit 2 has `int a;` on the line of its <<<<<<< SEARCH, which is no file's name");
  EXPECT_EQ(fault("<<<<<<< SEARCH\na\n=======\nf<g<int>>>>>>>>> REPLACE\n"),
            "line 6: edit 2 is without its >>>>>>> REPLACE")
      << "whose signs they are is not clear";

  EXPECT_EQ(parse_edits("x\n<<<<<<< SEARCH\na\n").error().where, "line 2");
  EXPECT_EQ(parse_edits("<<<<<<< SEARCH\na\n=======\nb\n").error().code, ErrorCode::bad_input);
  EXPECT_FALSE(parse_edits("<<<<<<< SEARCH\na\n" + edit("b\n", "c\n")));
  EXPECT_FALSE(holds_edits("a << b\n"));
}

TEST(WithFile, ReplacesOneFile) {
  EXPECT_EQ(with_file(cpp("a"), "kernel.cpp", "b").value().main_text(), "b");
  EXPECT_EQ(with_file(cpp("a"), "other.cpp", "b").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace kernelsmith
