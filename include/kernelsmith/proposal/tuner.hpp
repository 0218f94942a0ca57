// The tuner: a search without a model. It makes children by giving the parent's knobs other values
// (docs/design.md, section 7).
#pragma once

#include <cstddef>
#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// How the tuner draws. The three kinds of child are chosen with probabilities in proportion to their
/// weights.
struct TunerOptions {
  double crossover = 0.25;   ///< each knob from the parent or from one other individual, evenly
  double local_step = 0.45;  ///< one knob moves to a neighbour in the order of its values
  double mutation = 0.30;    ///< one knob, and each further one with probability 1/knobs, is drawn anew
  std::size_t draws = 64;    ///< tries for a child that the request does not show already
};

/// The tuner's answer to a request: a pure function of it, drawing from request.rng() only. The child has
/// Origin::tune and is never the parent. A child that none of the request's individuals equals is preferred;
/// the last one drawn is given if no such child is found. Refusals: `no_knobs` if the parent has none
/// (or is missing, or its knobs are in error: the detail says so), `exhausted` if its knobs leave no other
/// point.
Proposal tune(const ProposalRequest& request, const TunerOptions& options = {});

/// tune() as a Proposer. Answers within start(), on the caller's thread. Stateless and thread-safe.
std::unique_ptr<Proposer> make_tuner(TunerOptions options = {});

}  // namespace kernelsmith
