#include "round.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/statistics.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/proposal/extract.hpp>

namespace kernelsmith::redteam {
namespace {

using Kind = Expectation::Kind;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostRetries = 2;
/// How far above its twin's interval the median of a trick may be, if the intervals overlap.
constexpr double kMostAboveTwin = 1.10;
/// How far its interval may lie above its twin's: the same work in another binary lies elsewhere in memory,
/// and is some per cent faster or slower for good.
constexpr double kMostByPlacement = 1.05;
/// A trick that is faster by less than this is measured again together with its twin, this often at most: the
/// evaluator pools what it measures of one binary, so that noise goes and an advantage stays.
constexpr double kMostByNoise = 1.5;
constexpr std::size_t kMostSecondLooks = 3;
/// A twin whose interval is wider than this, as threads have it on a busy machine, decides nothing.
constexpr double kWidestTwin = 0.15;

/// What became of a case: the name of a refusal or an error, an evaluation, or without a device that there
/// was nothing against it.
struct Refused {
  std::string word;
};
struct Planned {};
using Got = std::variant<Refused, Planned, Error, Evaluation>;

std::string verdict_of(const Got& got) {
  if (const auto* refused = std::get_if<Refused>(&got)) return "refused(" + refused->word + ")";
  if (std::holds_alternative<Planned>(got)) return "planned";
  if (const auto* error = std::get_if<Error>(&got)) return "error(" + std::string(name_of(error->code)) + ")";
  const auto& evaluation = std::get<Evaluation>(got);
  if (const Rejection* rejection = evaluation.rejection())
    return describe(Expectation{Kind::rejected, rejection->stage, rejection->code, {}});
  return "accepted";
}

/// The score of an accepted candidate: the yardstick's time over its own, or the fitness if there is no
/// yardstick.
const Measurement* score_of(const Got& got) {
  const auto* evaluation = std::get_if<Evaluation>(&got);
  if (evaluation == nullptr || !evaluation->accepted()) return nullptr;
  const auto& ratio = evaluation->report().over_yardstick;
  return ratio ? &*ratio : &evaluation->metrics()->fitness();
}

std::string outcome_of(const Got& got) {
  const auto* evaluation = std::get_if<Evaluation>(&got);
  if (evaluation == nullptr || !evaluation->accepted()) return verdict_of(got);
  std::ostringstream text;
  text.precision(3);
  const Measurement& score = *score_of(got);
  text << "accepted " << score.median << " [" << score.low << ", " << score.high << "]";
  if (const auto& call = evaluation->report().runtime_us) text << ", " << call->median << " us a call";
  return text.str();
}

Result<Evaluation> evaluate(Evaluator& evaluator, const Task& task, Source source, bool careful) {
  EvaluationJob job;
  job.careful = careful;
  job.run = "redteam";
  job.task = task.digest;
  job.source = std::move(source);
  return answer_of<Evaluation>([&](auto done) { evaluator.start(std::move(job), {}, std::move(done)); })
      .get();
}

/// An honest case and what was measured of it, if it had a score.
struct Twin {
  const Case* honest;
  std::optional<Measurement> score;
};
using Twins = std::map<std::string, Twin>;

bool above(const Measurement& trick, const Measurement& twin) {
  return trick.low > kMostByPlacement * twin.high || trick.median > kMostAboveTwin * twin.high;
}

/// Whether the case must be turned away before anything runs.
bool before_run(const Expectation& must) {
  if (must.kind == Kind::refused) return true;
  // Planners alone speak a protocol that a candidate could forge if there is nothing but planning.
  return must.kind == Kind::rejected &&
         (must.stage <= Stage::plan || must.code == RejectionCode::protocol_forged);
}

bool meets(const Expectation& must, const Got& got, const Twin* twin) {
  if (std::holds_alternative<Planned>(got)) return !before_run(must);
  const Measurement* const score = score_of(got);
  switch (must.kind) {
    case Kind::honest:
      return score != nullptr;
    case Kind::neutralised:
      return score != nullptr && twin != nullptr && !above(*score, *twin->score);
    case Kind::refused: {
      const auto* refused = std::get_if<Refused>(&got);
      return refused != nullptr && refused->word == must.word;
    }
    case Kind::rejected:
      break;
  }
  const auto* evaluation = std::get_if<Evaluation>(&got);
  const Rejection* rejection = evaluation != nullptr ? evaluation->rejection() : nullptr;
  return rejection != nullptr && rejection->stage == must.stage && rejection->code == must.code;
}

/// The cases of one task against one evaluator.
class TaskRound {
 public:
  TaskRound(Task task, std::shared_ptr<Evaluator> evaluator, const Plants& plants, const Attack& attack)
      : task_(std::move(task)), evaluator_(std::move(evaluator)), plants_(plants), attack_(attack) {}

