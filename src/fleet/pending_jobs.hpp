// PendingJobs: the jobs of a coordinator that wait for their answer. Each is answered once; whoever takes it
// out of the table answers it.
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

/// What has to be sent for a job.
struct Asking {
  JobId id;
  std::string text;  ///< the job's JSON
};

/// A job that the server has.
struct Asked {
  std::string subject;  ///< of its result; what the table knows it by
  std::uint64_t sequence = 0;
};

/// Thread-safe. Sinks are called without a lock held.
class PendingJobs {
 public:
  /// False if a job of the same key waits already.
  bool add(const Asking& asking, std::stop_token stop, Sink<Evaluation> done);

  /// Null if it was answered meanwhile.
  std::optional<Asking> find(const std::string& subject) const;

  /// The server has it, under this id.
  void mark_asked(const std::string& subject, const JobId& id, std::uint64_t sequence);

  /// Answers it, if it still waits; the sequence of what is in the queue, 0 if nothing was sent.
  std::optional<std::uint64_t> finish(const std::string& subject, Result<Evaluation> answer);

  /// Answers the result's job, and returns whether it did. It ignores an Error of an earlier round, and a
  /// result of another job under the same attempt.
  bool deliver(ResultMessage result);

  /// Answers every job that waits, or that was asked.
  void fail_all(const Error& error, bool only_asked = false);

  /// Those whose stop was requested.
  std::vector<std::string> stopped() const;

  /// Those that were asked before `moment`.
  std::vector<Asked> asked_before(Moment moment) const;

  /// The server has lost the job: it is to be asked again, in a new round. False if it was answered
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
