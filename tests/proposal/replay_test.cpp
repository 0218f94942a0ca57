#include <optional>

#include <gtest/gtest.h>

#include <kernelsmith/proposal/replay.hpp>

#include "individuals.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

TEST(Replay, AnswersByTicket) {
  const Proposal refusal{Refusal{RefusalCode::no_code, "prose"}, {.usd = 0.5}, {}};
  const auto replay = make_replay({{TicketId{3}, refusal}});
  std::optional<Result<Proposal>> got;
  const auto ask = [&](std::uint64_t ticket) {
    replay->start(tune_request(ticket, nullptr), {},
                  [&](Result<Proposal> answer) { got = std::move(answer); });
    return *std::exchange(got, std::nullopt);
  };
  EXPECT_EQ(ask(3).value(), refusal);
  EXPECT_EQ(ask(3).value(), refusal);
  EXPECT_EQ(ask(4).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace kernelsmith
