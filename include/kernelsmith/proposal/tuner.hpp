// The tuner: a search without a model. Its children have other values for the parent's knobs (docs/design.md,
// section 7).
#pragma once

#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// How the tuner searches.
struct TunerOptions {
  bool exhaustive = false;  ///< tries every point in a fixed order, without a model of the space
};

/// The tuner's answer to a request. It is a pure function of the request and draws from request.rng() only.
/// The child has Origin::tune. next_point() chooses its point by the history in Selection::knobs or, without
/// one, by the request's individuals of the same structure. So no point is proposed twice. The first child of
/// a structure takes the values that did best elsewhere (KnobHistory::elsewhere). Refusals: `no_knobs` if the
/// parent is missing, or has no knobs or invalid ones (the detail says which); `exhausted` if no point is
/// left.
Proposal tune(const ProposalRequest& request, const TunerOptions& options = {});

/// tune() as a Proposer. Answers within start(), on the caller's thread. Stateless and thread-safe.
std::unique_ptr<Proposer> make_tuner(TunerOptions options = {});

}  // namespace kernelsmith
