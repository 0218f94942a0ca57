#include "job_table.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace kernelsmith::service {
namespace {

/// How long a request with an unprepared task lets others pass.
constexpr std::chrono::seconds kPatience{60};
/// The largest number of evaluations of one request on a machine that is too noisy, or that fails at this
/// request but evaluates others; and the first pause after a noisy evaluation.
constexpr std::uint32_t kAttempts = 4;
constexpr std::chrono::milliseconds kFirstPause{500};
/// The longest time that a repaired machine may stay unused.
constexpr std::chrono::milliseconds kLongestRest{60'000};
/// The interval of checks for expired results and waiting requests, which have no deadline of their own.
constexpr std::chrono::milliseconds kShortestSweep{10}, kLongestSweep{60'000};

Moment now_is() { return Job::Clock::now(); }

std::string seconds_text(Seconds time) { return std::to_string(static_cast<long long>(time.count())) + " s"; }

/// Whether the failure was neither the request's nor its candidate's fault.
bool is_of_machine(ErrorCode code) {
  return code != ErrorCode::cancelled && error_code_of(code) != "VALIDATION_ERROR";
}

/// Jobs are identified by run and number everywhere, also after a restart of this service.
std::string new_run() {
  std::random_device random;
  DigestBuilder builder;
  for (int i = 0; i < 8; ++i) builder.add(std::uint64_t{random()});
  constexpr std::size_t kDigits = 32;
  return "service-" + builder.finish().hex().substr(0, kDigits);
}

}  // namespace

JobTable::JobTable(const ServiceOptions& options)
    : options_(options),
      run_(new_run()),
      watch_([this](Moment now, const std::stop_token&) { return look(now); }, Moment::max()),
      pool_(options.make_evaluator, options.prepared_tasks) {
  watch_.wake();
}

JobTable::~JobTable() {
  std::vector<JobPtr> left;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    for (auto& queue : queues_) queue.clear();
    for (const auto& [number, job] : under_way_) left.push_back(job);
  }
  for (const JobPtr& job : left) job->stop.request_stop();
}

// Submissions.

SubmitResult JobTable::submit(std::vector<Submission> submissions, Obstacle& obstacle) {
  const MutexLock lock(mutex_);
  std::vector<JobPtr> fresh, failed;
  for (Submission& submission : submissions) {
    const JobPtr known = find(submission.request.task_id);
    if (known && known->request.digest != submission.request.digest) {
      obstacle.conflicting_id = submission.request.task_id;
      return SubmitResult::conflict;
    }
    if (known && known->state == State::failed)
      failed.push_back(known);
    else if (known)
      continue;
    auto job = std::make_shared<Job>();
    job->code_bytes = submission.request.kernel_code.size() + submission.request.reference_code.size();
    job->request = std::move(submission.request);
    job->request.kernel_code = job->request.reference_code = {};
    job->assignment = std::move(submission.assignment);
    fresh.push_back(std::move(job));
  }
  const SubmitResult result = fresh.empty() ? SubmitResult::accepted : why_not(fresh, obstacle);
  if (result != SubmitResult::accepted) {
    counts_.refused += fresh.size();
    return result;
  }
  for (const JobPtr& job : failed) forget(job);
  counts_.submitted += fresh.size();
  counts_.repeated += submissions.size() - fresh.size();
  for (const JobPtr& job : fresh) {
    job->number = ++last_number_;
    job->successes_before = successes_[job->assignment.task->backend];
    jobs_.emplace(job->request.task_id, job);
    enqueue(job);
  }
  pump();
  return SubmitResult::accepted;
}

/// `accepted` if nothing is against the submission.
SubmitResult JobTable::why_not(const std::vector<JobPtr>& fresh, Obstacle& obstacle) const {
  if (counts_.draining) return SubmitResult::draining;
  std::size_t requests = fresh.size(), bytes = counts_.queued_bytes;
  for (const Queue& queue : queues_) requests += queue.size();
  for (const JobPtr& job : fresh) bytes += job->code_bytes;
  if (requests > options_.max_queue || bytes > options_.max_queue_bytes) return SubmitResult::full;
  const Moment now = now_is();
  for (const JobPtr& job : fresh) {
    if (const Fault* fault = fault_of(*job, now)) {
      obstacle = {.conflicting_id = {}, .machine_fault = fault->why, .pause = fault->rest.length()};
      return SubmitResult::resting;
    }
    if (is_late_for(job->request.priority, now)) return SubmitResult::late;
  }
  return SubmitResult::accepted;
}

/// Whether the requests that come before one of this priority wait too long.
bool JobTable::is_late_for(Priority priority, Moment now) const {
  // The wait of a request says nothing about others if the machine fails at its task or has failed at it.
  const auto is_fresh = [](const JobPtr& job) { return job->attempt == 0; };
  const auto is_late = [&](const JobPtr& job) KERNELSMITH_REQUIRES(mutex_) {
    return Seconds(job->stint.waiting_s()) >= options_.late && !fault_of(*job, now);
  };
  for (const auto& [number, job] : under_way_)
    if (job->state == State::processing && !job->stint.works && is_fresh(job) && is_late(job)) return true;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(priority); ++i)
    if (const auto first = std::ranges::find_if(queues_[i], is_fresh);
        first != queues_[i].end() && is_late(*first))
      return true;
  return false;
}

