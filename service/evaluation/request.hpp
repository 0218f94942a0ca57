// A request for an evaluation, as KernelGYM's clients send it: which fields are honoured, which are taken and
// reported as ignored, and which are refused. docs/service.md has the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::service {

using Json = nlohmann::json;

enum class Priority { high, normal, low };
inline constexpr std::size_t kPriorities = 3;

struct EvaluationRequest {
  std::string task_id;
  std::string kernel_code;
  std::string reference_code;  ///< empty: the candidate is one of a task that the service was started with
  std::string entry_point = "Model";  ///< the reference's class; the candidate's has "New" behind it
  std::string task;  ///< of the service's tasks, by "workflow": "task:NAME"; empty: none was named
  bool compiled_baseline = false;  ///< the reference runs by torch.compile
  double timeout_s = 300;          ///< of evaluating, without waiting and preparing
  Priority priority = Priority::normal;
  bool verbose_errors = true;        ///< the whole of an error, not its first line
  bool detect_decoys = true;         ///< a candidate without kernels of its own is reported as a decoy
  std::vector<std::string> ignored;  ///< fields that were sent and change nothing
  Digest digest;  ///< of the request's content, whatever its white space and the order of its keys
};

/// The JSON value of a request's body. Errors: bad_input for what is no JSON or is nested deeper than 64
/// levels.
Result<Json> parse_body(std::string_view body);

/// Errors: bad_input, with the field as `where`.
Result<EvaluationRequest> read_request(const Json& body);

struct BatchRequest {
  std::string batch_id;
  std::vector<EvaluationRequest> requests;
};

/// {"batch_id": ..., "tasks": [...]} with 1 to 100 requests of different ids.
Result<BatchRequest> read_batch(const Json& body);

}  // namespace kernelsmith::service
