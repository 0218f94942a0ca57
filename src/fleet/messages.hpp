// The messages: jobs, results, tasks, and workers' descriptions. A message is one line of JSON, the envelope,
// followed by the value in the run store's JSON format. Input is untrusted: everything is checked, and
// invalid data only causes an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>

#include "names.hpp"

namespace kernelsmith::fleet {

struct JobMessage {
  JobId id;
  EvaluationJob job;
};

/// The message of a job; `job` is the job's JSON.
std::string encode_job(const JobId& id, std::string_view job);
/// Errors: `version` for another protocol, and `bad_input`, also if the id belongs to another job.
Result<JobMessage> decode_job(std::string_view text);

struct ResultMessage {
  JobId id;
  std::string worker;  ///< the worker's name
  Result<Evaluation> answer;
};

/// A message of at most `limit` bytes. If it would be longer, drops logs, the longest first, and then
/// everything else except the verdict.
std::string encode_result(const ResultMessage& result, std::size_t limit);
Result<ResultMessage> decode_result(std::string_view text);

std::string encode_task(const Task& task);
/// Errors: those of decode_job(), and `corrupt` if the task's digest does not match its fields.
Result<Task> decode_task(std::string_view text);

/// A backend that a worker offers.
struct Offer {
  std::string backend, hardware;
  std::uint32_t slots = 0;

  friend bool operator==(const Offer&, const Offer&) = default;
};

/// A worker's description of itself.
struct WorkerEntry {
  std::string name, version;
  std::vector<Offer> offers;

  friend bool operator==(const WorkerEntry&, const WorkerEntry&) = default;
};

std::string encode_worker(const WorkerEntry& entry);
Result<WorkerEntry> decode_worker(std::string_view text);

/// The message that records the hardware of a run.
std::string encode_hardware(std::string_view hardware);
Result<std::string> decode_hardware(std::string_view text);

/// The message that records the protocol of the fleet.
std::string encode_protocol();
/// Fails with `version` and a hint if the protocol in the message differs from ours.
Status check_protocol(std::string_view text);

}  // namespace kernelsmith::fleet
