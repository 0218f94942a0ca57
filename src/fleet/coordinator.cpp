#include "coordinator.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/config/json.hpp>

#include "messages.hpp"
#include "names.hpp"
#include "roster.hpp"

namespace kernelsmith::fleet {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr milliseconds kWatchEvery = 20ms;
/// How often to look for results that were stored while disconnected; other results arrive by themselves.
constexpr milliseconds kLookEvery = 5s;
constexpr milliseconds kLookTick = 100ms;
/// How long the coordinator waits before it reports that it waits.
constexpr milliseconds kTellAfter = 5s;
/// How often a job is tried whose task a worker does not find: a server may lose a task that it has accepted.
constexpr std::uint32_t kMostTaskRounds = 8;

Error unreadable(const Error& why) {
  return fail(why.code, "a worker's result cannot be read: " + why.message, why.where,
              "use one version of kernelsmith on all machines of a fleet");
}

}  // namespace

Coordinator::Coordinator(std::shared_ptr<Bus> bus, const Task& task, const FleetOptions& options)
    : bus_(std::move(bus)),
      backend_(task.backend),
      task_(task.digest),
      task_message_(encode_task(task)),
      options_(options),
      places_(*bus_, backend_, options.hardware, options.wait_for_worker) {}

Status Coordinator::begin() {
  if (Status joined = join_fleet(*bus_, {}); !joined) return joined;
  const auto workers = read_roster(*bus_, {});
  if (!workers) return workers.error();
  if (const auto kinds = hardware_of(*workers, backend_); !kinds.empty())
    if (const auto chosen = choose_hardware(kinds, options_.hardware); !chosen) return chosen.error();
  if (Status sent = send_task({}); !sent) return sent;
  asker_ = std::jthread([this](const std::stop_token& stop) { ask_all(stop); });
  looked_at_ = server_state();
  next_look_ = steady_clock::now() + kLookEvery;
  looker_.emplace(kLookTick, [this](const std::stop_token& stop) { look_for_results(stop); });
  watcher_.emplace(kWatchEvery, [this](const std::stop_token&) { watch(); });
  return {};
}

Coordinator::~Coordinator() {
  pending_.wait_until_empty();
  asker_.request_stop();
  if (asker_.joinable()) asker_.join();
  looker_.reset();
  watcher_.reset();
  listening_.clear();  // ends listening, because unneeded results may still arrive
  remove_given_up();
}

void Coordinator::start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) {
  if (job.task != task_)
    return done(fail(ErrorCode::invalid_argument, "the job belongs to another task than this evaluator"));
  std::string text = to_json(job);
  const JobKey key = key_of(job, text);
  const std::string subject = result_subject(key);
  if (!pending_.add({{key, 0}, std::move(text)}, std::move(stop), done))
    return done(fail(ErrorCode::invalid_argument, "this attempt is already being evaluated", subject));
  to_ask_.post(std::string(subject));
}

// Asking for evaluations.

void Coordinator::ask_all(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { to_ask_.wake(); });
  while (!stop.stop_requested())
    if (const auto subject = to_ask_.take()) ask(*subject, stop);
}

void Coordinator::ask(const std::string& subject, const std::stop_token& stop) {
  auto asking = pending_.find(subject);
  if (!asking) return;
  const std::string& run = asking->id.key.run;
  const auto place = places_.place_of(
      run, [&] { return pending_.find(subject).has_value(); }, stop);
  Status asked;
  if (!place) {
    asked = place.error();
  } else {
    {
      const MutexLock lock(mutex_);
      hardware_ = place->hardware;
    }
    asked = listen_to(run);
    if (asked) asked = send_task(stop);
    if (asked) asked = queue_job(subject, std::move(*asking), *place, stop);
  }
  if (!asked) pending_.finish(subject, asked.error());
}

/// A number that changes when the server may have lost data.
std::uint64_t Coordinator::server_state() const {
  return bus_->connections() + bus_->streams_lost() + tasks_missed_;
}

/// Sends the task, once for each server_state(), because a server may have lost its disk.
Status Coordinator::send_task(const std::stop_token& stop) {
  const std::uint64_t state = server_state();
  if (task_sent_with_ == state) return {};
  const std::string subject = task_subject(task_);
  const auto stored = bus_->latest(kTasksStream, subject, stop);
  if (!stored) return stored.error();
  if (!*stored || (*stored)->payload != task_message_) {
    const auto put = bus_->put({kTasksStream, subject, task_message_, "", false}, stop);
    if (!put) {
      Error error = put.error();
      if (error.code == ErrorCode::too_long)
        error.message = "the task is too large for the fleet: " + error.message;
      return error;
    }
  }
  task_sent_with_ = state;
  return {};
}

