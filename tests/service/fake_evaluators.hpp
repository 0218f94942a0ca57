// Evaluators that answer when a test says so, and requests for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "evaluation/job_table.hpp"

namespace kernelsmith::service {

/// The backend of what requests bring, on a machine that has its hardware.
inline Backends module_backends() {
  BackendDescription torch;
  torch.name = "torch";
  torch.suffix = ".py";
  torch.form = TaskForm::module;
  torch.settings = torch_task_settings();
  return {{"torch", torch}};
}

/// What was started and not yet answered, in order. Stopped evaluations are answered by themselves.
/// Thread-safe.
class Bench {
 public:
  struct Started {
    EvaluationJob job;
    Sink<Evaluation> done;
    WorkSink works = {};
  };

  /// The next evaluation that was started; waits for one.
  Started next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !started_.empty(); });
    Started first = std::move(started_.front());
    started_.pop_front();
    return first;
  }

  /// Answers the next one, and returns what its candidate was.
  std::string answer(Result<Evaluation> evaluation) {
    const Started started = next();
    started.done(std::move(evaluation));
    return std::string(started.job.source.main_text());
  }

  std::map<std::string, int> made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }

  /// From now on what is started waits for its turn until the test calls `works`.
  void let_wait() {
    const std::lock_guard lock(mutex_);
    waits_ = true;
  }

  /// Until then no task is prepared whose name begins with "gated".
  void open_gate() { gate_.set_value(); }

  EvaluatorMaker maker() {
    return [this](const Task& task) -> Result<std::shared_ptr<Evaluator>> {
      if (task.name.starts_with("gated")) gate_future_.wait();
      const std::lock_guard lock(mutex_);
      ++made_[task.name];
      if (task.name == "broken") return fail(ErrorCode::tool_missing, "no compiler", "", "install one");
      return std::make_shared<OnBench>(*this);
    };
  }

 private:
  class OnBench final : public Evaluator {
   public:
    explicit OnBench(Bench& bench) : bench_(bench) {}
    void start(EvaluationJob, std::stop_token, Sink<Evaluation>) override {}
    void start_watched(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done,
                       WorkSink works) override {
      auto once = std::make_shared<Once>(std::move(done));
      once->stopping.emplace(stop, [weak = std::weak_ptr(once)] {
        if (const auto held = weak.lock()) held->answer(fail(ErrorCode::cancelled, "stopped"));
      });
      if (!bench_.lets_wait()) works(true);
      const std::lock_guard lock(bench_.mutex_);
      bench_.started_.push_back(
          {std::move(job), [once](Result<Evaluation> evaluation) { once->answer(std::move(evaluation)); },
           std::move(works)});
      bench_.changed_.notify_all();
    }

   private:
    struct Once {
      explicit Once(Sink<Evaluation> sink) : done(std::move(sink)) {}
      void answer(Result<Evaluation> evaluation) {
        std::call_once(flag, [&] { done(std::move(evaluation)); });
      }
      std::once_flag flag;
      Sink<Evaluation> done;
      std::optional<std::stop_callback<std::function<void()>>> stopping;
    };
    Bench& bench_;
  };

  bool lets_wait() const {
    const std::lock_guard lock(mutex_);
    return waits_;
  }

  bool waits_ = false;
  std::promise<void> gate_;
  const std::shared_future<void> gate_future_ = gate_.get_future().share();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Started> started_;
  std::map<std::string, int> made_;
};

inline TaskPtr a_task(const std::string& name) {
  Task task;
  task.name = name;
  task.backend = "command";
  task.digest = digest_of(name);
  return std::make_shared<const Task>(std::move(task));
}

inline Submission a_submission(const std::string& id, const TaskPtr& task,
                               Priority priority = Priority::normal) {
  Submission submission;
  submission.request.task_id = id;
  submission.request.kernel_code = id;
  submission.request.priority = priority;
  submission.request.digest = digest_of(id);
  submission.assignment = {task, Source::create({{"candidate.txt", id}}).value()};
  return submission;
}

inline Evaluation accepted(double fitness) {
  return Acceptance{Metrics::create(Measurement::exact(fitness)).value(), {}};
}

}  // namespace kernelsmith::service
