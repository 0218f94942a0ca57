// Session: a task and a configuration, wired to an engine over a run folder.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/memory/retrieval.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/task_folder.hpp>

namespace kernelsmith {

/// One sitting of a run, from open to end. Movable; one thread uses it.
///
/// The run folder holds a copy of the task beside what RunStore keeps, so that resuming and showing need
/// nothing else. `best/` is brought up to date at every new best. If the configuration names a memory, the
/// run reads it once, at its beginning, and adds what it teaches when it has ended.
class Session {
 public:
  /// Begins a run in `folder`, which must be absent or empty, after the evaluator has taken the task: a task
  /// that is refused leaves no folder behind. On a stop request it is given up (`cancelled`).
  static Result<Session> create(const TaskFolder& task, const std::filesystem::path& folder, RunConfig config,
                                std::shared_ptr<Observer> observer = nullptr,
                                const std::stop_token& stop = {});

  /// Opens a run to go on with it. `change` may raise budgets and change what does not alter the search
  /// (workers, durability); what it changed is written to run.yaml. On a stop request it is given up
  /// (`cancelled`).
  static Result<Session> resume(const std::filesystem::path& folder,
                                const std::function<Status(RunConfig&)>& change, const Registry& registry,
                                std::shared_ptr<Observer> observer = nullptr,
                                const std::stop_token& stop = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Engine::run, and keeps `best/`. Fails with check()'s error if the run folder is gone; then the best
  /// program stands in a folder that the hint names.
  Result<Outcome> run(const CommitCallback& on_commit = {}, std::stop_token stop = {});

  const Task& task() const;
  const RunConfig& config() const;
  const Engine& engine() const;
  std::filesystem::path folder() const;
  std::filesystem::path best_folder() const;
  /// RunStore::check: whether the run folder is still what it was.
  Status check() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Refuses budgets that cannot be kept or would never end, before anything is made.
Status check_budgets(const RunConfig& config);

/// The engine's options for this task and configuration, without run, observer and clock.
Result<EngineOptions> engine_options(const Task& task, const RunConfig& config);

/// Evaluates candidates as a run would, one after another with one evaluator. `take` is given each one's
/// number, from 0 and in order, with its answer: all have one, whatever happens. They may differ from the
/// seed outside its EVOLVE-BLOCKs: a baseline, or anything else of the user's. `careful` is EvaluationJob's.
/// Waits a while if the machine is too noisy. The first Error is returned; after `unsupported`, which says
/// what this machine cannot do with one candidate, the others still have their turn, after any other their
/// answer is an Error that says so.
Status evaluate_all(const Task& task, const RunConfig& config, std::vector<Source> candidates,
                    const std::function<void(std::size_t, const Result<Evaluation>&)>& take,
                    const std::stop_token& stop = {}, bool careful = false);

/// The same for one.
Result<Evaluation> evaluate_one(const Task& task, const RunConfig& config, const Source& candidate,
                                const std::stop_token& stop = {}, bool careful = false);

/// One answer of an evaluator. Asks again a few times, with the job's next attempt, if the machine is too
/// noisy or in use. Blocks; for any thread.
Result<Evaluation> evaluate_patiently(Evaluator& evaluator, EvaluationJob job, const std::stop_token& stop);

/// The task and the configuration that a run folder holds.
struct StoredRun {
  TaskFolder task;
  RunConfig config;
  MemorySnapshot memory;  ///< what it read at its start
};

/// Reads them. Errors: those of load_task_folder and read_config; `not_found` for a folder that is no run.
Result<StoredRun> load_stored_run(const std::filesystem::path& folder, const Registry& registry);

}  // namespace kernelsmith