Status Coordinator::listen_to(const std::string& run) {
  std::unique_ptr<Listening>& listening = listening_[run];
  if (listening) return {};
  auto begun = bus_->listen(results_filter(run), [this](std::string_view payload) {
    if (auto result = decode_result(payload)) take(std::move(*result));
  });
  if (!begun) return begun.error();
  listening = std::move(*begun);
  return {};
}

/// Looks for an answer to a job of an earlier session. An Error does not count as an answer; `id` then gets a
/// later round.
Result<bool> Coordinator::is_answered(const std::string& subject, JobId& id, const std::stop_token& stop) {
  const auto stored = bus_->latest(kResultsStream, subject, stop);
  if (!stored) return stored.error();
  if (!*stored) return false;
  auto result = decode_result((*stored)->payload);
  if (!result || result->id.key != id.key) return false;
  if (!result->answer) {
    id.round = std::max(id.round, result->id.round + 1);
    return false;
  }
  return take(std::move(*result));
}

Result<bool> Coordinator::is_queued(const std::string& subject, const std::string& job_subject,
                                    const JobId& id, const std::stop_token& stop) {
  const auto stored = bus_->latest(kJobsStream, job_subject, stop);
  if (!stored) return stored.error();
  if (!*stored) return false;
  const auto job = decode_job((*stored)->payload);
  if (!job || job->id.key != id.key || job->id.round < id.round) return false;
  pending_.mark_asked(subject, job->id, (*stored)->sequence);
  return true;
}

Status Coordinator::queue_job(const std::string& subject, Asking asking, const RunPlace& place,
                              const std::stop_token& stop) {
  const std::string job = job_subject(backend_, place.hardware, asking.id.key);
  bool may_be_there = place.begun_before || asking.id.round > 0;
  for (;; may_be_there = true) {
    if (may_be_there) {
      const auto answered = is_answered(subject, asking.id, stop);
      if (!answered) return answered.error();
      if (*answered) return {};
      const auto queued = is_queued(subject, job, asking.id, stop);
      if (!queued) return queued.error();
      if (*queued) return {};
    }
    const auto put =
        bus_->put({kJobsStream, job, encode_job(asking.id, asking.text), asking.id.text(), false}, stop);
    if (!put) return put.error();
    // A repeated job that is gone was answered or removed before, so it needs another id.
    const auto there = put->repeated ? bus_->holds(kJobsStream, put->sequence, stop) : Result<bool>(true);
    if (!there) return there.error();
    if (*there) {
      pending_.mark_asked(subject, asking.id, put->sequence);
      return {};
    }
    if (!pending_.find(subject)) return {};
    ++asking.id.round;
  }
}

/// Whether the worker did not find the task, because the server has lost it without our noticing.
bool Coordinator::misses_task(const ResultMessage& result) const {
  return !result.answer && result.id.round < kMostTaskRounds &&
         result.answer.error().code == ErrorCode::not_found &&
         result.answer.error().where.ends_with(short_name(task_));
}

/// Passes the result to its job. Refuses a result from other hardware than that of the first result, because
/// scores of different hardware do not compare.
bool Coordinator::take(ResultMessage result) {
  if (misses_task(result)) {
    const std::string subject = result_subject(result.id.key);
    const auto asking = pending_.find(subject);
    if (!asking || asking->id != result.id) return false;
    ++tasks_missed_;
    ask_again(subject);
    return true;
  }
  if (result.answer && !result.answer->report().hardware.empty()) {
    const MutexLock lock(mutex_);
    const std::string& hardware = result.answer->report().hardware;
    const bool matters = hardware_ && !hardware_->empty();
    if (matters && measured_on_.empty()) measured_on_ = hardware;
    if (matters && measured_on_ != hardware)
      result.answer = fail(ErrorCode::unsupported,
                           "measured on " + hardware + ", but this run's scores come from " + measured_on_,
                           "worker " + result.worker,
                           "make the worker measure on the device that it offers: evaluator.device");
  }
  return pending_.deliver(std::move(result));
}

// Looking for results that the listener missed.

void Coordinator::look_for_results(const std::stop_token& stop) {
  remove_given_up();
  if (bus_->away_for().count() > 0) return;
  const Moment now = steady_clock::now();
  const std::uint64_t state = server_state();
  const bool again = std::exchange(looked_at_, state) != state;
  if (!again && now < next_look_) return;
  next_look_ = now + kLookEvery;
  if (again && !join_fleet(*bus_, stop)) return;  // makes the streams again if the server lost its disk
  const std::vector<Asked> jobs = pending_.asked_before(again ? now : now - kLookEvery);
  if (jobs.empty()) unanswered_since_.reset();
  for (const Asked& job : jobs)
    if (!look_for(job, stop)) break;
  look_for_workers(stop);
}

