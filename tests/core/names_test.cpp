// Names of enumerators: each can be read back, and the pages explain every code.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/event.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/ticket.hpp>

namespace kernelsmith {
namespace {

/// Every value of the enum has a name of its own, and the name leads back to it.
template <class E, class From>
void expect_round_trips(E last, From from) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const E value = static_cast<E>(i);
    EXPECT_NE(name_of(value), "?") << i;
    EXPECT_EQ(from(name_of(value)), value) << name_of(value);
  }
  EXPECT_FALSE(from("no_such_name"));
}

TEST(Names, RoundTrip) {
  expect_round_trips(ErrorCode::internal, error_code_from);
  expect_round_trips(Stage::timing, stage_from);
  expect_round_trips(RejectionCode::too_slow, rejection_code_from);
  expect_round_trips(RefusalCode::exhausted, refusal_code_from);
  expect_round_trips(Operator::tune, operator_from);
  expect_round_trips(Origin::user, origin_from);
  expect_round_trips(Remeasurement::confirm, remeasurement_from);
  expect_round_trips(EvaluationSource::cached, evaluation_source_from);
  expect_round_trips(EvaluationSource::same_binary, evaluation_source_from);
}

TEST(Names, EveryCodeIsExplainedInTheDocs) {
  std::ifstream stream(KERNELSMITH_SOURCE_DIR "/docs/errors.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_FALSE(page.empty());
  const auto expect_row = [&page](std::string_view name) {
    EXPECT_NE(page.find("| `" + std::string(name) + "` |"), page.npos)
        << name << " has no row in docs/errors.md";
  };
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i)
    expect_row(name_of(static_cast<ErrorCode>(i)));
  for (int i = 0; i <= static_cast<int>(RejectionCode::too_slow); ++i) {
    expect_row(name_of(static_cast<RejectionCode>(i)));
  }
  for (int i = 0; i <= static_cast<int>(RefusalCode::exhausted); ++i) {
    expect_row(name_of(static_cast<RefusalCode>(i)));
  }
}

}  // namespace
}  // namespace kernelsmith
