// A request for an evaluation, as KernelGYM's clients send it: which fields are used, which are ignored and
// reported, and which are refused. docs/service.md has the table.
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
  std::string task;                   ///< NAME in "workflow": "task:NAME", a task of the service; empty: none
  bool compiled_baseline = false;     ///< the reference runs with torch.compile
  double timeout_s = 300;             ///< limit of the evaluation, without waiting and preparing
  Priority priority = Priority::normal;
  bool verbose_errors = true;        ///< report complete errors, not only the first line
  bool detect_decoys = true;         ///< a candidate without kernels of its own is reported as a decoy
  std::vector<std::string> ignored;  ///< fields that were sent but have no effect
  Digest digest;                     ///< digest of the content, independent of white space and order of keys
};

/// The JSON value of a request's body. Errors: bad_input for invalid JSON or more than 64 levels.
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
