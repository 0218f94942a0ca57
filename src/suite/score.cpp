// Evaluates ready-made candidates, task after task, and keeps what is done.
#include <algorithm>

#include <kernelsmith/suite/suite.hpp>

#include "best_candidate.hpp"
#include "result_folder.hpp"

namespace kernelsmith {
namespace {

/// A task with the candidates to be evaluated for it.
struct Loaded {
  TaskFolder task;
  std::vector<Source> candidates;
  std::vector<CandidateResult> named;  ///< their names and claims

  std::string basis() const {
    std::string text = task.task.digest.hex();
    for (const Source& candidate : candidates) text += candidate.digest().hex();
    return digest_of(text).hex();
  }
};

Result<Loaded> load(const SuiteTask& task, const CandidatePaths& paths,
                    const std::map<std::filesystem::path, Claim>& claims, const Registry& registry) {
  auto folder = load_task_folder(task.path, registry.backends);
  if (!folder) return folder.error();
  Loaded loaded{std::move(*folder), {}, {}};
  for (const auto& path : paths) {
    auto candidate = load_candidate(loaded.task.task, path);
    if (!candidate) return candidate.error();
    loaded.candidates.push_back(std::move(*candidate));
    CandidateResult& named = loaded.named.emplace_back();
    named.name = path.filename().string();
    if (const auto claim = claims.find(path); claim != claims.end()) {
      named.by = claim->second.by;
      named.claimed = claim->second.speedup;
    }
  }
  return loaded;
}

/// Adds one candidate after another to a task's result.
class Tally {
 public:
  Tally(TaskResult& result, const std::vector<CandidateResult>& named) : result_(result), named_(named) {}

  void operator()(const Evaluation& evaluation) {
    const CandidateResult& named = named_[result_.candidates++];
    CandidateResult& told = result_.of_candidates.emplace_back(suite::candidate_result(evaluation));
    told.name = named.name;
    told.by = named.by;
    told.claimed = named.claimed;
    const auto speedup = suite::speedup_of(evaluation);
    if (speedup && (!result_.speedup || speedup->median > result_.speedup->median))
      suite::take_best(evaluation, result_);
    result_.best_by_round.push_back(result_.speedup ? result_.speedup->median : 0);
    if (const Rejection* rejection = evaluation.rejection()) take(*rejection);
    if (result_.correct) result_.failure.clear();
  }

 private:
  void take(const Rejection& rejection) {
    result_.hacks += suite::is_hack(rejection.stage) ? 1 : 0;
    if (furthest_ && *furthest_ > rejection.stage) return;
    furthest_ = rejection.stage;
    result_.failure = suite::failure_text(rejection.stage, rejection.code);
  }

  TaskResult& result_;
  const std::vector<CandidateResult>& named_;
  std::optional<Stage> furthest_;
};

TaskResult score(const Loaded& loaded, SuiteHost& host, bool careful, const std::stop_token& stop) {
  TaskResult result;
  result.basis = loaded.basis();
  if (loaded.candidates.empty()) {
    result.failure = "no candidate";
    return result;
  }
  const auto config = host.configure(loaded.task.task);
  const Status done = config ? evaluate_each(loaded.task.task, *config, loaded.candidates,
                                             Tally(result, loaded.named), stop, careful)
                             : Status(config.error());
  if (!done) result.error = done.error();
  return result;
}

}  // namespace

Result<SuiteReport> score_candidates(const std::vector<SuiteTask>& tasks, const FoundCandidates& candidates,
                                     const SuiteOptions& options, const Registry& registry, SuiteHost& host,
                                     bool careful, const std::stop_token& stop) {
  auto results = suite::ResultFolder::open("score", tasks, options);
  if (!results) return results.error();
  for (std::size_t i = 0; i < tasks.size() && !stop.stop_requested(); ++i) {
    const auto loaded = load(tasks[i], candidates.of_task[i], candidates.claims, registry);
    if (loaded && results->has(tasks[i], loaded->basis())) continue;
    host.begin(tasks[i], i + 1, tasks.size());
    TaskResult result;
    if (loaded)
      result = score(*loaded, host, careful, stop);
    else
      result.error = loaded.error();
    if (stop.stop_requested() && result.error) break;  // no fault of the task's
    host.end(result);
    if (const Status kept = results->add(tasks[i], std::move(result)); !kept) return kept.error();
  }
  if (const Status written = results->write(); !written) return written.error();
  return results->report();
}

}  // namespace kernelsmith
