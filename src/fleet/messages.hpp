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

/// `job` is the job's JSON.
std::string encode_job(const JobId& id, std::string_view job);
/// Errors: `version` for another protocol, `bad_input`, also for the id of another job.
Result<JobMessage> decode_job(std::string_view text);

struct ResultMessage {
  JobId id;
  std::string worker;  ///< its name
  Result<Evaluation> answer;
};

/// At most `limit` bytes: drops logs, the longest first, then everything else except the verdict.
std::string encode_result(const ResultMessage& result, std::size_t limit);
Result<ResultMessage> decode_result(std::string_view text);

std::string encode_task(const Task& task);
/// Errors: as decode_job(), and `corrupt` if the task's digest does not match its fields.
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

/// The hardware of a run.
std::string encode_hardware(std::string_view hardware);
Result<std::string> decode_hardware(std::string_view text);

/// The protocol of the fleet.
std::string encode_protocol();
/// Fails with `version`, with a hint, if it differs.
Status check_protocol(std::string_view text);

}  // namespace kernelsmith::fleet
