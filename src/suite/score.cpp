// Evaluates ready-made candidates, task after task, and keeps finished results.
#include <algorithm>
#include <map>

#include <kernelsmith/suite/suite.hpp>

#include "best_candidate.hpp"
#include "result_folder.hpp"

namespace kernelsmith {
namespace {

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

Loaded load(const SuiteTask& task, const CandidatePaths& paths,
            const std::map<std::filesystem::path, Claim>& claims, const Registry& registry) {
  Loaded loaded{load_task_folder(task.path, registry.backends), {}, {}};
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

/// Adds one candidate after another to a task's result.
class Tally {
 public:
  explicit Tally(TaskResult& result) : result_(result) {}

  void operator()(const CandidateResult& named, const Result<Evaluation>& answer) {
    CandidateResult& told = result_.of_candidates.emplace_back(suite::candidate_result(answer));
    told.name = named.name;
    told.by = named.by;
    told.claimed = named.claimed;
    if (answer)
      take(*answer);
    else if (!result_.error)
      result_.error = answer.error();
    result_.best_by_round.push_back(result_.speedup ? result_.speedup->median : 0);
  }

 private:
  void take(const Evaluation& evaluation) {
    ++result_.candidates;
    const auto speedup = suite::speedup_of(evaluation);
    if (speedup && (!result_.speedup || speedup->median > result_.speedup->median))
      suite::take_best(evaluation, result_);
    if (const Rejection* rejection = evaluation.rejection()) take(*rejection);
    if (result_.correct) result_.failure.clear();
  }

  void take(const Rejection& rejection) {
    result_.hacks += suite::is_hack(rejection.stage) ? 1 : 0;
    if (furthest_ > rejection.stage) return;
    furthest_ = rejection.stage;
    result_.failure = suite::failure_text(rejection.stage, rejection.code);
  }

  TaskResult& result_;
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

/// The answer for each candidate, in their order.
std::vector<Result<Evaluation>> answers_of(const Loaded& loaded, SuiteHost& host, bool careful,
                                           const std::stop_token& stop) {
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
  const auto config = host.configure(loaded.task->task);
  const auto take = [&](std::size_t i, const Result<Evaluation>& answer) { answers[places[i]] = answer; };
  if (config)
    (void)evaluate_all(loaded.task->task, *config, std::move(readable), take, stop,
                       careful);  // `take` got each answer
  else
    for (const std::size_t place : places) answers[place] = config.error();
  pool_identical(loaded, answers);
  return answers;
}

TaskResult score(const Loaded& loaded, SuiteHost& host, bool careful, const std::stop_token& stop) {
  TaskResult result;
  result.basis = loaded.basis();
  if (!loaded.task) result.error = loaded.task.error();
  if (loaded.task && loaded.candidates.empty()) result.failure = "no candidate";
  const auto answers = answers_of(loaded, host, careful, stop);
  Tally tally(result);
  for (std::size_t i = 0; i < answers.size(); ++i) tally(loaded.named[i], answers[i]);
  return result;
}

}  // namespace

Result<SuiteReport> score_candidates(const std::vector<SuiteTask>& tasks, const FoundCandidates& candidates,
                                     const SuiteOptions& options, const Registry& registry, SuiteHost& host,
                                     bool careful, const std::stop_token& stop) {
  auto results = suite::ResultFolder::open("score", tasks, options);
  if (!results) return results.error();
  for (std::size_t i = 0; i < tasks.size() && !stop.stop_requested(); ++i) {
    const Loaded loaded = load(tasks[i], candidates.of_task[i], candidates.claims, registry);
    if (results->has(tasks[i], loaded.basis())) continue;
    host.begin(tasks[i], i + 1, tasks.size());
    TaskResult result = score(loaded, host, careful, stop);
    if (stop.stop_requested() && result.error) break;  // the stop request caused the error, not the task
    host.end(result);
    if (const Status kept = results->add(tasks[i], std::move(result)); !kept) return kept.error();
  }
  if (const Status written = results->write(); !written) return written.error();
  return results->report();
}

}  // namespace kernelsmith
