// Individuals as the search holds them.
#pragma once

#include <utility>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// Uses `new` instead of make_shared(), whose single block of memory would live as long as the weak pointer
/// of a ProgramRecord.
inline IndividualPtr individual_of(ProgramPtr program, Evaluation evaluation) {
  return IndividualPtr(new Individual{std::move(program), std::move(evaluation)});
}
inline IndividualPtr individual_of(Program program, Evaluation evaluation) {
  return individual_of(std::make_shared<const Program>(std::move(program)), std::move(evaluation));
}

/// The fitness; 0 if the individual was rejected.
inline double fitness_of(const Individual& individual) {
  const Metrics* metrics = individual.evaluation.metrics();
  return metrics ? metrics->fitness().median : 0;
}

}  // namespace kernelsmith
