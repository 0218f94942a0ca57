#include "backend_service.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include <kernelsmith/core/answer_of.hpp>

#include "names.hpp"

namespace kernelsmith::fleet {
namespace {

using std::chrono::steady_clock;

/// How long a slot waits for a job. An idle slot waits longer each time, so that a thousand idle slots do not
/// load the server.
constexpr milliseconds kFirstFetchWait{250}, kLongestFetchWait{2000};
constexpr milliseconds kLastFetchWait{20};
constexpr int kLongestRest = 16;  ///< the longest rest, as a multiple of WorkerOptions::rest

/// Whether the error comes from the machine and not from the job.
bool breaks_machine(ErrorCode code) {
  return code == ErrorCode::tool_missing || code == ErrorCode::disk_full;
}

/// Turns exceptions of `make` into Errors, so that the author of a task cannot end the worker.
EvaluatorMaker without_exceptions(EvaluatorMaker make) {
  return [make = std::move(make)](const Task& task) -> Result<std::shared_ptr<Evaluator>> {
    try {
      return make(task);
    } catch (const std::exception& error) {
      return fail(ErrorCode::bad_input, "the task cannot be prepared: " + std::string(error.what()));
    }
  };
}

Evaluation condemned(std::uint64_t lost) {
  Rejection rejection;
  rejection.stage = Stage::run;
  rejection.code = RejectionCode::worker_lost;
  rejection.diagnostics =
      std::to_string(lost) + " workers were lost while they evaluated this program, so it is not run again";
  return rejection;
}

}  // namespace

BackendService::BackendService(Bus& bus, const WorkerOptions& options, const WorkerBackend& backend,
                               WorkCounts& counts, std::function<void()> changed)
    : bus_(bus),
      options_(options),
      backend_(backend),
      counts_(counts),
      changed_(std::move(changed)),
      tasks_(bus, backend.name),
      prepared_(without_exceptions(backend.make), options.prepared_tasks),
      ack_wait_(options.ack_wait),
      rest_(options.rest, kLongestRest * options.rest) {}

Status BackendService::begin(const std::stop_token& stop) {
  const std::string queue = jobs_queue(backend_.name, backend_.hardware);
  const std::string filter = jobs_filter(backend_.name, backend_.hardware);
  if (const auto ack_wait = declare_queue(stop); !ack_wait) return ack_wait.error();
  for (unsigned slot = 0; slot < std::max(backend_.slots, 1U); ++slot) {
    auto source = bus_.jobs(kJobsStream, queue, filter);
    if (!source) return source.error();
    sources_.push_back(std::move(*source));
  }
  for (const auto& source : sources_)
    threads_.emplace_back([this, &source = *source, stop] { serve(source, stop); });
  return {};
}

Result<milliseconds> BackendService::declare_queue(const std::stop_token& stop) {
  auto declared = bus_.declare_queue(kJobsStream, jobs_queue(backend_.name, backend_.hardware),
                                     jobs_filter(backend_.name, backend_.hardware), ack_wait_.load(), stop);
  if (declared) ack_wait_ = *declared;  // also called after the queue was recreated
  return declared;
}

void BackendService::finish() {
  for (std::jthread& thread : threads_) thread.join();
  threads_.clear();
}

Moment BackendService::rests_until() const {
  const MutexLock lock(mutex_);
  return rest_.until();
}

void BackendService::serve(JobSource& source, const std::stop_token& stop) {
  milliseconds wait = kFirstFetchWait;
  for (wait_while_resting(stop); !stop.stop_requested(); wait_while_resting(stop)) {
    const auto delivery = source.next(wait);
    wait = delivery ? kFirstFetchWait : std::min(2 * wait, kLongestFetchWait);
    if (delivery) handle(*delivery, stop);
  }
  // Hands back a job that arrived at the last moment, so that another worker gets it at once.
  if (const auto delivery = source.next(kLastFetchWait)) delivery->hand_back();
}

void BackendService::wait_while_resting(const std::stop_token& stop) {
  bool rested = false;
  for (; rests() && !stop.stop_requested(); rested = true)
    pause_for(rests_until() - steady_clock::now(), stop);
  if (rested && !stop.stop_requested()) changed_();
}

/// Evaluates a job and answers it. Meanwhile tells the server, three times in each period of its patience,
/// that this worker still works; else the server would give the job to another worker.
void BackendService::handle(Delivery& delivery, const std::stop_token& stop) {
  const milliseconds every = ack_wait_.load() / 3;
  const Repeater still_working(
      [&](Moment now, const std::stop_token&) {
        delivery.still_working();
        return now + every;
      },
      steady_clock::now() + every);
  auto message = decode_job(delivery.payload());
  if (!message) {
    if (const auto id = JobId::parse(delivery.id())) return answer(delivery, *id, message.error());
    tell(Notice::Level::warning, "dropping a job that cannot be read: " + describe(message.error()));
    return delivery.done();
  }
  if (delivery.times_delivered() > 1) {
    const auto lost = begin_again(delivery, message->id, stop);
    if (!lost) return delivery.hand_back();
    if (*lost >= kMostLosses) {
      tell(Notice::Level::warning, "program " + std::to_string(message->job.candidate.value) + " of run " +
                                       message->job.run + " is not run: " + std::to_string(*lost) +
                                       " workers were lost on it");
      ++counts_.given_up;
      return answer(delivery, message->id, condemned(*lost));
    }
  }
  auto evaluation = evaluate(std::move(message->job), stop);
  if (evaluation) {
    const MutexLock lock(mutex_);
    rest_.succeeded();
  } else if (breaks_machine(evaluation.error().code)) {
    rest_after(evaluation.error());
  }
  answer(delivery, message->id, std::move(evaluation));
}

/// Returns how many workers have begun the redelivered job before and were lost. If there are fewer than
/// kMostLosses, records that this worker begins it. Does not count the first delivery, which may never have
/// reached a worker.
Result<std::uint64_t> BackendService::begin_again(const Delivery& delivery, const JobId& id,
                                                  const std::stop_token& stop) {
  const auto begun = bus_.subjects(kBegunStream, begun_filter(id.key), stop);
  if (!begun) return begun.error();
  if (begun->size() >= kMostLosses) return begun->size();
  const auto marked =
      bus_.put({kBegunStream, begun_subject(id, delivery.times_delivered()), options_.name, "", false}, stop);
  if (!marked) return marked.error();
  return begun->size();
}

Result<Evaluation> BackendService::evaluate(EvaluationJob job, const std::stop_token&) {
  // Gives the evaluator no stop request, so that a started job is finished.
  const auto run = [&]() -> Result<Evaluation> {
    try {
      const auto task = tasks_.task_of(job.task, {});
      if (!task) return task.error();
      return answer_of<Evaluation>(
                 [&](auto done) { prepared_.start(*task, std::move(job), {}, std::move(done), [](bool) {}); })
          .get();
    } catch (const std::exception& error) {
      // The author of a job must not be able to end the worker either.
      return fail(ErrorCode::bad_input, "the job cannot be evaluated: " + std::string(error.what()));
    }
  };
  if (backend_.hardware.empty()) return run();
  const Digest task = job.task;
  const TaskGate::Pass pass(gate_, task);
  return run();
}

/// Sends the result before the acknowledgement. If the worker is lost in between, the job is evaluated twice
/// and the coordinator uses one of the results.
void BackendService::answer(Delivery& delivery, const JobId& id, Result<Evaluation> answer) {
  if (!answer) answer = as_mine(answer.error());
  ++(answer ? counts_.evaluated : counts_.failed);
  const ResultMessage result{id, options_.name, std::move(answer)};
  const auto put = bus_.put(
      {kResultsStream, result_subject(id.key), encode_result(result, bus_.most_bytes()), id.text(), false},
      {});
  if (put) return delivery.done();
  tell(Notice::Level::warning,
       "a result cannot be sent, so another worker will get the job: " + describe(put.error()));
}

void BackendService::rest_after(const Error& error) {
  Seconds pause{};
  {
    const MutexLock lock(mutex_);
    if (!rest_.failed(steady_clock::now())) return;  // another slot has already reported this failure
    pause = rest_.length();
  }
  tell(Notice::Level::warning, "the backend " + backend_.name + " takes no jobs for " +
                                   std::to_string(static_cast<long long>(pause.count())) +
                                   " s, because this machine cannot serve it: " + describe(error));
  changed_();
}

void BackendService::tell(Notice::Level level, const std::string& text) const {
  if (options_.tell) options_.tell({level, text});
}

Error BackendService::as_mine(Error error) const {
  error.where = "worker " + options_.name + (error.where.empty() ? "" : ": " + error.where);
  return error;
}

}  // namespace kernelsmith::fleet
