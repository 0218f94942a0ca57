// Tasks, individuals and requests for the tests of prompts.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/task.hpp>

#include "sources.hpp"

namespace kernelsmith {

inline const std::string kStartLine = "// EVOLVE-BLOCK-START\n";
inline const std::string kEndLine = "// EVOLVE-BLOCK-END\n";

inline std::string marked(const std::string& block) {
  return "#include \"task.hpp\"\n" + kStartLine + block + kEndLine;
}

inline Task softmax_task() {
  Task task;
  task.name = "softmax";
  task.backend = "cpu";
  task.entry = "softmax";
  task.reference = one_file("reference.cpp", "void softmax_reference_text();\n");
  task.seed = cpp(marked("void softmax() { seed(); }\n"));
  task.sizes = {{"rows", 8}};
  TensorSpec x;
  x.name = "x";
  x.shape = {"rows", "4"};
  task.tensors = {x};
  task.timed = {task.sizes};
  task.description = "Row-wise softmax.";
  return task;
}

inline IndividualPtr made(std::uint64_t id, Source source, Evaluation evaluation) {
  Program program;
  program.id = {id};
  program.source = std::move(source);
  program.origin = Origin::rewrite;
  return std::make_shared<Individual>(
      Individual{std::make_shared<Program>(std::move(program)), std::move(evaluation)});
}

inline IndividualPtr accepted(std::uint64_t id, const std::string& block, double speedup = 2) {
  Report report;
  report.speedup = Measurement{speedup, speedup - 0.1, speedup + 0.1, 9, "x"};
  report.hardware = "a fine processor";
  const Metrics metrics = Metrics::create(*report.speedup, {{"tokens", 120}}).value();
  return made(id, cpp(marked(block)), Acceptance{metrics, report});
}

inline IndividualPtr rejected(std::uint64_t id, const std::string& block, const std::string& diagnostics) {
  return made(id, cpp(marked(block)),
              Rejection{Stage::compile, RejectionCode::compile_failed, diagnostics, {}});
}

inline IndividualPtr descended(const IndividualPtr& from, ProgramId parent) {
  Program program = *from->program;
  program.parents = {parent};
  return std::make_shared<Individual>(
      Individual{std::make_shared<Program>(std::move(program)), from->evaluation});
}

/// A rewrite of program 1 that shows programs 2 and 3 (top), 4 (inspiration), 5 and 6 (failures).
inline ProposalRequest full_request(Operator op = Operator::rewrite) {
  ProposalRequest request;
  request.op = op;
  request.selection = {
      .parent = accepted(1, "void softmax() { parent_code(); }\n"),
      .top = {accepted(2, "void softmax() { first_top(); }\n", 3),
              accepted(3, "void softmax() { second_top(); }\n", 2.5)},
      .inspirations = {accepted(4, "void softmax() { inspiring(); }\n", 1.5)},
      .failures = {rejected(5, "void softmax() { first_failure(); }\n", "no such thing: first"),
                   rejected(6, "void softmax() { second_failure(); }\n", "no such thing: second")}};
  return request;
}

}  // namespace kernelsmith
