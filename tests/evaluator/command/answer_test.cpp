#include "answer.hpp"

#include "testing.hpp"

namespace kernelsmith {
namespace {

TEST(Answer, FitnessAndFeaturesAreRead) {
  const auto metrics = parse_answer(R"({"fitness": 2.5, "size": 3, "zero": 0})").value();
  EXPECT_EQ(metrics.fitness(), Measurement::exact(2.5));
  EXPECT_EQ(metrics.features(), (std::map<std::string, double>{{"size", 3}, {"zero", 0}}));
}

TEST(Answer, AnythingElseIsRefused) {
  for (const char* text :
       {"", "{", "[]", "2.5", "null", "{}", R"({"size": 3})", R"({"fitness": "2"})", R"({"fitness": null})",
        R"({"fitness": NaN})", R"({"fitness": 1e999})", R"({"fitness": Infinity})",
        R"({"fitness": 1, "size": {}})", R"({"fitness": 1, "size": true})", R"({"fitness": 1} trailing)",
        R"({"fitness": 1, "fitness": 2})"}) {
    EXPECT_EQ(parse_answer(text).error().code, ErrorCode::bad_input) << text;
  }
}

}  // namespace
}  // namespace kernelsmith
