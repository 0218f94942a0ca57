// The tuner: a search without a model. It makes children by giving the parent's knobs other values
// (docs/design.md, section 7).
#pragma once

#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// How the tuner searches.
struct TunerOptions {
  bool exhaustive = false;  ///< every point in a fixed order, without a model of the space
};

/// The tuner's answer to a request: a pure function of it, drawing from request.rng() only. The child has
/// Origin::tune and stands at the point that next_point() gives for what Selection::knobs knows; without
/// that, for what the request's individuals of the same structure show. So no point is proposed twice. The
/// first child of a structure takes what did best elsewhere (KnobHistory::elsewhere). Refusals: `no_knobs` if
/// the parent has none (or is missing, or its knobs are in error: the detail says so), `exhausted` if no
/// point is left.
Proposal tune(const ProposalRequest& request, const TunerOptions& options = {});

/// tune() as a Proposer. Answers within start(), on the caller's thread. Stateless and thread-safe.
std::unique_ptr<Proposer> make_tuner(TunerOptions options = {});

}  // namespace kernelsmith
