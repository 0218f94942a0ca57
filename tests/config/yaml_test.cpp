#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {
namespace {

/// The error of reading `text`, as "WHERE: MESSAGE" and the hint behind a bar; empty if it is fine.
std::string error_of(std::string_view text, const YamlMap::Body& body) {
  const Status status = read_yaml(text, "f.yaml", body);
  if (status) return {};
  EXPECT_EQ(status.error().code, ErrorCode::bad_input);
  const Error& e = status.error();
  return e.where + ": " + e.message + (e.hint.empty() ? "" : " | " + e.hint);
}

void nothing(YamlMap&) {}

TEST(Yaml, AMisspeltKeyIsNamedWhereTheRightOneIsMissing) {
  double input = 0;
  const auto read = [&](YamlMap& in) { in.required("input", input); };
  EXPECT_EQ(error_of("model: a\ninptu: 1\n", read),
            "f.yaml:2: key 'input' is missing, and 'inptu' stands here | did you mean input?");
  EXPECT_EQ(error_of("model: a\n", read), "f.yaml:1: key 'input' is missing");
  EXPECT_EQ(error_of("input: \"4\"\n", read),
            "f.yaml:1: 'input' must be a number, found '4' | write a number without quotation marks");
}

TEST(Yaml, ReadsEveryKindOfValue) {
  std::string name, nested;
  bool flag = false;
  double ratio = 0;
  std::int64_t low = 0;
  std::uint64_t high = 0;
  Dtype dtype = Dtype::u8;
  std::vector<std::string> shape;
  std::vector<double> edges;
  Sizes sizes;
  std::vector<Sizes> timed;
  const Status status =
      read_yaml(R"(
name: softmax_cpu
flag: true
ratio: -2.5e-3
low: -9223372036854775808
high: 18446744073709551615
dtype: f16
shape: [rows, 4]
edges: [0, 0.5]
sizes: {rows: 17}
inner: {text: "5"}
timed: [{}, {rows: 1}]
)",
                "f.yaml", [&](YamlMap& in) {
                  in.required("name", name);
                  in.required("flag", flag);
                  in.required("ratio", ratio);
                  in.required("low", low);
                  in.required("high", high);
                  in.required("dtype", dtype, choices({Dtype::f32, Dtype::f16}));
                  in.required("shape", shape);
                  in.required("edges", edges, {0, 1});
                  in.required("sizes", sizes, {1, 100});
                  in.required_map("inner", [&](YamlMap& inner) { inner.required("text", nested); });
                  in.required_maps("timed", [&](YamlMap& item) {
                    Sizes& shape_sizes = timed.emplace_back();
                    for (const std::string& key : item.keys()) item.required(key, shape_sizes[key]);
                  });
                });
  ASSERT_TRUE(status) << describe(status.error());
  EXPECT_EQ(name, "softmax_cpu");
  EXPECT_TRUE(flag);
  EXPECT_EQ(ratio, -2.5e-3);
  EXPECT_EQ(low, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(high, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(dtype, Dtype::f16);
  EXPECT_EQ(shape, (std::vector<std::string>{"rows", "4"}));
  EXPECT_EQ(edges, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(sizes, (Sizes{{"rows", 17}}));
  EXPECT_EQ(nested, "5");
  EXPECT_EQ(timed, (std::vector<Sizes>{{}, {{"rows", 1}}}));
}

TEST(Yaml, AbsentOptionalsKeepTheirDefaults) {
  int threads = 1;
  std::vector<std::string> flags{"-O3"};
  Dtype dtype = Dtype::f32;
  const auto body = [&](YamlMap& in) {
    in.optional("threads", threads, {1, 64});
    in.optional("flags", flags);
    in.optional("dtype", dtype, choices({Dtype::f32}));
    in.optional_map("declared", [](YamlMap&) { FAIL(); });
    in.optional_maps("tensors", [](YamlMap&) { FAIL(); });
  };
  EXPECT_EQ(error_of("{}", body), "");
  EXPECT_EQ(threads, 1);
  EXPECT_EQ(flags, std::vector<std::string>{"-O3"});
  EXPECT_EQ(error_of("threads: 2\nflags: []", body), "");
  EXPECT_EQ(threads, 2);
  EXPECT_TRUE(flags.empty());
}

TEST(Yaml, UnknownKeysAreRefusedWithTheNearestName) {
  int threads = 0;
  std::string bytes;
  const auto body = [&](YamlMap& in) {
    in.optional("threads", threads);
    in.optional_map("declared", [&](YamlMap& declared) { declared.optional("bytes", bytes); });
  };
  EXPECT_EQ(error_of("threads: 1\nthraeds: 2\n", body),
            "f.yaml:2: unknown key 'thraeds' | did you mean threads?");
  EXPECT_EQ(error_of("declared:\n  bites: 1\n", body),
            "f.yaml:2: unknown key 'declared.bites' | did you mean bytes?");
  EXPECT_EQ(error_of("colour: red", body), "f.yaml:1: unknown key 'colour' | known names: threads, declared");
}

TEST(Yaml, ErrorsNameLineKeyExpectationAndFinding) {
  int threads = 0;
  double ratio = 0;
  bool flag = false;
  std::string name;
  std::vector<double> edges;
  Dtype dtype = Dtype::u8;
  const auto integer = [&](YamlMap& in) { in.required("threads", threads, {1, 64}); };
  const auto number = [&](YamlMap& in) { in.required("ratio", ratio, {.low = 0}); };
  EXPECT_EQ(error_of("\n{}", integer), "f.yaml:2: key 'threads' is missing");
  EXPECT_EQ(
      error_of("threads: four", integer),
      "f.yaml:1: 'threads' must be a whole number from 1 to 64, found 'four' | a number is written with "
      "digits");
  for (const char* wrong :
       {"65", "0", "1.5", "1e1", "'4'", "010", "0x10", "+4", "", "[4]", "99999999999999999999"}) {
    EXPECT_NE(error_of(std::string("threads: ") + wrong, integer), "") << wrong;
  }
  for (const char* wrong : {".nan", "nan", ".inf", "inf", "-1", "1e999", "0x1p3"}) {
    EXPECT_NE(error_of(std::string("ratio: ") + wrong, number), "") << wrong;
  }
  EXPECT_EQ(error_of("flag: yes", [&](YamlMap& in) { in.required("flag", flag); }),
            "f.yaml:1: 'flag' must be true or false, found 'yes' | write true, without quotation marks");
  EXPECT_EQ(error_of("name:", [&](YamlMap& in) { in.required("name", name); }),
            "f.yaml:1: 'name' must be a text, found nothing | write it after the colon; '' is an empty one");
  EXPECT_EQ(error_of("edges:\n - 1\n - {}", [&](YamlMap& in) { in.required("edges", edges); }),
            "f.yaml:3: 'edges[1]' must be a number, found a mapping | write one number");
  EXPECT_EQ(error_of("dtype: fp64",
                     [&](YamlMap& in) {
                       in.required("dtype", dtype, choices({Dtype::f64, Dtype::f16}));
                     }),
            "f.yaml:1: 'dtype' must be one of f64, f16, found 'fp64' | did you mean f64?");
  EXPECT_EQ(error_of("tensors:\n - {name: x}\n - {nam: y}\n",
                     [&](YamlMap& in) {
                       in.required_maps("tensors", [&](YamlMap& t) { t.required("name", name); });
                     }),
            "f.yaml:3: key 'tensors[1].name' is missing, and 'nam' stands here | did you mean name?");
}

TEST(Yaml, AMisspeltKeyIsToldBeforeWhatItsAbsenceMakesWrong) {
  std::string name;
  int threads = 0;
  const auto body = [&](YamlMap& in) {
    in.only({"name", "threads"});
    in.optional("threads", threads);
    if (threads == 0) in.refuse("name", "no threads");
    in.optional("name", name);
  };
  EXPECT_EQ(error_of("name: x\ntraeds: 1\n", body), "f.yaml:2: unknown key 'traeds' | did you mean threads?");
  EXPECT_EQ(error_of("name: x\n", body), "f.yaml:1: no threads");
  EXPECT_THROW(error_of("name: x\n",
                        [&](YamlMap& in) {
                          in.only({"name"});
                          in.optional("threads", threads);
                        }),
               std::logic_error);
}

TEST(Yaml, AValueOfOthersIsToldByItsMeaning) {
  Dtype dtype = Dtype::u8;
  const auto meaning = [](std::string_view word) -> std::optional<std::string_view> {
    return word == "float" ? std::optional<std::string_view>("f32")
           : word == "u32" ? std::optional<std::string_view>("")
           : word == "f31" ? std::optional<std::string_view>("f16")
                           : std::nullopt;
  };
  const auto body = [&](YamlMap& in) {
    in.required("dtype", dtype, choices({Dtype::f64, Dtype::f32}), meaning);
  };
  const std::string expected = "f.yaml:1: 'dtype' must be one of f64, f32, found ";
  EXPECT_EQ(error_of("dtype: float", body), expected + "'float' | did you mean f32?");
  EXPECT_EQ(error_of("dtype: u32", body), expected + "'u32'") << "not f32, which is near";
  EXPECT_EQ(error_of("dtype: f31", body), expected + "'f31'") << "what is meant is no choice";
  EXPECT_EQ(error_of("dtype: f23", body), expected + "'f23' | did you mean f32?");
}

/// What a reader says of one value that is not what it expects.
TEST(Yaml, WhatWasMeantIsToldWithEachKindOfValue) {
  double time_s = 0;
  std::uint64_t count = 0;
  std::string name;
  std::vector<std::string> names;
  Dtype dtype = Dtype::u8;
  const auto model = [&](YamlMap& in) {
    in.required("name", name);
    in.optional("time_s", time_s);
  };
  const auto read = [&](YamlMap& in) {
    in.optional("time_s", time_s);
    in.optional("count", count);
    in.optional("names", names);
    in.optional("dtype", dtype, choices({Dtype::f64, Dtype::f16}));
    in.optional_map("limits", [&](YamlMap& limits) { limits.optional("time_s", time_s); });
    in.optional_maps("models", model);
  };
  for (const auto& [yaml, hint] : std::map<std::string, std::string>{
           {"time_s: 40s", "in seconds, without a unit: 40"},
           {"time_s: 1.5 m", "in seconds, without a unit: 90"},
           {"count: 5k", "a number without a unit: 5"},
           {"count: 10_000", "write 10000"},
           {"count:", "write a number after the colon, or leave the key out"},
           {"names: a", "write [a]"},
           {"dtype: F16", "did you mean f16?"},
           {"limits: 5", "write {KEY: VALUE}, or KEY: VALUE lines below it; its keys are time_s"},
           {"models: a", "write [{KEY: VALUE}, ...]"},
           {"models: [gpt-4o]", "write {name: gpt-4o}; its keys are name, time_s"}})
    EXPECT_THAT(error_of(yaml, read), testing::EndsWith(" | " + hint)) << yaml;
}

TEST(Yaml, TheFirstErrorWinsAndCallersCanAddTheirOwn) {
  int a = 7;
  EXPECT_EQ(error_of("a: x\nb: y",
                     [&](YamlMap& in) {
                       in.required("a", a);
                       in.required("b", a);
                       EXPECT_FALSE(in.ok());
                     }),
            "f.yaml:1: 'a' must be a whole number, found 'x' | a number is written with digits");
  EXPECT_EQ(a, 7);
  EXPECT_EQ(error_of("a: 1\nb: 2",
                     [&](YamlMap& in) {
                       in.required("a", a);
                       in.kind("b");
                       in.refuse("b", "a and b exclude each other", "remove one");
                     }),
            "f.yaml:2: a and b exclude each other | remove one");
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(Yaml, RefusesWhatConfigurationDoesNotNeed) {
  EXPECT_EQ(error_of("a: 1\na: 2", nothing), "f.yaml:2: key 'a' is repeated");
  EXPECT_EQ(error_of("a: &x 1", nothing), "f.yaml:1: anchors are not supported");
  EXPECT_EQ(error_of("a: !!int 1", nothing), "f.yaml:1: tags are not supported");
  EXPECT_EQ(error_of("[1]: 2", nothing), "f.yaml:1: a key must be a text");
  EXPECT_EQ(error_of("", nothing), "f.yaml: the file is empty");
  EXPECT_EQ(error_of("{}\n---\n{}", nothing), "f.yaml: more than one document");
  EXPECT_EQ(error_of("just words", nothing), "f.yaml:1: expected 'key: value' lines, found 'just words'");
  EXPECT_EQ(error_of("a: " + nested(40), nothing), "f.yaml:1: nested deeper than 32 levels");
  EXPECT_NE(error_of(std::string(100000, '['), nothing), "");
  EXPECT_EQ(error_of(R"(a: "\N")", nothing), R"(f.yaml:1: the escapes \N and \_ are not supported)");
  EXPECT_EQ(error_of("a: \xff", nothing), "f.yaml: not UTF-8");
  EXPECT_EQ(error_of("a: 1\nb: \x04\nc: 2", nothing), "f.yaml:2: a control byte");
  EXPECT_EQ(error_of(std::string((1 << 20) + 1, '#'), nothing), "f.yaml: larger than 1 MiB");
}

/// "LINE: message" of a text that is no YAML; every one has a hint.
std::string fault_in(std::string_view text) {
  const std::string error = error_of(text, nothing);
  EXPECT_TRUE(error.starts_with("f.yaml:")) << error;
  EXPECT_NE(error.find(" | "), error.npos) << error;
  return error.substr(7, error.find(" | ") - 7);
}

TEST(Yaml, ABracketOrQuoteIsNamedWhereItWasOpened) {
  EXPECT_EQ(fault_in("prices:\n  - {model: good, output: 4"), "2: '{' is never closed");
  EXPECT_EQ(fault_in("prices:\n  - {model: a, x: 1\n  - {model: b, x: 2}\n"), "2: '{' is never closed");
  EXPECT_EQ(fault_in("a: {b: [1, 2}\nc: 3"), "1: '}' stands where ']' is due: '[' of line 1 is open");
  EXPECT_EQ(fault_in("a: [1\nb: 2"), "1: '[' is never closed");
  EXPECT_EQ(fault_in("a: 1\nb: }"), "2: '}' closes nothing");
  EXPECT_EQ(fault_in("}{"), "1: '}' closes nothing");
  EXPECT_EQ(fault_in("a: 1\nb: 'x\nc: 2"), "2: the text that begins with ' has no end");
  EXPECT_EQ(fault_in("a: \"x\\\""), "1: the text that begins with \" has no end");
  EXPECT_EQ(fault_in("a:\n\tb: 2"), "2: the line is indented with a tab");
  // Brackets and quotes within texts, comments and blocks do not count.
  EXPECT_EQ(fault_in("a: x[ {'\nb: it's\n# [ '\nc: 'it''s ['\nd: \"\\\" {\"\ne: |\n  [ '\n\n  {\nf: {g: h"),
            "10: '{' is never closed");
  EXPECT_EQ(fault_in("a: {b: 1, \"c\":\"}\", d: it's} # {\ne: {"), "2: '{' is never closed");
}

TEST(Yaml, OtherBrokenSyntaxIsToldInWordsOfOurOwn) {
  EXPECT_EQ(fault_in("a: b: c"), "1: a ':' where no value can follow");
  EXPECT_EQ(fault_in("a: 1\n   b: 2"), "2: a ':' where no value can follow");
  EXPECT_EQ(fault_in("a:\n  b: 1\n c: 2"),
            "3: this does not continue what is above: it is indented differently, or is not 'key: value'");
  EXPECT_EQ(fault_in("a:\n  - 1\n  b: 2"),
            "3: this does not continue what is above: it is indented differently, or is not 'key: value'");
  EXPECT_EQ(fault_in("a: {b: 1 c: 2}"), "1: a ',' or a '}' is missing in a mapping within { }");
  EXPECT_EQ(fault_in("a: \"\\q\""), "1: an unknown escape behind \\ in a text in double quotes");
  EXPECT_EQ(fault_in("a: @x"), "1: a character that no value begins with");
  EXPECT_EQ(fault_in("a: - 1"), "1: a '- ' where no item of a list can begin");
}

}  // namespace
}  // namespace kernelsmith