// Queries.

JobTable::JobPtr JobTable::find(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

std::optional<Answer> JobTable::answer(const std::string& id) const {
  const MutexLock lock(mutex_);
  const JobPtr job = find(id);
  if (!job) return std::nullopt;
  return Answer{job->state, is_final(job->state) ? job->answer : response_of(*job).dump()};
}

std::optional<Json> JobTable::status(const std::string& id) const {
  const MutexLock lock(mutex_);
  const JobPtr job = find(id);
  if (!job) return std::nullopt;
  std::optional<std::size_t> position;
  if (job->state == State::pending) {
    const auto priority = static_cast<std::size_t>(job->request.priority);
    const auto place = std::ranges::find(queues_[priority], job);
    position = static_cast<std::size_t>(std::distance(queues_[priority].begin(), place));
    for (std::size_t higher = 0; higher < priority; ++higher) *position += queues_[higher].size();
  }
  return status_of(*job, position);
}

std::optional<Answer> JobTable::cancel(const std::string& id) {
  Deferred calls;
  const MutexLock lock(mutex_);
  const JobPtr job = find(id);
  if (!job) return std::nullopt;
  end(job, State::cancelled, no_verdict({}, "cancelled by a client"), calls);
  return Answer{job->state, job->answer};
}

void JobTable::when_finished(const std::string& id, Seconds wait, std::function<void()> then) {
  Deferred calls;
  const MutexLock lock(mutex_);
  const JobPtr job = find(id);
  if (!job || is_final(job->state)) return calls.add(std::move(then));
  clients_.push_back({job, moment_after(now_is(), wait), std::move(then)});
  watch_.wake();
}

Counts JobTable::counts() const {
  const MutexLock lock(mutex_);
  Counts counts = counts_;
  std::ranges::transform(queues_, counts.pending.begin(), std::ranges::size);
  counts.processing = processing();
  counts.under_way = under_way_.size();
  counts.kept = finished_.size();
  counts.prepared_tasks = pool_.prepared();
  return counts;
}

std::vector<EvaluationSlot> JobTable::slots() const {
  const MutexLock lock(mutex_);
  std::vector<EvaluationSlot> slots;
  for (const auto& [number, job] : under_way_)
    slots.push_back({job->request.task_id, Seconds(now_is() - job->started).count()});
  slots.resize(std::max<std::size_t>(options_.workers, slots.size()));
  return slots;
}

std::size_t JobTable::processing() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      under_way_, [](const auto& entry) { return entry.second->state == State::processing; }));
}

void JobTable::drain(const std::stop_token& stop) {
  const auto stopped = [](const char* before) {
    return no_verdict("RESOURCE_ERROR", std::string("the service was stopped before this ") + before);
  };
  {
    Deferred calls;
    const MutexLock lock(mutex_);
    counts_.draining = true;
    for (auto& queue : queues_)
      while (!queue.empty()) end(JobPtr(queue.front()), State::cancelled, stopped("began"), calls);
  }
  Deferred calls;
  MutexLock lock(mutex_);
  idle_.wait_for(lock, stop, options_.drain_limit, [this]() KERNELSMITH_REQUIRES(mutex_) {
    return processing() == 0 && std::ranges::all_of(queues_, std::ranges::empty);
  });
  std::vector<JobPtr> unfinished;
  for (const Queue& queue : queues_) std::ranges::copy(queue, std::back_inserter(unfinished));
  for (const auto& [number, job] : under_way_) unfinished.push_back(job);
  for (const JobPtr& job : unfinished) end(job, State::cancelled, stopped("ended"), calls);
}

// Evaluations.

