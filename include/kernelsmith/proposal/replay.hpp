// The replay proposer: answers from a recording.
#pragma once

#include <map>
#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// A proposer that gives each ticket the answer recorded for it, and `not_found` where there is none. Answers
/// within start(), on the caller's thread. Thread-safe.
std::unique_ptr<Proposer> make_replay(std::map<TicketId, Proposal> recorded);

}  // namespace kernelsmith
