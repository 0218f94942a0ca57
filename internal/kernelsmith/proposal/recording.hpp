// The recording proposer gives the answers that another run received.
#pragma once

#include <map>
#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// A proposer that answers each ticket with its recorded answer. A ticket without a recorded answer goes to
/// `live`. If `live` is null, the ticket is refused as `exhausted`. Answers recorded tickets within start(),
/// on the caller's thread. Thread-safe.
std::unique_ptr<Proposer> make_recording(std::map<TicketId, Proposal> recorded,
                                         std::shared_ptr<Proposer> live = nullptr);

}  // namespace kernelsmith
