// PendingJobs: a coordinator's jobs that wait for their answer. Each is answered once, by the thread that
// takes it out of the table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/waiting.hpp>

#include "messages.hpp"
#include "names.hpp"

namespace kernelsmith::fleet {

/// The message of a job.
struct Asking {
  JobId id;
  std::string text;  ///< the job's JSON
};

/// A job that the server has.
struct Asked {
  std::string subject;  ///< subject of its result; its key in the table
  std::uint64_t sequence = 0;
};

/// Thread-safe. Sinks are called without a lock held.
class PendingJobs {
 public:
  /// Returns false if a job with the same key is already waiting.
  bool add(const Asking& asking, std::stop_token stop, Sink<Evaluation> done);

  /// The job; null if it was answered meanwhile.
  std::optional<Asking> find(const std::string& subject) const;

  /// Records that the server has it with this id.
  void mark_asked(const std::string& subject, const JobId& id, std::uint64_t sequence);

  /// Answers it if it still waits; returns its sequence in the queue, 0 if nothing was sent.
  std::optional<std::uint64_t> finish(const std::string& subject, Result<Evaluation> answer);

  /// Answers the result's job, and returns whether it did. Ignores an Error of an earlier round, and a result
  /// of another job with the same attempt.
  bool deliver(ResultMessage result);

  /// Answers every job that is waiting or was sent.
  void fail_all(const Error& error, bool only_asked = false);

  /// Jobs with a stop request.
  std::vector<std::string> stopped() const;

  /// Jobs that were sent before `moment`.
  std::vector<Asked> asked_before(Moment moment) const;

  /// Records that the server lost the job, which must be sent again in a new round. False if it was answered
  /// meanwhile.
  bool ask_again(const std::string& subject);

  void wait_until_empty();

 private:
  struct Job {
    Asking asking;
    std::stop_token stop;
    Sink<Evaluation> done;
    bool asked = false;
    std::uint64_t sequence = 0;
    Moment asked_at;
  };

  std::optional<Job> take(const std::string& subject);

  mutable Mutex mutex_;
  Condition emptied_;
  std::map<std::string, Job> jobs_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::fleet
