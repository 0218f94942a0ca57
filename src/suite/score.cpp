// Evaluates ready-made candidates, some tasks at once, and keeps finished results.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <iterator>
#include <map>
#include <thread>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/suite/suite.hpp>

#include "best_candidate.hpp"
#include "result_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherStep = "other";

/// A task with its candidates, including unreadable ones.
struct Loaded {
  Result<TaskFolder> task;
  std::vector<Result<Source>> candidates;
  std::vector<CandidateResult> named;  ///< their names and claims

  std::string basis() const {
    std::string text = task ? task->task.digest.hex() : describe(task.error());
    for (const auto& candidate : candidates)
      text += candidate ? candidate->digest().hex() : describe(candidate.error());
    return digest_of(text).hex();
  }
};

/// An arena's problem may be solved with PyTorch's operators, as in the arena: such solutions are measured,
/// and counted by themselves.
Result<TaskFolder> load_task_of(const fs::path& path, const Backends& backends) {
  if (!is_arena_problem(path)) return load_task_folder(path, backends);
  auto problem = task_of_arena(path, "any");
  return problem ? task_of_files(std::move(problem->files), path.string(), backends) : problem.error();
}

Loaded load(const SuiteTask& task, const CandidatePaths& paths,
            const std::map<std::filesystem::path, Claim>& claims, const Registry& registry) {
  Loaded loaded{load_task_of(task.path, registry.backends), {}, {}};
  for (const auto& path : paths) {
    loaded.candidates.push_back(loaded.task ? load_candidate(loaded.task->task, path) : loaded.task.error());
    CandidateResult& named = loaded.named.emplace_back();
    named.name = path.filename().string();
    if (const auto claim = claims.find(path); claim != claims.end()) {
      named.by = claim->second.by;
      named.claimed = claim->second.speedup;
    }
  }
  return loaded;
}

/// Whether the time of the step consists of other steps' (docs/formats.md), or is a rest.
bool is_sum(const std::string& step) {
  return step == "prepare" || step == "check" || step == "timing" || step == kOtherStep;
}

/// Adds the steps of an evaluation that do not overlap.
void add_steps(const Report& report, std::map<std::string, double>& spent_s) {
  for (const auto& [step, ms] : report.spent_ms)
    if (!is_sum(step) && !step.starts_with("plan: ")) spent_s[step] += ms / 1e3;
}

/// The text between two others; empty if it is missing.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto begin = text.find(before);
  if (begin == std::string::npos) return {};
  const auto from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Adds one candidate after another to a task's result.
class Tally {
 public:
  explicit Tally(TaskResult& result) : result_(result) {}

  /// `can_be_planned`: false if the candidate is in a language that no task takes.
  void operator()(const CandidateResult& named, const Result<Evaluation>& answer, bool can_be_planned) {
    CandidateResult& told = result_.of_candidates.emplace_back(suite::candidate_result(answer));
    told.name = named.name;
    told.by = named.by;
    told.claimed = named.claimed;
    if (answer) {
      take(*answer);
      add_steps(answer->report(), result_.spent_s);
    } else if (!can_be_planned && !result_.correct && furthest_ == Stage::parse) {
      result_.failure = told.verdict;
      result_.reason = answer.error().message;
    } else if (can_be_planned && !result_.error) {
      result_.error = answer.error();
    }
    result_.best_by_round.push_back(result_.speedup ? result_.speedup->median : 0);
  }

 private:
  void take(const Evaluation& evaluation) {
    ++result_.candidates;
    const auto speedup = suite::speedup_of(evaluation);
    if (speedup && (!result_.speedup || speedup->median > result_.speedup->median))
      suite::take_best(evaluation, result_);
    for (const Artifact& artifact : evaluation.report().artifacts)
      if (artifact.name == "memory.txt")
        result_.memory = between(artifact.text, "all processes: ", ";");
      else if (artifact.name == "notes.txt")
        notes_ = first_line(artifact.text);
    if (const Rejection* rejection = evaluation.rejection()) take(*rejection);
    if (!result_.correct) return;
    result_.failure.clear();
    result_.reason = notes_;
  }