  Row run(const Case& trick) {
    Row row;
    row.name = trick.name;
    row.task = trick.task;
    row.honest = trick.honest();
    row.must = outcomes_of(trick);
    const auto start = SteadyClock::now();
    Got got = attempt(trick, row.retries);
    const std::lock_guard lock(mutex_);
    while (row.second_looks < kMostSecondLooks &&
           (twin_lacks_a_score(trick, got) || a_little_faster(trick, got))) {
      ++row.second_looks;
      Twin& twin = twins_.at(trick.twin);
      if (const Got again = attempt(*twin.honest, row.retries); score_of(again) != nullptr)
        twin.score = *score_of(again);
      got = attempt(trick, row.retries);
    }
    row.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
    row.got = outcome_of(got);
    if (const Twin* const twin = twin_of(trick); twin != nullptr && score_of(got) != nullptr)
      row.over_twin = score_of(got)->median / twin->score->median;
    row.verdict = verdict_of(got);
    judge(trick, got, row);
    return row;
  }

 private:
  Got attempt(const Case& trick, std::size_t& retries) {
    auto source = candidate_of(trick);
    if (const auto* refused = std::get_if<Refused>(&source)) return *refused;
    while (true) {
      auto answer =
          evaluate(*evaluator_, task_, std::get<Source>(source), attack_.careful && attack_.careful(task_));
      if (answer) return std::move(*answer);
      if (attack_.plan_only && answer.error().code == ErrorCode::unsupported) return Planned{};
      if (answer.error().code != ErrorCode::unstable || retries == kMostRetries) return answer.error();
      ++retries;
    }
  }

  std::variant<Refused, Source> candidate_of(const Case& trick) const {
    if (trick.is_reply) {
      auto child = extract(trick.text, task_.seed, ReplyForm::whole);
      if (const auto* refusal = std::get_if<Refusal>(&child))
        return Refused{std::string(name_of(refusal->code))};
      return std::get<Source>(std::move(child));
    }
    auto source = source_of(trick, task_.seed.empty() ? usual_path() : task_.seed.files().front().path);
    if (!source) return Refused{std::string(name_of(source.error().code))};
    return std::move(*source);
  }

  std::string usual_path() const {
    if (task_.backend == "cuda") return "candidate.cu";
    return task_.backend == "torch" ? "candidate.py" : "candidate.cpp";
  }

  const Twin* twin_of(const Case& trick) const {
    const auto found = twins_.find(trick.twin);
    return found != twins_.end() && found->second.score ? &found->second : nullptr;
  }

  bool twin_lacks_a_score(const Case& trick, const Got& got) const {
    return score_of(got) != nullptr && twins_.contains(trick.twin) && twin_of(trick) == nullptr;
  }

  bool a_little_faster(const Case& trick, const Got& got) const {
    const Measurement* const score = score_of(got);
    const Twin* const twin = twin_of(trick);
    return score != nullptr && twin != nullptr && above(*score, *twin->score) &&
           score->median < kMostByNoise * twin->score->high;
  }

  /// Accepted, but there is nothing to hold it against; what is faster than the yardstick by far is never
  /// excused.
  bool without_measure(const Case& trick, const Got& got) const {
    const Measurement* const score = score_of(got);
    if (score == nullptr || trick.honest()) return false;
    const Twin* const twin = twin_of(trick);
    if (twin != nullptr && relative_half_width(*twin->score) <= kWidestTwin) return false;
    return score->median < kMostByNoise * std::max(1.0, twin != nullptr ? twin->score->high : 1.0);
  }

