#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <kernelsmith/evaluator/parse_stage.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "recent.hpp"
#include "stage_scheduler.hpp"
#include "verdicts.hpp"

namespace kernelsmith {
namespace stages {
namespace {

constexpr unsigned kCoresToOverlap = 4;

Error cancelled() { return fail(ErrorCode::cancelled, "the evaluation was stopped"); }

/// A job on its way through the stages. Owned by the scheduler's work, one stage at a time.
struct Flight {
  EvaluationJob job;
  std::stop_token stop;
  Sink<Evaluation> done;
  WorkSink works;
  RunRequest request = {};
  Stopwatch whole = {};
  double queued_ms = 0;  ///< waiting for a slot

  /// Gives the single answer; later ones are dropped.
  void finish(Result<Evaluation> evaluation) {
    const auto sink = std::exchange(done, nullptr);
    if (!sink) return;
    if (evaluation) {
      Report report = evaluation->report();
      report.spent_ms["wait"] += queued_ms;
      explain_rest(report.spent_ms, whole.ms());
      evaluation = with_report(*evaluation, std::move(report));
    }
    sink(std::move(evaluation));
  }
};

class StagedEvaluator final : public Evaluator {
 public:
  StagedEvaluator(std::shared_ptr<const Task> task, std::shared_ptr<Backend> backend,
                  const EvaluatorOptions& options)
      : options_(options),
        task_(std::move(task)),
        backend_(std::move(backend)),
        binaries_(options.cached_binaries),
        verdicts_(options.shared_verdicts),
        scheduler_(options) {}

  void start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) override {
    start_watched(std::move(job), std::move(stop), std::move(done), [](bool) {});
  }

  void start_watched(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done,
                     WorkSink works) override {
    auto flight =
        std::make_shared<Flight>(Flight{std::move(job), std::move(stop), std::move(done), std::move(works)});
    post(Slot::compile, flight, [this, flight](std::size_t) { build(flight); });
  }

 private:
  using FlightPtr = std::shared_ptr<Flight>;
  using Work = std::function<void(std::size_t device)>;

  void post(Slot slot, const FlightPtr& flight, Work work) {
    auto guarded = [flight, work = std::move(work), queued = Stopwatch()](std::size_t device) {
      flight->queued_ms += queued.ms();
      try {
        work(device);
      } catch (const std::exception& e) {
        flight->finish(fail(ErrorCode::internal, std::string("an evaluation stage threw: ") + e.what()));
      }
    };
    scheduler_.post(slot, {std::move(guarded), [flight] { flight->finish(cancelled()); }, flight->stop});
  }

  void build(const FlightPtr& flight) {
    flight->works(true);
    if (auto ended = parse_and_compile(*flight)) return flight->finish(std::move(*ended));
    const RunRequest& request = flight->request;
    if (auto shared = verdicts_.find(flight->job, *request.candidate, request.report))
      return flight->finish(std::move(*shared));
    flight->works(false);
    post(Slot::run, flight, [this, flight](std::size_t device) { run(*flight, device); });
  }

  void run(Flight& flight, std::size_t device) {
    flight.works(true);
    flight.request.device = device;
    flight.request.works = flight.works;
    const BinaryPtr candidate = flight.request.candidate;
    auto evaluation = backend_->run(std::move(flight.request), flight.stop);
    if (evaluation) evaluation = verdicts_.keep(flight.job, *candidate, *evaluation);
    flight.finish(std::move(evaluation));
  }