const JobTable::Fault* JobTable::fault_of(const Job& job, Moment now) const {
  const auto found = faults_.find(job.assignment.task->digest);
  return found != faults_.end() && found->second.rest.lasts(now) ? &found->second : nullptr;
}

void JobTable::enqueue(const JobPtr& job, bool first) {
  Queue& queue = queues_[static_cast<std::size_t>(job->request.priority)];
  queue.insert(first ? queue.begin() : queue.end(), job);
  counts_.queued_bytes += job->code_bytes;
}

void JobTable::unqueue(const JobPtr& job) {
  queues_[static_cast<std::size_t>(job->request.priority)].remove(job);
  counts_.queued_bytes -= job->code_bytes;
}

/// Takes the next request from its queue; null if none waits or none may start yet.
JobTable::JobPtr JobTable::next(Moment now) {
  for (const Queue& queue : queues_) {
    const auto may_start = [&](const JobPtr& job) KERNELSMITH_REQUIRES(mutex_) {
      return job->not_before <= now && !fault_of(*job, now);
    };
    const auto has_room = [&](const JobPtr& job) KERNELSMITH_REQUIRES(mutex_) {
      return pool_.has_room_for(job->assignment.task->digest) && may_start(job);
    };
    auto chosen = std::ranges::find_if(queue, may_start);
    if (chosen == queue.end()) continue;
    if (now - (*chosen)->submitted < kPatience)
      if (const auto ready = std::ranges::find_if(queue, has_room); ready != queue.end()) chosen = ready;
    JobPtr job = *chosen;
    unqueue(job);
    return job;
  }
  return nullptr;
}

void JobTable::pump() {
  const Moment now = now_is();
  while (!closing_ && under_way_.size() < options_.workers) {
    const JobPtr job = next(now);
    if (!job) return;
    job->state = State::processing;
    job->started = now;
    counts_.waiting.add(Seconds(now - job->submitted).count());
    under_way_.emplace(job->number, job);
    const TaskPtr task = job->assignment.task;
    EvaluationJob work;
    work.run = run_;
    work.candidate = ProgramId{job->number};
    work.attempt = job->attempt;
    work.task = task->digest;
    work.source = job->assignment.candidate;
    work.may_edit_frozen = true;
    pool_.start(
        task, std::move(work), job->stop.get_token(),
        [this, job](const Result<Evaluation>& evaluation) { arrived(job, evaluation); },
        [this, job](bool works) { turn(job, works); });
  }
}

/// Notes that the evaluator now works at the request, or that the request waits.
void JobTable::turn(const JobPtr& job, bool works) {
  const MutexLock lock(mutex_);
  if (job->state != State::processing) return;
  job->stint.next(works);
  watch_.wake();
}

void JobTable::arrived(const JobPtr& job, const Result<Evaluation>& evaluation) {
  Deferred calls;
  const MutexLock lock(mutex_);
  under_way_.erase(job->number);
  if (job->state == State::processing) {
    if (evaluation) {
      faults_.erase(job->assignment.task->digest);
      ++successes_[job->assignment.task->backend];
      end(job, State::completed, verdict_of(*evaluation, job->request), calls);
    } else if (!is_tried_again(job, evaluation.error())) {
      const bool stopped = evaluation.error().code == ErrorCode::cancelled;
      end(job, stopped ? State::cancelled : State::failed, verdict_of(evaluation.error()), calls);
    }
  }
  pump();
}

/// Whether the request waits again after this error: the machine failed, and not only at this request.
bool JobTable::is_tried_again(const JobPtr& job, const Error& error) {
  const Moment now = now_is();
  const Digest& task = job->assignment.task->digest;
  const bool noisy = error.code == ErrorCode::unstable;
  if (!is_of_machine(error.code)) return false;
  if (noisy) {
    if (++job->noisy == kAttempts) return false;
    job->stint.next(false);
    job->not_before = moment_after(now, growing_pause(kFirstPause, job->noisy));
  } else {
    if (counts_.draining) return false;
    const std::uint64_t successes = successes_[job->assignment.task->backend];
    const bool others_succeed = std::exchange(job->successes_before, successes) != successes;
    if (others_succeed && ++job->own_failures == kAttempts) return false;
    job->stint.undo();
    const Rest rest(options_.rest, std::max(options_.rest, kLongestRest));
    Fault& fault = faults_.try_emplace(task, Fault{rest, {}}).first->second;
    fault.rest.failed(now);
    fault.why = describe(error);
    pool_.renew(task);
  }
  counts_.evaluating.add(Seconds(now - job->started).count());
  job->state = State::pending;
  job->verdict = no_verdict(error_code_of(error.code), describe(error) + "; it is tried again");
  ++job->attempt;
  ++counts_.retried;
  // If the machine fails at this request, the others come before it.
  enqueue(job, noisy);
  watch_.wake();
  return true;
}

