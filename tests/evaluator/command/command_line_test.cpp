#include "command_line.hpp"

#include "testing.hpp"

namespace kernelsmith {
namespace {

using Command = std::vector<std::string>;

TEST(CommandLine, PlaceholdersAreFilledInWhereverTheyStand) {
  const Command command = {"sh", "{candidate}", "--out={answer}", "{candidate}:{candidate}", "{other}"};
  EXPECT_EQ(fill_in(command, {"/c/a.py", "/a/x.json"}),
            (Command{"sh", "/c/a.py", "--out=/a/x.json", "/c/a.py:/c/a.py", "{other}"}));
}

TEST(CommandLine, AProgramIsFoundByNameOrPath) {
  EXPECT_TRUE(find_program({"sh", "{candidate}", "{answer}"}).value().ends_with("/bin/sh"));
  EXPECT_EQ(find_program({"/usr/bin/env", "{candidate}", "{answer}"}).value(), "/usr/bin/env");
}

TEST(CommandLine, WhatCannotWorkIsRefused) {
  EXPECT_EQ(find_program({"sh", "{candidate}"}).error().code, ErrorCode::refused);
  EXPECT_EQ(find_program({"sh", "{answer}"}).error().code, ErrorCode::refused);
  EXPECT_EQ(find_program({"./run.sh", "{candidate}", "{answer}"}).error().code, ErrorCode::refused);
  const auto missing = find_program({"no-such-program", "{candidate}", "{answer}"});
  EXPECT_EQ(missing.error().code, ErrorCode::tool_missing);
  EXPECT_EQ(missing.error().where, "no-such-program");
}

}  // namespace
}  // namespace kernelsmith
