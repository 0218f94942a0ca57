// What the store's tests share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/store/run_store.hpp>

#include "sample_values.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {

/// All events of a journal, in order.
inline std::vector<Event> events_of(const Journal& journal, std::uint64_t after = 0) {
  std::vector<Event> events;
  const Status status = journal.replay(after, [&](std::uint64_t position, const Event& event) {
    EXPECT_EQ(position, after + events.size() + 1);
    events.push_back(event);
    return Status();
  });
  EXPECT_TRUE(status) << describe(status.error());
  return events;
}

/// The n-th event of a made-up run: large enough to fill pages, and its own.
inline Event numbered_event(std::uint64_t n) {
  const std::string text = "// " + std::to_string(n) + "\n" + std::string(500 + n % 3000, 'x');
  return ProposalArrived{
      {n}, {.outcome = Child{sample::source(text), Origin::tune, {}}, .cost = {}, .prompt = {}}};
}

}  // namespace kernelsmith
