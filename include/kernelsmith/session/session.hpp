// Session: connects a task and a configuration to an engine with a run folder.
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

/// One session of a run, from opening to end. Movable; one thread uses it.
///
/// The run folder also has a copy of the task, so that nothing else is needed to resume or show the run.
/// `best/` is updated at every new best. If the configuration names a memory, the run reads it once at the
/// beginning and adds new rules at the end.
class Session {
 public:
  /// Begins a run in `folder`, which must be absent or empty. The folder is made after the evaluator has
  /// accepted the task, so a refused task leaves no folder. A stop request ends create() with `cancelled`.
  static Result<Session> create(const TaskFolder& task, const std::filesystem::path& folder, RunConfig config,
                                std::shared_ptr<Observer> observer = nullptr,
                                const std::stop_token& stop = {});

  /// Opens a run to continue it. `change` may raise budgets and change settings that do not affect the search
  /// (workers, durability); the changes are written to run.yaml. A stop request ends resume() with
  /// `cancelled`.
  static Result<Session> resume(const std::filesystem::path& folder,
                                const std::function<Status(RunConfig&)>& change, const Registry& registry,
                                std::shared_ptr<Observer> observer = nullptr,
                                const std::stop_token& stop = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Engine::run, with updates of `best/`. Fails with check()'s error if the run folder is gone. Then the
  /// hint names another folder with the best program.
  Result<Outcome> run(const CommitCallback& on_commit = {}, std::stop_token stop = {});

  const Task& task() const;
  const RunConfig& config() const;
  const Engine& engine() const;
  std::filesystem::path folder() const;
  std::filesystem::path best_folder() const;
  /// RunStore::check: whether the run folder is still the same.
  Status check() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Refuses budgets that cannot be kept or would never end the run, before anything is made.
Status check_budgets(const RunConfig& config);

/// The engine's options for this task and configuration, without run, observer and clock.
Result<EngineOptions> engine_options(const Task& task, const RunConfig& config);

/// Evaluates candidates as a run would, one after another with one evaluator. `take` gets the number of each
/// candidate, from 0 and in order, with its answer. Every candidate gets an answer. Candidates may differ
/// from the seed outside its EVOLVE-BLOCKs, for example a baseline. `careful` is EvaluationJob's. Waits a
/// while if the machine is too noisy. Returns the first Error. After `unsupported` (this machine cannot
/// evaluate that candidate) the other candidates are still evaluated. After any other Error the remaining
/// candidates are not evaluated; each is answered with an Error that says so.
Status evaluate_all(const Task& task, const RunConfig& config, std::vector<Source> candidates,
                    const std::function<void(std::size_t, const Result<Evaluation>&)>& take,
                    const std::stop_token& stop = {}, bool careful = false);

/// Evaluates one candidate in the same way.
Result<Evaluation> evaluate_one(const Task& task, const RunConfig& config, const Source& candidate,
                                const std::stop_token& stop = {}, bool careful = false);

/// Gets one answer of an evaluator. If the machine is too noisy or in use, retries a few times, each time
/// with the job's next attempt number. Blocks; any thread may call it.
Result<Evaluation> evaluate_patiently(Evaluator& evaluator, EvaluationJob job, const std::stop_token& stop);

/// The task and the configuration in a run folder.
struct StoredRun {
  TaskFolder task;
  RunConfig config;
  MemorySnapshot memory;  ///< the rules that the run read at its start
};

/// Reads the task and the configuration. Errors: those of load_task_folder and read_config; `not_found` for a
/// folder that is not a run.
Result<StoredRun> load_stored_run(const std::filesystem::path& folder, const Registry& registry);

}  // namespace kernelsmith
