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
/// folders are untrusted. Errors: `corrupt` if `kept` cannot be an answer to the request.
Result<Proposal> as_answer(const ProposalRequest& request, Proposal kept);

/// Wraps `proposer`, so that each answer to a prompt is kept on the thread on which it arrives.
std::shared_ptr<Proposer> keeping(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Proposer> proposer);

/// Wraps `observer`, which may be null, to remove kept answers once they are in the journal.
std::shared_ptr<Observer> forgetting(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Observer> observer);

/// Uses the kept answers of a killed session. Must come before any new request. `planner` and the observer
/// may be null.
Status take_up(Engine& engine, ReplySpool& spool, const CallPlanner& planner, std::uint64_t seed,
               Observer* observer);

}  // namespace kernelsmith