  void judge(const Case& trick, const Got& got, Row& row) {
    bool met = false;
    for (const Expectation& must : trick.must) met = met || meets(must, got, twin_of(trick));
    row.note = explain(got);
    if (const auto* evaluation = std::get_if<Evaluation>(&got)) {
      for (const std::string& leak : plants_.leaks_in(*evaluation)) {
        row.note += (row.note.empty() ? "" : "; ") + leak;
        ++row.leaks;
      }
    }
    const Measurement* const score = score_of(got);
    if (trick.honest())
      twins_.emplace(trick.name, Twin{&trick, score != nullptr ? std::optional(*score) : std::nullopt});
    if (in_another_tier(got)) row.note = "measured in a tier that was not asked for";
    met = met && row.leaks == 0 && !in_another_tier(got);
    if (!trick.open.empty()) {
      row.standing = Standing::open;
      row.note = trick.open + (met ? " (held this time)" : "");
    } else if (!met) {
      const bool noise = is_unstable(got) || (row.leaks == 0 && without_measure(trick, got));
      row.standing = noise ? Standing::unstable : Standing::failed;
    }
  }

  bool in_another_tier(const Got& got) const {
    const auto* evaluation = std::get_if<Evaluation>(&got);
    return evaluation != nullptr && !attack_.forbidden_tier.empty() &&
           evaluation->report().tier == attack_.forbidden_tier;
  }

  static bool is_unstable(const Got& got) {
    const auto* error = std::get_if<Error>(&got);
    return error != nullptr && error->code == ErrorCode::unstable;
  }

  static std::string explain(const Got& got) {
    if (const auto* error = std::get_if<Error>(&got)) return error->message;
    if (std::holds_alternative<Planned>(got)) return "compiled and planned; there is no device";
    const auto* evaluation = std::get_if<Evaluation>(&got);
    if (evaluation == nullptr) return "turned away before it was a candidate";
    if (const Rejection* rejection = evaluation->rejection()) return rejection->diagnostics.substr(0, 400);
    return "accepted";
  }

  Task task_;
  std::shared_ptr<Evaluator> evaluator_;
  const Plants& plants_;
  const Attack& attack_;
  std::mutex mutex_;  ///< guards twins_, and keeps what is measured again to itself
  Twins twins_;
};

Row failure(const std::string& name, const std::string& task, const std::string& note) {
  Row row;
  row.name = name;
  row.task = task;
  row.standing = Standing::failed;
  row.note = note;
  return row;
}

using Tell = std::function<void(const Row&)>;

void run_all(TaskRound& round, const std::vector<const Case*>& cases, std::size_t at_once, const Tell& tell) {
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const Row row = round.run(*cases[i]);
      const std::lock_guard lock(telling);
      tell(row);
    }
  };
  std::vector<std::future<void>> others;
  while (others.size() + 1 < at_once) others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
}

void run_task(const std::filesystem::path& folder, const std::vector<const Case*>& cases,
              const Plants& plants, const Attack& attack, const Tell& tell) {
  const std::string name = folder.filename().string();
  auto task = load_task(folder, attack.backends);
  if (!task) return tell(failure("(task)", name, describe(task.error())));
  auto evaluator = attack.make_evaluator(*task);
  if (!evaluator) return tell(failure("(task)", name, describe(evaluator.error())));
  TaskRound round(std::move(*task), std::move(*evaluator), plants, attack);
  // The twins first: their intervals are what the tricks are held against.
  std::vector<const Case*> twins, tricks;
  for (const Case* const one : cases) (one->honest() ? twins : tricks).push_back(one);
  for (const auto& part : {twins, tricks}) run_all(round, part, attack.at_once, tell);
  for (const std::string& leak : plants.leaks_on_disk()) tell(failure("(disk)", name, leak));
}

}  // namespace

void run_round(const std::filesystem::path& tasks, const std::vector<Case>& cases, Plants& plants,
               const Attack& attack, const Tell& tell) {
  std::map<std::string, std::vector<const Case*>> by_task;
  for (const Case& one : cases) by_task[one.task].push_back(&one);
  for (const auto& [task, members] : by_task) run_task(tasks / task, members, plants, attack, tell);
  for (const std::string& left : plants.leftovers()) {
    Row row = failure("(left behind)", "", left);
    row.left_behind = true;
    tell(row);
  }
}

}  // namespace kernelsmith::redteam
