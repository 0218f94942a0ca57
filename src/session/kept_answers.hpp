// Keeps a session's answers in the store's ReplySpool, and takes up those of an earlier session.
#pragma once

#include <memory>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/store/reply_spool.hpp>

namespace kernelsmith {

/// The kept answer to `request`. Data that the request also has is not taken from the file, because run
/// folders are untrusted. Errors: `corrupt` if it cannot be an answer to it.
Result<Proposal> as_answer(const ProposalRequest& request, Proposal kept);

/// Wraps `proposer` to keep its answers to prompts, on the thread on which they arrive.
std::shared_ptr<Proposer> keeping(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Proposer> proposer);

/// Wraps `observer` (or null) to remove answers that the journal has.
std::shared_ptr<Observer> forgetting(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Observer> observer);

/// Uses answers of a killed session before asking anything new. `planner` may be null, and so may the
/// observer.
Status take_up(Engine& engine, ReplySpool& spool, const CallPlanner& planner, std::uint64_t seed,
               Observer* observer);

}  // namespace kernelsmith
