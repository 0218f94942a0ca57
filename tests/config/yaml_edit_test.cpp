// Documents that somebody wrote, with single values set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/config/yaml_edit.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kTask =
    "name: \"5\"  # a comment\nfiles: {reference: r.py, also: a.py}\ntimed: [{}, {rows: \"2*n\"}]\n";

TEST(YamlEdit, ReplacesAndMakesMappings) {
  const auto changed = yaml_with(kTask, {"torch", "baseline", "module"}, "b.py");
  ASSERT_TRUE(changed) << describe(changed.error());
  EXPECT_EQ(*changed,
            "name: \"5\"\nfiles:\n  reference: r.py\n  also: a.py\ntimed: [{}, {rows: \"2*n\"}]\n"
            "torch:\n  baseline:\n    module: b.py\n");
  const auto again = yaml_with("torch: {baseline: compile}\n", {"torch", "baseline", "module"}, "c.py");
  EXPECT_EQ(again.value(), "torch:\n  baseline:\n    module: c.py\n");
}

TEST(YamlEdit, ATextThatGetsAnItemBecomesAList) {
  EXPECT_EQ(yaml_with_item("files: {also: a.py}\n", {"files", "also"}, "b.py").value(),
            "files:\n  also: [a.py, b.py]\n");
  EXPECT_EQ(yaml_with_item("files: {also: [a.py]}\n", {"files", "also"}, "b.py").value(),
            "files:\n  also: [a.py, b.py]\n");
  EXPECT_EQ(yaml_with_item("files: {}\n", {"files", "also"}, "b.py").value(), "files:\n  also: [b.py]\n");
}

TEST(YamlEdit, WhatIsNoMappingIsRefused) {
  EXPECT_EQ(yaml_with("[1]", {"a"}, "b").error().code, ErrorCode::bad_input);
  EXPECT_EQ(yaml_with("{a", {"a"}, "b").error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace kernelsmith
