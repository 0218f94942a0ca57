// Individuals for tests: a program without a source, and its evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith::testing {

inline ProgramPtr program(std::uint64_t id, Origin origin = Origin::seed) {
  return std::make_shared<const Program>(Program{ProgramId{id}, {}, {}, origin});
}

inline IndividualPtr accepted(std::uint64_t id, Measurement fitness,
                              std::map<std::string, double> features = {}) {
  Metrics metrics = Metrics::create(std::move(fitness), std::move(features)).value();
  return std::make_shared<const Individual>(Individual{program(id), Acceptance{std::move(metrics), {}}});
}

/// An individual of exact fitness.
inline IndividualPtr accepted(std::uint64_t id, double fitness, std::map<std::string, double> features = {}) {
  return accepted(id, Measurement::exact(fitness, "x"), std::move(features));
}

/// The same of a program that is no seed.
inline IndividualPtr child(std::uint64_t id, double fitness, std::map<std::string, double> features = {}) {
  const IndividualPtr made = accepted(id, fitness, std::move(features));
  return std::make_shared<const Individual>(Individual{program(id, Origin::rewrite), made->evaluation});
}

inline IndividualPtr rejected(std::uint64_t id, Stage stage) {
  return std::make_shared<const Individual>(
      Individual{program(id), Rejection{stage, RejectionCode::compile_failed, "", {}}});
}

inline std::vector<std::uint64_t> ids(std::span<const IndividualPtr> individuals) {
  std::vector<std::uint64_t> found;
  for (const auto& individual : individuals) found.push_back(individual->program->id.value);
  return found;
}

}  // namespace kernelsmith::testing
