// Individuals and requests for the tests of proposers.
#pragma once

#include <memory>
#include <utility>

#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

/// An accepted individual without features.
inline IndividualPtr individual(std::uint64_t id, Source source, double fitness = 1) {
  Program program;
  program.id = {id};
  program.source = std::move(source);
  Acceptance acceptance{Metrics::create(Measurement::exact(fitness)).value(), {}};
  return std::make_shared<Individual>(
      Individual{std::make_shared<Program>(std::move(program)), Evaluation(std::move(acceptance))});
}

inline ProposalRequest tune_request(std::uint64_t ticket, IndividualPtr parent) {
  ProposalRequest request;
  request.seed = 7;
  request.ticket = {ticket};
  request.op = Operator::tune;
  request.selection.parent = std::move(parent);
  return request;
}

}  // namespace kernelsmith
