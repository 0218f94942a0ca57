// YAML that a person would write, and that is read as it was.
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith {
namespace {

TEST(YamlWriter, WritesWhatAPersonWouldWrite) {
  YamlWriter out;
  out.put("name", "softmax_cpu");
  out.put("ratio", 0.1);
  out.put("edges", std::vector<double>{1, 2.5});
  out.map("budget", [](YamlWriter& budget) {
    budget.put("seconds", 60);
    budget.comment("of wall time");
  });
  out.maps("axes", std::vector<std::string>{"a", "b"},
           [](YamlWriter& axis, const std::string& name) { axis.put("name", name); });
  EXPECT_EQ(out.finish(), R"(name: softmax_cpu
ratio: 0.1
edges: [1, 2.5]
budget:
  seconds: 60  # of wall time
axes:
  - name: a
  - name: b
)");
}

TEST(YamlWriter, EveryTextReadsBack) {
  const std::vector<std::string> texts{"",     "null",         "~",      "true", "5",    " blank ",
                                       "a: b", "# no",         "- x",    "'",    "\"",   "line\nline\n",
                                       "\t",   "\x01",         "&a",     "*a",   "!tag", "[x",
                                       "{y",   "\xe2\x84\xa2", "back\\", "%",    "@",    "a #b"};
  YamlWriter out;
  out.put("texts", texts);
  for (std::size_t i = 0; i < texts.size(); ++i) out.put("t" + std::to_string(i), texts[i]);
  const std::string document = out.finish();
  std::vector<std::string> list, values(texts.size());
  const Status status = read_yaml(document, "f", [&](YamlMap& in) {
    in.required("texts", list);
    for (std::size_t i = 0; i < texts.size(); ++i) in.required("t" + std::to_string(i), values[i]);
  });
  ASSERT_TRUE(status) << describe(status.error()) << "\n" << document;
  EXPECT_EQ(list, texts);
  EXPECT_EQ(values, texts);
}

TEST(YamlWriter, EveryNumberReadsBack) {
  const std::vector<double> numbers{0, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e21};
  const std::map<std::string, std::int64_t> sizes{{"rows", std::numeric_limits<std::int64_t>::min()}};
  YamlWriter out;
  out.put("numbers", numbers);
  out.put("high", std::numeric_limits<std::uint64_t>::max());
  out.put("flag", true);
  out.put("sizes", sizes);
  std::vector<double> read;
  std::uint64_t high = 0;
  bool flag = false;
  std::map<std::string, std::int64_t> read_sizes;
  const Status status = read_yaml(out.finish(), "f", [&](YamlMap& in) {
    in.required("numbers", read);
    in.required("high", high);
    in.required("flag", flag);
    in.required("sizes", read_sizes);
  });
  ASSERT_TRUE(status) << describe(status.error());
  EXPECT_EQ(read, numbers);
  EXPECT_EQ(high, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(flag);
  EXPECT_EQ(read_sizes, sizes);
}

TEST(YamlWriter, TakesFiniteNumbersOnly) {
  YamlWriter out;
  EXPECT_THROW(out.put("x", std::numeric_limits<double>::infinity()), std::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith
