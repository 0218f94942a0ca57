// Runs many trajectories: chooses the next one, shares tools, and writes the files after each trajectory.
#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/prompts/turn.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/task_folder.hpp>
#include <kernelsmith/suite/stts.hpp>

#include "outage.hpp"
#include "stts_folder.hpp"
#include "stts_trajectory.hpp"

namespace kernelsmith {
namespace {

/// The digest of all that determines a trajectory, except its sample and its length.
std::string basis_of(const Task& task, const std::map<std::string, std::string>& settings) {
  DigestBuilder basis;
  basis.add(task.digest.hex());
  for (const auto& [name, value] : settings)
    if (name != suite::kTurnsSetting) basis.add(name).add(value);
  return basis.finish().hex();
}

using suite::SttsFolder;
using suite::SttsJournal;
using suite::SttsTools;
using ToolsPtr = std::shared_ptr<const SttsTools>;

/// The tools of one task: made by the first trajectory that needs them, and shared while in use.
struct SharedTools {
  Mutex mutex;
  std::weak_ptr<const SttsTools> tools KERNELSMITH_GUARDED_BY(mutex);
};

class Run {
 public:
  Run(const std::vector<SuiteTask>& tasks, const SttsOptions& options, const Registry& registry,
      std::shared_ptr<ChatModel> model, SttsHost& host, SttsFolder folder)
      : tasks_(tasks),
        options_(options),
        registry_(registry),
        model_(std::move(model)),
        host_(host),
        folder_(std::move(folder)),
        shared_(tasks.size()) {}

  Result<SttsReport> operator()(const std::stop_token& stop) {
    const std::stop_callback outer(stop, [this] { stop_.request_stop(); });
    {
      const MutexLock lock(mutex_);
      if (const Status begun = folder_.begin(report()); !begun) return begun.error();
    }
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < std::min(options_.workers, number_of_jobs()); ++i)
        threads.emplace_back([this] { work(); });
    }
    const MutexLock lock(mutex_);
    if (const Status written = folder_.write(report()); !written && !failure_) failure_ = written.error();
    if (failure_) return *failure_;
    return report();
  }

 private:
  /// One trajectory. Tasks run one after another; the samples of a task run in parallel, because they share
  /// an evaluator.
  struct Job {
    std::size_t task, sample;  ///< both count from 0
    auto operator<=>(const Job&) const = default;
  };

  std::size_t number_of_jobs() const { return tasks_.size() * options_.samples; }

  void work() {
    while (const auto job = next()) {
      auto made = make(*job);
      // The stop request caused the error, not the task.
      if (!made && stop_.stop_requested()) return;
      finish(*job, std::move(made));
    }
  }

  std::optional<Job> next() {
    const MutexLock lock(mutex_);
    if (next_ == number_of_jobs() || stop_.stop_requested()) return std::nullopt;
    const std::size_t number = next_++;
    return Job{number / options_.samples, number % options_.samples};
  }

  /// A trajectory so far, and the error that ended it early, if any.
  struct Made {
    SttsTrajectory trajectory;
    Status ended;
    std::string basis;
    bool fresh = false;  ///< whether this call had to continue it
  };

  Result<Made> make(const Job& job) {
    const SuiteTask& task = tasks_[job.task];
    const auto loaded = load_task_folder(task.path, registry_.backends);
    if (!loaded) return loaded.error();
    const std::string basis = basis_of(loaded->task, options_.settings);
    auto journal =
        SttsJournal::open(folder_.journal_of(task.name, job.sample + 1), {task.name, job.sample + 1, basis});
    if (!journal) return journal.error();
    Status ended;
    const bool fresh = journal->trajectory().turns.size() < options_.plan.turns;
    if (fresh) {
      const auto tools = tools_of(job.task, loaded->task);
      if (!tools) return tools.error();
      const auto sink = [&](std::size_t number, const SttsTurn& turn) {
        const MutexLock lock(mutex_);
        host_.turn(name_of(job), number, turn);
      };
      ended = suite::complete(*journal, options_.plan, **tools, sink, stop_.get_token());
      if (!ended && stop_.stop_requested()) return ended.error();
    }
    return Made{journal->trajectory(), std::move(ended), basis, fresh};
  }