  /// Returns the evaluation if it ends here; otherwise the flight's request is ready to run.
  std::optional<Result<Evaluation>> parse_and_compile(Flight& flight) {
    const EvaluationJob& job = flight.job;
    if (job.task != task_->digest)
      return Result<Evaluation>(fail(ErrorCode::invalid_argument, "the job is for another task"));
    if (auto rejection = parse_candidate(*task_, job, options_.max_source_bytes))
      return Evaluation(std::move(*rejection));

    auto candidate = compile(job.source, flight.stop);
    if (!candidate) return candidate.error();
    if (const Rejection* rejection = candidate->rejection()) return Evaluation(*rejection);
    const bool careful = job.careful || job.remeasurement == Remeasurement::confirm;
    flight.request = {.candidate = *candidate->binary(),
                      .rival = nullptr,
                      .remeasurement = job.remeasurement,
                      .careful = careful,
                      .report = std::move(candidate->report),
                      .features = std::move(candidate->features)};

    if (job.remeasurement == Remeasurement::confirm)
      if (auto differs = rebuild(job.source, *flight.request.candidate, flight.stop)) return differs;

    if (!job.rival) return std::nullopt;
    auto rival = compile(job.rival->source, flight.stop);
    if (!rival) return rival.error();
    // The rival was accepted before. If a source compiles only sometimes, that is its own fault, not the
    // machine's.
    if (const Rejection* rejection = rival->rejection()) {
      flight.request.report.incumbent_failed = "it does not compile any more: " + rejection->diagnostics;
    } else {
      flight.request.rival = *rival->binary();
    }
    return std::nullopt;
  }

  /// A confirmed candidate must compile to the same bytes again. Returns empty if it does.
  std::optional<Result<Evaluation>> rebuild(const Source& source, const Binary& measured,
                                            const std::stop_token& stop) {
    if (!measured.exact_bytes()) return std::nullopt;
    const auto again = backend_->compile(source, stop);
    if (!again) return again.error();
    const BinaryPtr* built = again->binary();
    if (!built)
      return fail(ErrorCode::tool_failed,
                  "a source that was compiled before failed now: " + again->rejection()->diagnostics);
    if ((*built)->exact_bytes() == measured.exact_bytes()) return std::nullopt;
    return Evaluation(Rejection{Stage::integrity, RejectionCode::not_reproducible,
                                "compiling the same source again gave another binary", again->report});
  }

  Result<Compilation> compile(const Source& source, const std::stop_token& stop) {
    const Digest key = source.digest();
    if (auto known = binaries_.find(key)) {
      known->report.spent_ms = {{"compile", 0}};
      return std::move(*known);
    }
    auto compilation = backend_->compile(source, stop);
    if (compilation) binaries_.put(key, *compilation);
    return compilation;
  }

  const EvaluatorOptions options_;
  const std::shared_ptr<const Task> task_;
  const std::shared_ptr<Backend> backend_;
  Recent<Compilation> binaries_;  ///< the task fixes backend and flags, so they need no key
  Verdicts verdicts_;
  StageScheduler scheduler_;  ///< last: its destructor finishes what is in flight
};

}  // namespace
}  // namespace stages

EvaluatorOptions EvaluatorOptions::for_this_machine() {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  EvaluatorOptions options;
  options.compile_while_running = cores >= stages::kCoresToOverlap;
  options.compile_slots = options.compile_while_running ? cores - 1 : cores;
  return options;
}

EvaluatorOptions EvaluatorOptions::for_devices(int count) {
  EvaluatorOptions options = for_this_machine();
  options.compile_while_running = true;
  options.run_slots = static_cast<std::size_t>(count);
  return options;
}

EvaluatorOptions EvaluatorOptions::for_programs(std::size_t runs_at_a_time) {
  EvaluatorOptions options;
  options.run_slots = runs_at_a_time > 0 ? runs_at_a_time : std::max(1U, std::thread::hardware_concurrency());
  options.compile_slots = options.run_slots;
  options.compile_while_running = true;
  return options;
}

std::shared_ptr<Evaluator> make_staged_evaluator(std::shared_ptr<const Task> task,
                                                 std::shared_ptr<Backend> backend, EvaluatorOptions options) {
  for (std::size_t* most : {&options.compile_slots, &options.run_slots})
    *most = std::max<std::size_t>(*most, 1);
  return std::make_shared<stages::StagedEvaluator>(std::move(task), std::move(backend), options);
}

}  // namespace kernelsmith
