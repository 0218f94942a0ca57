#include "job_table.hpp"

#include <algorithm>
#include <random>
#include <ranges>
#include <utility>

namespace kernelsmith::service {
namespace {

/// How long a request whose task is not prepared lets others pass.
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kShortestSweep{10}, kLongestSweep{60'000};

/// Jobs are known by their run and their number wherever they are evaluated, also after this service is
/// started anew.
std::string new_run() {
  std::random_device random;
  DigestBuilder builder;
  for (int i = 0; i < 8; ++i) builder.add(std::uint64_t{random()});
  constexpr std::size_t kDigits = 32;
  return "service-" + builder.finish().hex().substr(0, kDigits);
}

/// Whoever calls first calls it, and nothing of it is kept then.
class Once {
 public:
  explicit Once(std::function<void()> then) : then_(std::move(then)) {}
  void call() {
    MutexLock lock(mutex_);
    const auto then = std::exchange(then_, nullptr);
    lock.unlock();
    if (then) then();
  }

 private:
  Mutex mutex_;
  std::function<void()> then_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace

JobTable::JobTable(const ServiceOptions& options)
    : options_(options),
      run_(new_run()),
      rests_(options.rest),
      pool_(options.make_evaluator, options.prepared_tasks) {
  sweep();
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
  Calls calls;
  JobPtr job;
  {
    const MutexLock lock(mutex_);
    job = find(id);
    if (!job) return std::nullopt;
    if (job->state == State::pending) unqueue(job);
    give_up(*job, State::cancelled, no_verdict({}, "cancelled by a client"), calls);
  }
  for (const auto& call : calls) call();
  return Answer{job->state, job->answer};
}

void JobTable::when_finished(const std::string& id, std::chrono::duration<double> wait,
                             std::function<void()> then) {
  {
    const MutexLock lock(mutex_);
    const JobPtr job = find(id);
    if (job && !is_final(job->state)) {
      const auto once = std::make_shared<Once>(std::move(then));
      const auto call = [once] { once->call(); };
      job->when_finished.push_back(call);
      alarm_.after(wait, call);
      return;
    }
  }
  then();
}

Counts JobTable::counts() const {
  const MutexLock lock(mutex_);
  Counts counts = counts_;
  counts.under_way = under_way_.size();
  counts.kept = finished_.size();
  counts.prepared_tasks = pool_.prepared();
  return counts;
}

std::vector<EvaluationSlot> JobTable::slots() const {
  const MutexLock lock(mutex_);
  std::vector<EvaluationSlot> slots;
  for (const auto& [number, job] : under_way_)
    slots.push_back(
        {job->request.task_id, std::chrono::duration<double>(Job::Clock::now() - job->started).count()});
  slots.resize(std::max<std::size_t>(options_.workers, slots.size()));
  return slots;
}

void JobTable::drain(const std::stop_token& stop) {
  Calls calls;
  {
    const MutexLock lock(mutex_);
    counts_.draining = true;
    for (auto& queue : queues_)
      while (!queue.empty()) {
        const JobPtr job = queue.front();
        unqueue(job);
        settle(*job, State::cancelled,
               no_verdict("RESOURCE_ERROR", "the service was stopped before this began"), calls);
      }
  }
  for (const auto& call : std::exchange(calls, {})) call();
  {
    MutexLock lock(mutex_);
    idle_.wait_for(lock, stop, options_.drain_limit,
                   [this]() KERNELSMITH_REQUIRES(mutex_) { return counts_.processing == 0; });
    std::vector<JobPtr> unfinished;
    for (const auto& [number, job] : under_way_) unfinished.push_back(job);
    for (const JobPtr& job : unfinished)
      give_up(*job, State::cancelled,
              no_verdict("RESOURCE_ERROR", "the service was stopped before this ended"), calls);
  }
  for (const auto& call : calls) call();
}

/// The request that comes next, out of its queue; null if none waits, or only those whose tasks rest.
JobTable::JobPtr JobTable::next() {
  for (auto& queue : queues_) {
    const auto may_start = [this](const JobPtr& job) KERNELSMITH_REQUIRES(mutex_) {
      return !rests_.of(job->assignment.task->digest);
    };
    const auto has_room = [&](const JobPtr& job) KERNELSMITH_REQUIRES(mutex_) {
      return pool_.has_room_for(job->assignment.task->digest) && may_start(job);
    };
    auto chosen = std::ranges::find_if(queue, may_start);
    if (chosen == queue.end()) continue;
    if (Job::Clock::now() - (*chosen)->submitted < kPatience)
      if (const auto ready = std::ranges::find_if(queue, has_room); ready != queue.end()) chosen = ready;
    JobPtr job = *chosen;
    unqueue(job);
    return job;
  }
  return nullptr;
}

void JobTable::enqueue(const JobPtr& job) {
  const auto priority = static_cast<std::size_t>(job->request.priority);
  queues_[priority].push_back(job);
  ++counts_.pending[priority];
  counts_.queued_bytes += job->code_bytes;
}

void JobTable::unqueue(const JobPtr& job) {
  const auto priority = static_cast<std::size_t>(job->request.priority);
  queues_[priority].remove(job);
  --counts_.pending[priority];
  counts_.queued_bytes -= job->code_bytes;
}

void JobTable::pump() {
  while (under_way_.size() < options_.workers) {
    const JobPtr job = next();
    if (!job) return;
    job->state = State::processing;
    job->started = Job::Clock::now();
    ++counts_.processing;
    counts_.waiting.add(std::chrono::duration<double>(job->started - job->submitted).count());
    start(job);
  }
}

void JobTable::start(const JobPtr& job) {
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

/// The evaluator goes on with the request, or waits.
void JobTable::turn(const JobPtr& job, bool works) {
  const MutexLock lock(mutex_);
  if (job->state != State::processing) return;
  job->stint.next(works);
  if (!works) return;
  const std::chrono::duration<double> left(job->request.timeout_s - job->stint.worked_s);
  alarm_.after(left, [this, weak = std::weak_ptr(job), stint = job->stint.number] {
    if (const JobPtr late = weak.lock()) time_is_up(late, stint);
  });
}

void JobTable::arrived(const JobPtr& job, const Result<Evaluation>& evaluation) {
  Calls calls;
  {
    const MutexLock lock(mutex_);
    under_way_.erase(job->number);
    if (job->state == State::processing) {
      if (evaluation) {
        rests_.succeeded(job->assignment.task->digest);
        ++successes_[job->assignment.task->backend];
        settle(*job, State::completed, verdict_of(*evaluation, job->request), calls);
      } else if (!is_tried_again(job, evaluation.error())) {
        const bool stopped = evaluation.error().code == ErrorCode::cancelled;
        settle(*job, stopped ? State::cancelled : State::failed, verdict_of(evaluation.error()), calls);
      }
    }
    pump();
  }
  for (const auto& call : calls) call();
}

void JobTable::give_up(Job& job, State state, Verdict verdict, Calls& calls) {
  if (is_final(job.state)) return;
  settle(job, state, std::move(verdict), calls);
  calls.emplace_back([stop = job.stop]() mutable { stop.request_stop(); });
}

void JobTable::leave_processing(const Job& job) {
  counts_.evaluating.add(std::chrono::duration<double>(Job::Clock::now() - job.started).count());
  if (--counts_.processing == 0) idle_.notify_all();
}

void JobTable::settle(Job& job, State state, Verdict verdict, Calls& calls) {
  if (job.state == State::processing) leave_processing(job);
  job.state = state;
  job.completed_at = std::chrono::system_clock::now();
  job.finished = Job::Clock::now();
  job.verdict = std::move(verdict);
  job.answer = response_of(job).dump(-1, ' ', false, Json::error_handler_t::replace);
  job.verdict.metadata = nullptr;
  job.assignment = {};
  ++counts_.finished[static_cast<std::size_t>(state)];
  counts_.kept_bytes += job.answer.size();
  std::ranges::move(std::exchange(job.when_finished, {}), std::back_inserter(calls));
  finished_.push_back(jobs_.at(job.request.task_id));
  while (counts_.kept_bytes > options_.max_result_bytes && finished_.size() > 1) forget(finished_.front());
}

/// By value: the list's own pointer goes.
void JobTable::forget(JobPtr job) {
  counts_.kept_bytes -= job->answer.size();
  jobs_.erase(job->request.task_id);
  finished_.erase(std::ranges::find(finished_, job));
}

void JobTable::sweep() {
  Calls calls;
  {
    const MutexLock lock(mutex_);
    const auto now = Job::Clock::now();
    while (!finished_.empty() && now - finished_.front()->finished > options_.keep) forget(finished_.front());
    give_up_waiting(calls);
    rests_.forget_old();
  }
  for (const auto& call : calls) call();
  const auto pause = std::min(options_.keep, options_.max_wait) / 10;
  alarm_.after(std::clamp(pause, kShortestSweep, kLongestSweep), [this] { sweep(); });
}

}  // namespace kernelsmith::service
