// The protocol's names: streams, subjects and message ids. docs/fleet.md describes them; any change needs a
// new kProtocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/evaluator.hpp>

namespace kernelsmith::fleet {

inline constexpr std::uint32_t kProtocol = 1;

inline constexpr const char* kJobsStream = "KERNELSMITH_JOBS";
inline constexpr const char* kResultsStream = "KERNELSMITH_RESULTS";
inline constexpr const char* kTasksStream = "KERNELSMITH_TASKS";
inline constexpr const char* kFleetStream = "KERNELSMITH_FLEET";
inline constexpr const char* kWorkersStream = "KERNELSMITH_WORKERS";
inline constexpr const char* kBegunStream = "KERNELSMITH_BEGUN";

/// The number of workers that may be lost on a job that was lost before; after the next one it is given up.
inline constexpr std::uint64_t kMostLosses = 3;

/// The identity of a job: its key (run, candidate, attempt) and its bytes, because a killed session may have
/// used an attempt's number for another job.
struct JobKey {
  std::string run;  ///< as a token
  ProgramId candidate;
  std::uint32_t attempt = 0;
  std::string digest;  ///< 32 hexadecimal digits of the job's digest

  friend bool operator==(const JobKey&, const JobKey&) = default;
};

/// `text` is the job's JSON.
JobKey key_of(const EvaluationJob& job, std::string_view text);

/// A message id: the key, and the number of retries of the job after an Error or a loss.
struct JobId {
  JobKey key;
  std::uint32_t round = 0;

  std::string text() const;  ///< "RUN.CANDIDATE.ATTEMPT.DIGEST.ROUND"
  static std::optional<JobId> parse(std::string_view text);

  friend bool operator==(const JobId&, const JobId&) = default;
};

/// One token of a subject: the text itself if it only has letters, digits, - and _, else its digest.
std::string token(std::string_view text);

/// "any" if scores do not depend on the machine.
std::string hardware_token(std::string_view hardware);

std::string job_subject(std::string_view backend, std::string_view hardware, const JobKey& key);
/// The subjects of all jobs that workers of this kind take.
std::string jobs_filter(std::string_view backend, std::string_view hardware);
/// The name of these workers' queue.
std::string jobs_queue(std::string_view backend, std::string_view hardware);

std::string result_subject(const JobKey& key);
std::string results_filter(std::string_view run);

/// The subject in which a worker records that it begins a redelivered job; `delivery` counts within the
/// round.
std::string begun_subject(const JobId& id, std::uint64_t delivery);
std::string begun_filter(const JobKey& key);

std::string task_subject(const Digest& task);
/// The name of a task in errors.
std::string short_name(const Digest& task);
std::string run_subject(std::string_view run);
std::string worker_subject(std::string_view id);
inline constexpr const char* kProtocolSubject = "kernelsmith.fleet.protocol";
inline constexpr const char* kWorkersFilter = "kernelsmith.workers.*";

}  // namespace kernelsmith::fleet
