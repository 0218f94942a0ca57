// The Proposer seam: it takes requests and answers with children or refusals.
#pragma once

#include <stop_token>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

/// Makes children: a language model, the tuner, a recording or a callable. Its contract is that of Evaluator.
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) = 0;
};

}  // namespace kernelsmith