  void take(const Rejection& rejection) {
    result_.hacks += suite::is_hack(rejection.stage) ? 1 : 0;
    if (furthest_ > rejection.stage) return;
    furthest_ = rejection.stage;
    result_.failure = suite::failure_text(rejection.stage, rejection.code);
    result_.reason = first_line(rejection.diagnostics);
  }

  TaskResult& result_;
  std::string notes_;
  Stage furthest_ = Stage::parse;  ///< the last stage at which a candidate was rejected
};

/// Gives equal files their pooled result, because they are measurements of one program. Otherwise the
/// luckiest measurement would count for a file with many copies.
void pool_identical(const Loaded& loaded, std::vector<Result<Evaluation>>& answers) {
  std::map<std::string, Evaluation> together;
  const auto each_accepted = [&](const auto& visit) {
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i] && answers[i]->accepted()) visit(loaded.candidates[i]->digest().hex(), *answers[i]);
  };
  each_accepted([&](const std::string& program, const Evaluation& evaluation) {
    const auto [known, is_new] = together.emplace(program, evaluation);
    if (!is_new) known->second = pooled(known->second, evaluation);
  });
  each_accepted(
      [&](const std::string& program, Evaluation& evaluation) { evaluation = together.at(program); });
}

/// The numbers below `count`, so that `at_once` consecutive ones are far apart. Neighbours in a list are
/// alike, and several large ones do not fit a GPU together.
std::vector<std::size_t> apart(std::size_t count, std::size_t at_once) {
  std::vector<std::size_t> order;
  const std::size_t distance = (count + at_once - 1) / at_once;
  for (std::size_t first = 0; first < distance; ++first)
    for (std::size_t i = first; i < count; i += distance) order.push_back(i);
  return order;
}

/// Scores tasks on several threads. Only evaluations run at the same time.
class Scoring {
 public:
  Scoring(const std::vector<SuiteTask>& tasks, const FoundCandidates& candidates, const Registry& registry,
          SuiteHost& host, bool careful, Seconds longest_task, suite::ResultFolder& results)
      : tasks_(tasks),
        candidates_(candidates),
        registry_(registry),
        careful_(careful),
        longest_task_(longest_task),
        host_(host),
        results_(results) {}

  /// Errors: those of writing the results.
  Status run(std::size_t at_once, const std::stop_token& stop) {
    const std::stop_callback outer(stop, [this] { all_.request_stop(); });
    auto late = score_tasks(apart(tasks_.size(), at_once), at_once);
    // They may have waited for another task that holds the GPU, so each is tried again by itself.
    if (at_once > 1) late = score_tasks(late, 1);
    const MutexLock lock(mutex_);
    return kept_;
  }

