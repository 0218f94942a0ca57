#include <gtest/gtest.h>

#include <kernelsmith/llm/prices.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kFile = R"(version: 1
prices:
  - {model: big, input: 4, output: 16, cached: 1, cache_write: 5}
  - {model: "big-*", input: 2, output: 8}
)";

TEST(Prices, TheFirstEntryThatFitsCounts) {
  const auto table = PriceTable::read(kFile, "prices.yaml");
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(table->price_of("big")->input, 4);
  EXPECT_EQ(table->price_of("big-2")->input, 2);
  EXPECT_EQ(table->price_of("big-2")->cached, 2) << "without a price of its own";
  EXPECT_FALSE(table->price_of("small"));
}

TEST(Prices, ACallsCost) {
  const Usage usage{.input_tokens = 1'000'000,
                    .cached_tokens = 200'000,
                    .cache_write_tokens = 100'000,
                    .output_tokens = 500'000,
                    .reasoning_tokens = 400'000};
  const Price price{.input = 4, .output = 16, .cached = 1, .cache_write = 5};
  EXPECT_DOUBLE_EQ(cost_of(usage, price), 0.7 * 4 + 0.2 * 1 + 0.1 * 5 + 0.5 * 16);
  EXPECT_DOUBLE_EQ(cost_of({.input_tokens = 1, .cached_tokens = 5}, price), 1e-6) << "never below zero";
}

TEST(Prices, RefusesAStarThatWouldFitNothing) {
  const auto table =
      PriceTable::read("version: 1\nprices:\n  - {model: \"g*d\", input: 1, output: 2}\n", "prices.yaml");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().where, "prices.yaml:3");
  EXPECT_NE(table.error().message.find("g*d"), std::string::npos);
}

TEST(Prices, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(PriceTable::read("version: 2\nprices: []\n", "p").error().code, ErrorCode::bad_input);
  EXPECT_EQ(
      PriceTable::read("version: 1\nprices:\n  - {model: a, input: -1, output: 1}\n", "p").error().where,
      "p:3");
}

}  // namespace
}  // namespace kernelsmith