// Deadlines and rests.

Moment JobTable::look(Moment now) {
  Deferred calls;
  const MutexLock lock(mutex_);
  if (closing_) return Moment::max();
  while (!finished_.empty() && now - finished_.front()->finished > options_.keep) forget(finished_.front());
  std::erase_if(faults_, [&](const auto& fault) { return fault.second.rest.until() + kLongestRest < now; });
  give_up_late(now, calls);
  answer_clients([&](const Client& client) { return client.until <= now; }, calls);
  pump();
  return next_due(now);
}

void JobTable::give_up_late(Moment now, Deferred& calls) {
  std::vector<JobPtr> slow, unserved;
  const auto sort = [&](const JobPtr& job) {
    if (job->times_out() <= now) slow.push_back(job);
    if (!job->stint.works && Seconds(job->stint.waiting_s()) > options_.max_wait) unserved.push_back(job);
  };
  for (const Queue& queue : queues_) std::ranges::for_each(queue, sort);
  for (const auto& [number, job] : under_way_) sort(job);
  for (const JobPtr& job : slow)
    end(job, State::timeout,
        no_verdict("TIMEOUT_ERROR", "the evaluation did not end within the request's timeout of " +
                                        seconds_text(Seconds(job->request.timeout_s))),
        calls);
  // The service is at fault, not the request.
  const Error busy = fail(ErrorCode::busy,
                          "it waited for " + seconds_text(options_.max_wait) +
                              " and was not evaluated: more is asked of this service than it can do",
                          {}, "submit it again, later or elsewhere");
  for (const JobPtr& job : unserved) {
    Verdict verdict = verdict_of(busy);
    if (!job->verdict.error_message.empty())
      verdict.error_message += "; its last try: " + job->verdict.error_message;
    end(job, State::failed, std::move(verdict), calls);
  }
}

Moment JobTable::next_due(Moment now) const {
  const auto sweep = std::min(options_.keep, options_.max_wait) / 10;
  Moment due = now + std::clamp(sweep, kShortestSweep, kLongestSweep);
  const auto consider = [&](Moment moment) {
    if (moment > now) due = std::min(due, moment);
  };
  for (const auto& [number, job] : under_way_) consider(job->times_out());
  for (const Queue& queue : queues_)
    for (const JobPtr& job : queue) consider(job->not_before);
  for (const auto& [task, fault] : faults_) consider(fault.rest.until());
  for (const Client& client : clients_) consider(client.until);
  return due;
}

// Ends of jobs.

void JobTable::end(const JobPtr& job, State state, Verdict verdict, Deferred& calls) {
  if (is_final(job->state)) return;
  const Moment now = now_is();
  if (job->state == State::pending)
    unqueue(job);
  else
    counts_.evaluating.add(Seconds(now - job->started).count());
  job->state = state;
  job->completed_at = std::chrono::system_clock::now();
  job->finished = now;
  job->verdict = std::move(verdict);
  job->answer = response_of(*job).dump(-1, ' ', false, Json::error_handler_t::replace);
  job->verdict.metadata = nullptr;
  job->assignment = {};
  ++counts_.finished[static_cast<std::size_t>(state)];
  counts_.kept_bytes += job->answer.size();
  finished_.push_back(job);
  while (counts_.kept_bytes > options_.max_result_bytes && finished_.size() > 1) forget(finished_.front());
  if (under_way_.contains(job->number)) calls.add([stop = job->stop]() mutable { stop.request_stop(); });
  answer_clients([&](const Client& client) { return client.job == job; }, calls);
  idle_.notify_all();
}

template <class IsOver>
void JobTable::answer_clients(const IsOver& is_over, Deferred& calls) {
  const auto over = std::stable_partition(clients_.begin(), clients_.end(), std::not_fn(is_over));
  for (auto client = over; client != clients_.end(); ++client) calls.add(std::move(client->then));
  clients_.erase(over, clients_.end());
}

/// `job` may be an element of finished_, which is erased last.
void JobTable::forget(const JobPtr& job) {
  counts_.kept_bytes -= job->answer.size();
  jobs_.erase(job->request.task_id);
  finished_.erase(std::ranges::find(finished_, job));
}

}  // namespace kernelsmith::service
