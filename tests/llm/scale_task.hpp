// The task of the proposers' tests: a kernel of one line.
#pragma once

#include <memory>

#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

inline constexpr const char* kSeed =
    "// EVOLVE-BLOCK-START\nvoid scale(float* y) { y[0] = 1; }\n// EVOLVE-BLOCK-END\n";

inline Task a_task() {
  Task task;
  task.name = "scale";
  task.backend = "cpu";
  task.entry = "scale";
  task.seed = Source::create({{"seed.cpp", kSeed}}).value();
  task.reference = task.seed;
  return task;
}

/// Asks for a child of the seed, which has been accepted.
inline ProposalRequest a_request(std::uint64_t ticket = 0, Operator op = Operator::rewrite) {
  ProposalRequest request;
  request.ticket = {ticket};
  request.op = op;
  const auto program =
      std::make_shared<const Program>(Program{ProgramId{7}, a_task().seed, {}, Origin::seed});
  request.selection.parent = std::make_shared<const Individual>(
      Individual{program, Acceptance{Metrics::create(Measurement::exact(1)).value(), {}}});
  return request;
}

}  // namespace kernelsmith