  Result<ToolsPtr> tools_of(std::size_t number, const Task& task) {
    SharedTools& shared = shared_[number];
    const MutexLock lock(shared.mutex);
    if (auto tools = shared.tools.lock()) return tools;
    auto config = configure(task);
    if (!config) return config.error();
    PromptOptions options = with_backend(prompt_options(*config, {}), task, config->backend);
    auto prompts = PromptBuilder::create(task, options);
    if (!prompts) return prompts.error();
    auto evaluator = config->evaluator.provider->make(task, stop_.get_token());
    if (!evaluator) return evaluator.error();
    auto tools = std::make_shared<const SttsTools>(SttsTools{
        task, config->seed, std::move(options), std::move(*prompts), std::move(*evaluator), model_});
    shared.tools = tools;
    return tools;
  }

  Result<RunConfig> configure(const Task& task) {
    const MutexLock lock(mutex_);
    return host_.configure(task);
  }

  std::string name_of(const Job& job) const {
    const std::string& name = tasks_[job.task].name;
    return options_.samples == 1 ? name : name + "#" + std::to_string(job.sample + 1);
  }

  /// The record of a trajectory. A trajectory that an error ended counts as not solved.
  TaskResult record(const Job& job, const Result<Made>& made, TaskResult (*of)(const SttsTrajectory&)) const {
    TaskResult result = made ? of(made->trajectory) : TaskResult();
    if (made) result.basis = made->basis;
    if (!made || !made->ended) {
      TaskResult failed;
      failed.basis = result.basis;
      failed.candidates = result.candidates;
      failed.hacks = result.hacks;
      failed.cost = result.cost;
      failed.error = made ? made->ended.error() : made.error();
      result = std::move(failed);
    }
    result.name = name_of(job);
    result.level = tasks_[job.task].level;
    return result;
  }

  void finish(const Job& job, Result<Made> made) {
    const MutexLock lock(mutex_);
    const auto& records =
        records_[job] = {record(job, made, suite::last_result), record(job, made, suite::best_result)};
    if (made && !made->fresh) return;
    host_.end(records.second);
    if (!failure_) failure_ = outage_.after(records.second.error);
    if (const Status written = folder_.write(report()); !written && !failure_) failure_ = written.error();
    if (failure_) stop_.request_stop();
  }

  SttsReport report() const KERNELSMITH_REQUIRES(mutex_) {
    SttsReport report;
    for (SuiteReport* one : {&report.last, &report.best})
      *one = {"stts", options_.settings, number_of_jobs(), {}};
    for (const auto& [job, records] : records_) {
      report.last.results.push_back(records.first);
      report.best.results.push_back(records.second);
    }
    return report;
  }

  const std::vector<SuiteTask>& tasks_;
  const SttsOptions& options_;
  const Registry& registry_;
  const std::shared_ptr<ChatModel> model_;
  SttsHost& host_;
  const SttsFolder folder_;
  std::vector<SharedTools> shared_;
  std::stop_source stop_;
  Mutex mutex_;  ///< guards the following members, and calls to the host
  std::size_t next_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  std::map<Job, std::pair<TaskResult, TaskResult>> records_ KERNELSMITH_GUARDED_BY(mutex_);
  suite::Outage outage_ KERNELSMITH_GUARDED_BY(mutex_){"trajectories"};
  std::optional<Error> failure_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace

Result<SttsReport> run_stts(const std::vector<SuiteTask>& tasks, const SttsOptions& wanted,
                            const Registry& registry, const std::shared_ptr<ChatModel>& model, SttsHost& host,
                            const std::stop_token& stop) {
  SttsOptions options = wanted;
  options.settings["turn_version"] = std::to_string(kTurnVersion);  // turns of two texts are no conversation
  if (const Status plan = check_plan(options.plan); !plan) return plan.error();
  if (tasks.empty() || options.samples == 0 || options.workers == 0)
    return fail(ErrorCode::invalid_argument,
                "there is nothing to do: tasks, samples and workers must be at least 1");
  auto folder = SttsFolder::open(options);
  if (!folder) return folder.error();
  for (const SuiteTask& task : tasks) {
    const auto more = folder->journal_of(task.name, options.samples + 1);
    if (std::error_code unknown; std::filesystem::exists(more, unknown))
      return fail(ErrorCode::invalid_argument, "the folder has more samples than --samples asks for",
                  more.string(), "give a larger --samples, or name another folder with --out");
  }
  Run run(tasks, options, registry, model, host, std::move(*folder));
  return run(stop);
}

}  // namespace kernelsmith
