#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include <kernelsmith/config/json.hpp>

#include "sample_values.hpp"

namespace kernelsmith {
namespace {

using Numbers = std::map<std::string, double>;

template <class T>
void expect_round_trip(const T& value) {
  const std::string text = to_json(value);
  const auto read = from_json<T>(text);
  ASSERT_TRUE(read) << describe(read.error()) << "\n" << text;
  EXPECT_EQ(*read, value) << text;
  EXPECT_EQ(to_json(*read), text) << "writing is canonical";
}

template <class T>
Error refusal_of(std::string_view text) {
  const auto read = from_json<T>(text);
  EXPECT_FALSE(read) << text;
  return read ? Error{} : read.error();
}

TEST(Json, EveryTypeRoundTrips) {
  expect_round_trip(sample::source());
  expect_round_trip(Source());
  expect_round_trip(sample::measurement());
  expect_round_trip(sample::report());
  expect_round_trip(Report());
  expect_round_trip(*sample::acceptance().metrics());
  expect_round_trip(sample::acceptance());
  expect_round_trip(sample::rejection());
  expect_round_trip(sample::job());
  expect_round_trip(EvaluationJob());
  expect_round_trip(sample::child());
  expect_round_trip(sample::refusal());
}

TEST(Json, EveryEventRoundTrips) {
  std::set<std::size_t> kinds;
  for (const Event& event : sample::events()) {
    kinds.insert(event.index());
    expect_round_trip(event);
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event>) << "sample_values.hpp lacks a kind of event";
}

TEST(Json, IsCanonical) {
  EXPECT_EQ(to_json(Measurement{2, 0.1, 3, 5, "x"}),
            R"({"high":3.0,"low":0.1,"median":2.0,"samples":5,"unit":"x"})");
  EXPECT_EQ(to_json(Error{ErrorCode::busy, "m", "w", ""}),
            R"({"code":"busy","hint":"","message":"m","where":"w"})");
}

TEST(Json, KeepsBytesThatAreNotUtf8) {
  const auto one_file = [](std::string text) { return Source::create({{"a", std::move(text)}}).value(); };
  EXPECT_EQ(to_json(one_file("\xff")), R"([{"path":"a","text":"base64:/w=="}])");
  for (const char* text :
       {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "base64:", "base64:x", "\xe2\x82\xac"}) {
    expect_round_trip(one_file(text));
  }
  expect_round_trip(one_file(std::string("a\0b", 3)));
}

TEST(Json, KeepsNumbersThatReportsHoldAlthoughNotFinite) {
  Report report;
  report.shapes = {{.shape = "n=1", .correct = {}, .error = std::nan(""), .runtime_us = {}, .speedup = {}}};
  const auto read = from_json<Report>(to_json(report));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(read->shapes[0].error));
}

TEST(Json, AShapeThatDoesNotSaySoIsNotShort) {
  const auto read = from_json<Report>(
      R"({"artifacts":[],"hardware":"","shapes":[{"error":0.5,"shape":"n=1","timed":true}],"spent_ms":{},)"
      R"("tier":"","toolchain":""})");
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_FALSE(read->shapes[0].short_call);
  EXPECT_EQ(to_json(*read).find("short_call"), std::string::npos);
}

TEST(Json, MetricsTakeFiniteNumbersOnly) {
  const Error error = refusal_of<Metrics>(
      R"({"features":{"x":"inf"},"fitness":{"median":1,"low":1,"high":1,"samples":1,"unit":""}})");
  EXPECT_EQ(error.code, ErrorCode::bad_input);
  EXPECT_EQ(error.message, "a feature must be a finite number");
}

TEST(Json, RefusalsSayWhereAndWhat) {
  const Error unknown =
      refusal_of<Measurement>(R"({"median":1,"low":1,"hihg":1,"high":1,"samples":1,"unit":""})");
  EXPECT_EQ(unknown.message, "unknown key 'hihg'");
  EXPECT_EQ(unknown.hint, "did you mean high?");

  const Error missing = refusal_of<Source>(R"([{"path":"a"}])");
  EXPECT_EQ(missing.message, "key 'text' is missing");
  EXPECT_EQ(missing.where, "[0]");

  const Error wrong_type = refusal_of<Event>(R"({"event":"proposal_arrived","ticket":-1})");
  EXPECT_EQ(wrong_type.message, "expected a whole number from 0, found -1");
  EXPECT_EQ(wrong_type.where, "ticket");

  const Error path = refusal_of<Source>(R"([{"path":"../a","text":""}])");
  EXPECT_NE(path.message.find("../a"), std::string::npos) << path.message;
}

TEST(Json, RefusesWhatIsNoDocument) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1] 2"), std::string("\xff"), std::string("1e999"),
        std::string(100000, '['), std::string(R"({"a":1,"a":1})"), std::string("nan")}) {
    EXPECT_EQ(refusal_of<Numbers>(text).code, ErrorCode::bad_input) << text.substr(0, 20);
  }
  EXPECT_EQ(refusal_of<Numbers>(R"({"a":1,"a":1})").message, "key 'a' is repeated");
}

TEST(Json, RefusesWhatContradictsItself) {
  refusal_of<Event>(R"({"event":"no_such_event"})");
  refusal_of<Proposal>(R"({"cost":{"usd":0,"input_tokens":0,"output_tokens":0}})");
  refusal_of<Source>(R"([{"path":"a","text":"base64:!"}])");
  refusal_of<Source>(R"([{"path":"a","text":"base64:/x=="}])");
}

TEST(NumbersFromJson, TakesAFlatObjectOfFiniteNumbers) {
  const auto numbers = from_json<Numbers>(R"({"fitness": 2, "ratio": -1.5e3})");
  ASSERT_TRUE(numbers);
  EXPECT_EQ(*numbers, (Numbers{{"fitness", 2}, {"ratio", -1500}}));
  EXPECT_EQ(refusal_of<Numbers>(R"({"x":"inf"})").message, R"(expected a number, found "inf")");
  EXPECT_EQ(refusal_of<Numbers>(R"({"x":{}})").where, "x");
  EXPECT_EQ(refusal_of<Numbers>("[]").message, "expected an object of numbers, found array");
}

}  // namespace
}  // namespace kernelsmith
