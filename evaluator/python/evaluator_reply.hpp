// The worker's replies as values. They are parsed as untrusted data, because candidates run in forks of the
// worker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/python_process/python_process.hpp>

namespace kernelsmith::python_process {

/// How an evaluation ended.
struct WorkerReply {
  std::optional<RejectionCode> rejected;
  std::string words;  ///< the reason
  double fitness = 0;
  std::map<std::string, double> features;
  std::vector<Artifact> artifacts;
  double wall_ms = 0;
  bool spoiled = false;  ///< the program left data in its process that the next one could find
};

/// The reply to a request to evaluate. Errors: bad_reply; a fault of the machine that the worker reports.
Result<WorkerReply> read_evaluation(const Message& message);

/// The reply to a request to load: the version of Python. Errors: `refused`, with file and line, if the
/// evaluator cannot be used; bad_reply.
Result<std::string> read_loaded(const Message& message);

/// The request {"do": "load"}.
Message load_request(const std::string& evaluator, const std::vector<double>& cascade);

struct EvaluateLimits {
  double timeout_s = 0;
  std::uint64_t memory_bytes = 0;
  unsigned processes = 0;
};

/// The request {"do": "evaluate"} with the candidate's files.
Message evaluate_request(const Source& candidate, const EvaluateLimits& limits);

}  // namespace kernelsmith::python_process