bool Coordinator::look_for(const Asked& job, const std::stop_token& stop) {
  const auto asked = steady_clock::now();
  // Asks in this order, because a job leaves the queue only when its result exists.
  const auto queued = bus_->holds(kJobsStream, job.sequence, stop);
  if (!queued) return no_answer(queued.error(), asked);
  const auto stored = bus_->latest(kResultsStream, job.subject, stop);
  if (!stored) return no_answer(stored.error(), asked);
  unanswered_since_.reset();
  if (*stored) {
    auto result = decode_result((*stored)->payload);
    if (!result && !*queued) {  // a retry would give the same result
      pending_.finish(job.subject, unreadable(result.error()));
      return true;
    }
    if (result && take(std::move(*result))) return true;
  }
  if (!*queued) {
    ask_again(job.subject);
    return true;
  }
  std::string queue;
  {
    const MutexLock lock(mutex_);
    if (!hardware_) return true;
    queue = jobs_queue(backend_, *hardware_);
  }
  const Status mended = bus_->mend_queue(kJobsStream, queue, job.sequence, stop);
  if (!mended && mended.error().code != ErrorCode::network && mended.error().code != ErrorCode::cancelled)
    pending_.finish(job.subject, mended.error());
  return true;
}

/// Handles the error of a reachable server that does not return stored data, because its disk was full or we
/// lack permission. Ends the jobs with this error once the patience is over.
bool Coordinator::no_answer(const Error& error, Moment asked) {
  if (error.code == ErrorCode::cancelled) return false;
  if (!unanswered_since_) unanswered_since_ = asked;
  if (steady_clock::now() - *unanswered_since_ > options_.patience) pending_.fail_all(error, true);
  return false;
}

void Coordinator::ask_again(const std::string& subject) {
  if (pending_.ask_again(subject)) to_ask_.post(std::string(subject));
}

void Coordinator::look_for_workers(const std::stop_token& stop) {
  const auto now = steady_clock::now();
  std::optional<std::string> hardware;
  {
    const MutexLock lock(mutex_);
    hardware = hardware_;
  }
  if (!hardware || pending_.asked_before(now - kLookEvery).empty()) {
    told_of_workers_ = false;
    return without_worker_since_.reset();
  }
  const auto workers = read_roster(*bus_, stop);
  if (!workers || hardware_of(*workers, backend_).contains(*hardware)) {
    if (std::exchange(told_of_workers_, false)) tell("a worker is there again");
    return without_worker_since_.reset();
  }
  if (!without_worker_since_) without_worker_since_ = now;
  if (now - *without_worker_since_ >= kTellAfter && !std::exchange(told_of_workers_, true))
    tell("waiting for a worker for the backend '" + backend_ + "' on " + *hardware);
  if (now - *without_worker_since_ < options_.wait_for_worker) return;
  pending_.fail_all(without_worker(backend_, *hardware), true);
}

void Coordinator::remove_given_up() {
  while (const auto sequence = given_up_.take(Moment{})) bus_->remove(kJobsStream, *sequence);
}

// Ending jobs for which nobody waits.

void Coordinator::watch() {
  for (const std::string& subject : pending_.stopped()) {
    const auto queued = pending_.finish(subject, fail(ErrorCode::cancelled, "the evaluation was stopped"));
    if (queued.value_or(0) != 0) given_up_.post(std::uint64_t{*queued});
  }
  const milliseconds away = bus_->away_for();
  if (away >= kTellAfter && !std::exchange(told_of_absence_, true))
    tell("waiting for the server: " + bus_->away_error().message);
  if (away == 0ms && std::exchange(told_of_absence_, false)) tell("the server is there again");
  if (away > options_.patience) pending_.fail_all(bus_->away_error());
}

void Coordinator::tell(const std::string& words) const {
  if (options_.tell) options_.tell(words);
}

}  // namespace kernelsmith::fleet

namespace kernelsmith {

Result<std::shared_ptr<Evaluator>> make_fleet_evaluator(const Task& task, const FleetOptions& options) {
  auto bus = fleet::connect({.server = options.server,
                             .name = "kernelsmith run",
                             .patience = options.patience,
                             .tell = options.tell},
                            {});
  if (!bus) return bus.error();
  auto coordinator = std::make_shared<fleet::Coordinator>(std::move(*bus), task, options);
  if (const Status begun = coordinator->begin(); !begun) return begun.error();
  return coordinator;
}

}  // namespace kernelsmith
