// JobTable, as far as requests are not taken, the machine fails, or time runs out.
#include <algorithm>
#include <ranges>
#include <utility>

#include <kernelsmith/core/mutex.hpp>

#include "job_table.hpp"

namespace kernelsmith::service {
namespace {

/// Evaluations of one request on a machine that is too noisy to measure, or that fails at this request while
/// it evaluates others; and the first pause between those that are noisy.
constexpr std::uint32_t kAttempts = 4;
constexpr std::chrono::milliseconds kFirstPause{500};

std::string seconds_text(double seconds) { return std::to_string(static_cast<long long>(seconds)) + " s"; }

/// Whether what failed was neither the request nor its candidate.
bool is_of_machine(ErrorCode code) {
  return code != ErrorCode::cancelled && error_code_of(code) != "VALIDATION_ERROR";
}

}  // namespace

/// Accepted if nothing is against it.
SubmitResult JobTable::why_not(const std::vector<JobPtr>& fresh, Obstacle& obstacle) const {
  if (counts_.draining) return SubmitResult::draining;
  std::size_t bytes = 0;
  for (const JobPtr& job : fresh) bytes += job->code_bytes;
  if (counts_.all_pending() + fresh.size() > options_.max_queue ||
      counts_.queued_bytes + bytes > options_.max_queue_bytes)
    return SubmitResult::full;
  for (const JobPtr& job : fresh) {
    if (const auto* rest = rests_.of(job->assignment.task->digest)) {
      obstacle = {.conflicting_id = {}, .machine_fault = rest->why, .pause = rest->length};
      return SubmitResult::resting;
    }
    if (is_late_for(job->request.priority)) return SubmitResult::late;
  }
  return SubmitResult::accepted;
}

/// Whether what comes before such a request waits for too long.
bool JobTable::is_late_for(Priority priority) const {
  const double limit = std::chrono::duration<double>(options_.late).count();
  // If the machine fails at a task, or failed at it before, its waiting says nothing about the others.
  const auto waits = [&](const JobPtr& job) KERNELSMITH_REQUIRES(mutex_) {
    return job->attempt == 0 && job->stint.waiting_s() >= limit && !rests_.of(job->assignment.task->digest);
  };
  const auto is_late = [&](const auto& entry) KERNELSMITH_REQUIRES(mutex_) {
    return entry.second->state == State::processing && !entry.second->stint.works && waits(entry.second);
  };
  if (std::ranges::any_of(under_way_, is_late)) return true;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(priority); ++i)
    if (!queues_[i].empty() && waits(queues_[i].front())) return true;
  return false;
}

/// Whether the request is evaluated once more after this error: the machine failed, and not at it alone.
bool JobTable::is_tried_again(const JobPtr& job, const Error& error) {
  if (!is_of_machine(error.code)) return false;
  const auto pause = kFirstPause * (1U << job->noisy);
  if (error.code == ErrorCode::unstable) {
    if (++job->noisy == kAttempts) return false;
    job->stint.next(false);
    alarm_.after(pause, [this, job] { try_again(job); });
  } else if (counts_.draining) {
    return false;
  } else {
    const std::uint64_t successes = successes_[job->assignment.task->backend];
    const bool others_succeed = std::exchange(job->successes_before, successes) != successes;
    if (others_succeed && ++job->own_failures == kAttempts) return false;
    wait_again(job, error);
  }
  ++job->attempt;
  ++counts_.retried;
  return true;
}

/// Behind the others: if this request is what the machine fails at, they have their turn before it.
void JobTable::wait_again(const JobPtr& job, const Error& error) {
  leave_processing(*job);
  job->state = State::pending;
  job->stint.undo();
  job->verdict = no_verdict(error_code_of(error.code), describe(error) + "; it is tried again");
  enqueue(job);
  pool_.renew(job->assignment.task->digest);
  const auto& rest = rests_.failed(job->assignment.task->digest, describe(error));
  alarm_.after(rest.until - Rests::Clock::now(), [this] { rested(); });
}

void JobTable::rested() {
  const MutexLock lock(mutex_);
  if (!closing_) pump();
}

void JobTable::try_again(const JobPtr& job) {
  const MutexLock lock(mutex_);
  if (job->state == State::processing && !closing_) start(job);
}

void JobTable::time_is_up(const JobPtr& job, std::uint64_t stint) {
  Calls calls;
  {
    const MutexLock lock(mutex_);
    if (job->stint.number != stint) return;
    give_up(*job, State::timeout,
            no_verdict("TIMEOUT_ERROR", "evaluating it was not done within the request's timeout of " +
                                            seconds_text(job->request.timeout_s)),
            calls);
  }
  for (const auto& call : calls) call();
}

/// The service's failure, not the request's: nobody looked at it for too long.
void JobTable::give_up_waiting(Calls& calls) {
  const auto too_long = [this](const JobPtr& job) {
    return !job->stint.works &&
           job->stint.waiting_s() > std::chrono::duration<double>(options_.max_wait).count();
  };
  std::vector<JobPtr> late;
  for (const auto& queue : queues_) std::ranges::copy_if(queue, std::back_inserter(late), too_long);
  for (const JobPtr& job : late) unqueue(job);
  for (const auto& [number, job] : under_way_)
    if (job->state == State::processing && too_long(job)) late.push_back(job);
  const Error busy =
      fail(ErrorCode::busy,
           "it waited for " + seconds_text(std::chrono::duration<double>(options_.max_wait).count()) +
               " and was not evaluated: more is asked of this service than it can do",
           {}, "submit it again, later or elsewhere");
  for (const JobPtr& job : late) {
    Verdict verdict = verdict_of(busy);
    if (!job->verdict.error_message.empty())
      verdict.error_message += "; its last try: " + job->verdict.error_message;
    give_up(*job, State::failed, std::move(verdict), calls);
  }
}

}  // namespace kernelsmith::service
