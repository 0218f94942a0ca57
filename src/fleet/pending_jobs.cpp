#include "pending_jobs.hpp"

#include <utility>

namespace kernelsmith::fleet {

bool PendingJobs::add(const Asking& asking, std::stop_token stop, Sink<Evaluation> done) {
  const MutexLock lock(mutex_);
  return jobs_
      .try_emplace(result_subject(asking.id.key), Job{asking, std::move(stop), std::move(done), false, 0, {}})
      .second;
}

std::optional<Asking> PendingJobs::find(const std::string& subject) const {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(subject);
  if (found == jobs_.end()) return std::nullopt;
  return found->second.asking;
}

void PendingJobs::mark_asked(const std::string& subject, const JobId& id, std::uint64_t sequence) {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(subject);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  job.asking.id = id;
  job.asked = true;
  job.sequence = sequence;
  job.asked_at = std::chrono::steady_clock::now();
}

std::optional<PendingJobs::Job> PendingJobs::take(const std::string& subject) {
  const MutexLock lock(mutex_);
  const auto node = jobs_.extract(subject);
  if (node.empty()) return std::nullopt;
  if (jobs_.empty()) emptied_.notify_all();
  return std::move(node.mapped());
}

std::optional<std::uint64_t> PendingJobs::finish(const std::string& subject, Result<Evaluation> answer) {
  const auto job = take(subject);
  if (!job) return std::nullopt;
  job->done(std::move(answer));
  return job->asked ? job->sequence : 0;
}

bool PendingJobs::deliver(ResultMessage result) {
  const std::string subject = result_subject(result.id.key);
  {
    const MutexLock lock(mutex_);
    const auto found = jobs_.find(subject);
    if (found == jobs_.end()) return false;
    const JobId& waiting = found->second.asking.id;
    if (waiting.key != result.id.key) return false;
    if (!result.answer && result.id.round < waiting.round) return false;
  }
  return finish(subject, std::move(result.answer)).has_value();
}

void PendingJobs::fail_all(const Error& error, bool only_asked) {
  std::vector<std::string> subjects;
  {
    const MutexLock lock(mutex_);
    for (const auto& [subject, job] : jobs_)
      if (job.asked || !only_asked) subjects.push_back(subject);
  }
  for (const std::string& subject : subjects) finish(subject, error);
}

std::vector<std::string> PendingJobs::stopped() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> subjects;
  for (const auto& [subject, job] : jobs_)
    if (job.stop.stop_requested()) subjects.push_back(subject);
  return subjects;
}

std::vector<Asked> PendingJobs::asked_before(Moment moment) const {
  const MutexLock lock(mutex_);
  std::vector<Asked> asked;
  for (const auto& [subject, job] : jobs_)
    if (job.asked && job.asked_at <= moment) asked.push_back({subject, job.sequence});
  return asked;
}

bool PendingJobs::ask_again(const std::string& subject) {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(subject);
  if (found == jobs_.end()) return false;
  ++found->second.asking.id.round;
  found->second.asked = false;
  return true;
}

void PendingJobs::wait_until_empty() {
  MutexLock lock(mutex_);
  emptied_.wait(lock, [this]() KERNELSMITH_REQUIRES(mutex_) { return jobs_.empty(); });
}

}  // namespace kernelsmith::fleet
