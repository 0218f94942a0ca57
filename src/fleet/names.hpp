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

/// After the first worker, this many more may be lost on a job; then the job is given up.
inline constexpr std::uint64_t kMostLosses = 3;

/// Identifies a job by run, candidate and attempt, and by its bytes, because a killed session may have used
/// the same attempt for another job.
struct JobKey {
  std::string run;  ///< the run's id as a token
  ProgramId candidate;
  std::uint32_t attempt = 0;
  std::string digest;  ///< 32 hexadecimal digits of the job's digest

  friend bool operator==(const JobKey&, const JobKey&) = default;
};

/// The key of a job; `text` is the job's JSON.
JobKey key_of(const EvaluationJob& job, std::string_view text);

/// The id of a job's message: the key, and the round, which counts retries after an Error or a loss.
struct JobId {
  JobKey key;
  std::uint32_t round = 0;

  std::string text() const;  ///< "RUN.CANDIDATE.ATTEMPT.DIGEST.ROUND"
  static std::optional<JobId> parse(std::string_view text);

  friend bool operator==(const JobId&, const JobId&) = default;
};

/// The text as one token of a subject: unchanged if it has only letters, digits, - and _, else its digest.
std::string token(std::string_view text);

/// The hardware as a token; "any" if scores do not depend on the machine.
std::string hardware_token(std::string_view hardware);

std::string job_subject(std::string_view backend, std::string_view hardware, const JobKey& key);
/// Matches the subjects of all jobs for this backend and hardware.
std::string jobs_filter(std::string_view backend, std::string_view hardware);
/// The name of the queue of these jobs.
std::string jobs_queue(std::string_view backend, std::string_view hardware);

std::string result_subject(const JobKey& key);
std::string results_filter(std::string_view run);

/// The subject under which a worker records that it begins a redelivered job. `delivery` counts the
/// deliveries of one round.
std::string begun_subject(const JobId& id, std::uint64_t delivery);
std::string begun_filter(const JobKey& key);

std::string task_subject(const Digest& task);
/// The short name of a task in errors.
std::string short_name(const Digest& task);
std::string run_subject(std::string_view run);
std::string worker_subject(std::string_view id);
inline constexpr const char* kProtocolSubject = "kernelsmith.fleet.protocol";
inline constexpr const char* kWorkersFilter = "kernelsmith.workers.*";

}  // namespace kernelsmith::fleet