 private:
  /// Returns the tasks that took too long, which have no result yet unless one is scored at a time.
  std::vector<std::size_t> score_tasks(const std::vector<std::size_t>& which, std::size_t at_once) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      std::vector<std::size_t> late;
      const std::stop_token stop = all_.get_token();
      for (std::size_t i = next++; i < which.size() && !stop.stop_requested(); i = next++)
        if (!score_task(which[i], at_once == 1, stop)) late.push_back(which[i]);
      return late;
    };
    std::vector<std::future<std::vector<std::size_t>>> threads;
    for (std::size_t i = 0; i < std::min(at_once, which.size()); ++i)
      threads.push_back(std::async(std::launch::async, work));
    std::vector<std::size_t> late;
    for (auto& thread : threads) std::ranges::copy(thread.get(), std::back_inserter(late));
    return late;
  }

  /// False if the task took too long, and is not `alone`.
  bool score_task(std::size_t i, bool alone, const std::stop_token& stop) {
    const Loaded loaded = load(tasks_[i], candidates_.of_task[i], candidates_.claims, registry_);
    if (!begin(i, loaded.basis())) return true;
    TaskResult result = score_in_time(loaded, stop);
    if (result.error && stop.stop_requested())
      return true;  // the stop request caused the error, not the task
    if (result.error && result.error->code == ErrorCode::timeout && !alone) return false;
    end(i, std::move(result));
    return true;
  }

  /// False if the task has its result already.
  bool begin(std::size_t i, const std::string& basis) {
    const MutexLock lock(mutex_);
    if (results_.has(tasks_[i], basis)) return false;
    host_.begin(tasks_[i], i + 1, tasks_.size());
    return true;
  }

  void end(std::size_t i, TaskResult result) {
    const MutexLock lock(mutex_);
    result.name = tasks_[i].name;
    host_.end(result);
    const Status kept = results_.add(tasks_[i], std::move(result));
    if (kept) return;
    if (kept_) kept_ = kept;
    all_.request_stop();
  }

  TaskResult score_in_time(const Loaded& loaded, const std::stop_token& stop) {
    std::stop_source late;
    const std::stop_callback outer(stop, [&late] { late.request_stop(); });
    const std::jthread timer([this, &late](const std::stop_token& ended) {
      pause_for(longest_task_, ended);
      if (!ended.stop_requested()) late.request_stop();
    });
    TaskResult result = score(loaded, late.get_token());
    if (result.error && late.stop_requested() && !stop.stop_requested())
      result.error = fail(ErrorCode::timeout, "the task took longer than " +
                                                  number_text(longest_task_.count()) + " s, and was stopped");
    return result;
  }

  TaskResult score(const Loaded& loaded, const std::stop_token& stop) {
    TaskResult result;
    result.basis = loaded.basis();
    if (!loaded.task) result.error = loaded.task.error();
    if (loaded.task && loaded.candidates.empty()) result.failure = "no candidate";
    const auto began = std::chrono::steady_clock::now();
    const auto answers = answers_of(loaded, stop);
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    Tally tally(result);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& read = loaded.candidates[i];
      const bool is_foreign = loaded.task && !read && read.error().code == ErrorCode::unsupported;
      tally(loaded.named[i], answers[i], !is_foreign);
    }
    double known_s = 0;
    for (const auto& [step, seconds] : result.spent_s) known_s += seconds;
    result.spent_s[kOtherStep] = std::max(0.0, result.wall_s - known_s);
    return result;
  }

  /// The answer for each candidate, in their order.
  std::vector<Result<Evaluation>> answers_of(const Loaded& loaded, const std::stop_token& stop) {
    std::vector<Result<Evaluation>> answers;
    std::vector<Source> readable;
    std::vector<std::size_t> places;  // indices of the readable candidates
    for (const auto& candidate : loaded.candidates) {
      answers.emplace_back(candidate ? fail(ErrorCode::internal, "the candidate was not evaluated")
                                     : candidate.error());
      if (!candidate) continue;
      places.push_back(answers.size() - 1);
      readable.push_back(*candidate);
    }
    if (readable.empty()) return answers;
    const auto config = configure(loaded.task->task);
    const auto take = [&](std::size_t i, const Result<Evaluation>& answer) { answers[places[i]] = answer; };
    if (config)
      (void)evaluate_all(loaded.task->task, *config, std::move(readable), take, stop,
                         careful_);  // `take` got each answer
    else
      for (const std::size_t place : places) answers[place] = config.error();
    pool_identical(loaded, answers);
    return answers;
  }

  Result<RunConfig> configure(const Task& task) {
    const MutexLock lock(mutex_);
    return host_.configure(task);
  }

  const std::vector<SuiteTask>& tasks_;
  const FoundCandidates& candidates_;
  const Registry& registry_;
  const bool careful_;
  const Seconds longest_task_;
  std::stop_source all_;
  Mutex mutex_;
  SuiteHost& host_ KERNELSMITH_GUARDED_BY(mutex_);
  suite::ResultFolder& results_ KERNELSMITH_GUARDED_BY(mutex_);
  Status kept_ KERNELSMITH_GUARDED_BY(mutex_);  ///< the first failure to keep a result
};

}  // namespace

Result<SuiteReport> score_candidates(const std::vector<SuiteTask>& tasks, const FoundCandidates& candidates,
                                     const SuiteOptions& options, const Registry& registry, SuiteHost& host,
                                     bool careful, const std::stop_token& stop) {
  auto results = suite::ResultFolder::open("score", tasks, options);
  if (!results) return results.error();
  Scoring scoring(tasks, candidates, registry, host, careful, options.longest_task, *results);
  if (const Status kept = scoring.run(options.at_once, stop); !kept) return kept.error();
  if (const Status written = results->write(); !written) return written.error();
  return results->report();
}

}  // namespace kernelsmith
