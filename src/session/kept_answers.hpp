// How a session keeps answers in the store's ReplySpool, and takes up what an earlier session left there.
#pragma once

#include <memory>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/store/reply_spool.hpp>

namespace kernelsmith {

/// What was kept, as an answer to `request`: of a file in a run folder nothing is believed that the request
/// tells. `corrupt` if it cannot be an answer to it.
Result<Proposal> as_answer(const ProposalRequest& request, Proposal kept);

/// `proposer`, whose answers to a prompt are kept on the thread on which they arrive.
std::shared_ptr<Proposer> keeping(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Proposer> proposer);

/// `observer` (or null), and forgets what the journal has.
std::shared_ptr<Observer> forgetting(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Observer> observer);

/// Answers that a killed session had got come before anything new is asked. `planner` may be null, and so may
/// the observer.
Status take_up(Engine& engine, ReplySpool& spool, const CallPlanner& planner, std::uint64_t seed,
               Observer* observer);

}  // namespace kernelsmith
