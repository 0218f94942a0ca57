// The Proposer seam: requests in, children or named refusals out.
#pragma once

#include <stop_token>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

/// Makes children: a language model, the tuner, a recording, a callable. The contract is Evaluator's.
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) = 0;
};

}  // namespace kernelsmith
