// What travels: jobs, results, tasks, and what workers say of themselves. A message is one line of JSON, the
// envelope, and behind it the value in the JSON form that the run store has too. What is read here was
// written by others: everything is checked, and nothing but an Error comes of what is wrong.
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
/// Errors: `version` for another protocol, `bad_input`, also for an id that is another job's.
Result<JobMessage> decode_job(std::string_view text);

struct ResultMessage {
  JobId id;
  std::string worker;  ///< its name
  Result<Evaluation> answer;
};

/// At most `limit` bytes: logs are dropped, the longest first, and then what else is not the verdict.
std::string encode_result(const ResultMessage& result, std::size_t limit);
Result<ResultMessage> decode_result(std::string_view text);

std::string encode_task(const Task& task);
/// Errors: as decode_job(), and `corrupt` if the task's digest is not what its fields give.
Result<Task> decode_task(std::string_view text);

/// A backend as a worker offers it.
struct Offer {
  std::string backend, hardware;
  std::uint32_t slots = 0;

  friend bool operator==(const Offer&, const Offer&) = default;
};

/// What a worker says of itself, while it is there.
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
/// `version` if it is another one, with what to do.
Status check_protocol(std::string_view text);

}  // namespace kernelsmith::fleet
