// PendingJobs: a coordinator's jobs that wait for their answers. The thread that takes a job out of the table
// answers it, so each job is answered once.
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

/// A job that was sent to the server.
struct Asked {
  std::string subject;  ///< the subject of its result, which is its key in the table
  std::uint64_t sequence = 0;
};

/// Thread-safe. Calls sinks without holding a lock.
class PendingJobs {
 public:
  /// Returns false if a job with the same key is already waiting.
  bool add(const Asking& asking, std::stop_token stop, Sink<Evaluation> done);

  /// The job; empty if it was answered meanwhile.
  std::optional<Asking> find(const std::string& subject) const;

  /// Records that the server has the job with this id.
  void mark_asked(const std::string& subject, const JobId& id, std::uint64_t sequence);

  /// Answers the job if it still waits, and returns its sequence number in the queue, or 0 if it was not
  /// sent. Returns empty if it no longer waits.
  std::optional<std::uint64_t> finish(const std::string& subject, Result<Evaluation> answer);

  /// Answers the job of the result, and returns whether it did. Ignores an Error of an earlier round, and a
  /// result of another job with the same attempt.
  bool deliver(ResultMessage result);

  /// Answers every waiting job with the error; with `only_asked`, only the jobs that were sent.
  void fail_all(const Error& error, bool only_asked = false);

  /// The subjects of jobs whose stop was requested.
  std::vector<std::string> stopped() const;

  /// Jobs that were sent before `moment`.
  std::vector<Asked> asked_before(Moment moment) const;

  /// Records that the server lost the job, which must be sent again in a new round. Returns false if the job
  /// was answered meanwhile.
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
