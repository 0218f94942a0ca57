// The recording proposer: answers that another run received.
#pragma once

#include <map>
#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// A proposer that gives each ticket the answer recorded for it. For a ticket without one it asks `live`;
/// if that is null the answer is the refusal `exhausted`. Answers recorded tickets within start(), on the
/// caller's thread. Thread-safe.
std::unique_ptr<Proposer> make_recording(std::map<TicketId, Proposal> recorded,
                                         std::shared_ptr<Proposer> live = nullptr);

}  // namespace kernelsmith
