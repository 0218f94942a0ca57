#include <optional>

#include <gtest/gtest.h>

#include <kernelsmith/proposal/recording.hpp>

#include "individuals.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

Result<Proposal> ask(Proposer& proposer, std::uint64_t ticket) {
  std::optional<Result<Proposal>> got;
  proposer.start(tune_request(ticket, nullptr), {},
                 [&](Result<Proposal> answer) { got = std::move(answer); });
  return *got;
}

const Proposal kRecorded{Refusal{RefusalCode::no_code, "prose"}, {.usd = 0.5}, {}};
const Proposal kLive{Refusal{RefusalCode::declined, "no"}, {.usd = 0.7}, {}};

TEST(Recording, AnswersByTicket) {
  const auto recording = make_recording({{TicketId{3}, kRecorded}});
  EXPECT_EQ(ask(*recording, 3).value(), kRecorded);
  EXPECT_EQ(ask(*recording, 3).value(), kRecorded);
  const auto lacking = ask(*recording, 4).value();
  ASSERT_TRUE(lacking.refusal());
  EXPECT_EQ(lacking.refusal()->code, RefusalCode::exhausted);
  EXPECT_EQ(lacking.cost, Cost{});
}

TEST(Recording, AsksTheLiveProposerForWhatItLacks) {
  const auto recording = make_recording({{TicketId{3}, kRecorded}}, make_recording({{TicketId{4}, kLive}}));
  EXPECT_EQ(ask(*recording, 3).value(), kRecorded);
  EXPECT_EQ(ask(*recording, 4).value(), kLive);
}

}  // namespace
}  // namespace kernelsmith
