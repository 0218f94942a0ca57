// Individuals as the search holds them.
#pragma once

#include <utility>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// By new, because memory that is shared with its reference count stays for as long as a ProgramRecord knows
/// it.
inline IndividualPtr individual_of(ProgramPtr program, Evaluation evaluation) {
  return IndividualPtr(new Individual{std::move(program), std::move(evaluation)});
}
inline IndividualPtr individual_of(Program program, Evaluation evaluation) {
  return individual_of(std::make_shared<const Program>(std::move(program)), std::move(evaluation));
}

/// 0 if it was rejected.
inline double fitness_of(const Individual& individual) {
  const Metrics* metrics = individual.evaluation.metrics();
  return metrics ? metrics->fitness().median : 0;
}

}  // namespace kernelsmith
