#include "tables.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <kernelsmith/core/number_text.hpp>

#include "best_candidate.hpp"

namespace kernelsmith::suite {
namespace {

/// The text of empty cells in tables for people.
constexpr const char* kNothing = "-";

/// The number with `digits` digits after the point. Writes a number that is too wide for a table with an
/// exponent.
std::string fixed(double value, int digits) {
  constexpr double kLargest = 1e9;
  std::array<char, 64> text{};
  const auto format =
      value < kLargest && value > -kLargest ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr;
  return {text.data(), end};
}

std::string share(double value) { return fixed(value, 3); }
std::string ratio(double value) { return fixed(value, 2); }

template <class Format>
std::string optional_text(const auto& value, Format format, const char* absent) {
  return value ? format(*value) : absent;
}

/// Returns empty if unknown.
std::string known(const std::optional<bool>& value) { return !value ? "" : *value ? "true" : "false"; }

std::string count(std::uint64_t value) { return std::to_string(value); }
std::string count_or_nothing(std::uint64_t value) { return value == 0 ? kNothing : count(value); }

std::string level_text(const std::optional<unsigned>& level) {
  return level ? std::to_string(*level) : "all";
}

std::string usd_text(const SuiteCost& cost) {
  if (cost.calls == 0) return kNothing;
  return cost.unpriced == cost.calls ? "unknown" : (cost.unpriced > 0 ? "> " : "") + fixed(cost.usd, 4);
}

/// The columns for calls, tokens and money.
const std::vector<std::string> kCostHead = {"calls", "tokens_in", "tokens_out", "usd"};

void add_cost(std::vector<std::string>& row, const SuiteCost& cost) {
  row.insert(row.end(), {count_or_nothing(cost.calls), count_or_nothing(cost.input_tokens),
                         count_or_nothing(cost.output_tokens), usd_text(cost)});
}

void add_cost_in_full(std::vector<std::string>& row, const SuiteCost& cost) {
  row.insert(row.end(), {count(cost.calls), count(cost.input_tokens), count(cost.output_tokens),
                         cost.unpriced == cost.calls && cost.calls > 0 ? "" : number_text(cost.usd),
                         count(cost.unpriced)});
}

/// The values as text, such as "1 1.5 2.25".
std::string list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + number_text(value);
  return text;
}

std::string speedup_text(const TaskResult& result) {
  if (!result.speedup) return kNothing;
  const Measurement& speedup = *result.speedup;
  std::string text = ratio(speedup.median);
  if (speedup.low < speedup.high) text += " [" + ratio(speedup.low) + ", " + ratio(speedup.high) + "]";
  return text;
}

/// The failure and the remarks of a result, on one line.
std::string note(const TaskResult& result) {
  std::string text = result.error ? "error: " + describe(*result.error) : result.failure;
  const auto add = [&](bool is, const char* word) {
    if (is) text += (text.empty() ? "" : "; ") + std::string(word);
  };
  add(result.trivial, "trivial");
  add(result.degenerate, "degenerate");
  add(result.algebraic, "algebraic");
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? kNothing : text;
}

Table without_empty_columns(const Table& table) {
  Table kept{{}, std::vector<std::vector<std::string>>(table.rows.size())};
  for (std::size_t column = 0; column < table.head.size(); ++column) {
    if (std::ranges::all_of(table.rows, [&](const auto& row) { return row[column] == kNothing; })) continue;
    kept.head.push_back(table.head[column]);
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      kept.rows[row].push_back(table.rows[row][column]);
  }
  return kept;
}

/// A row of metrics: of all results or, if some results are degenerate or algebraic, of the other ones.
struct LevelRow {
  SuiteMetrics metrics;
  bool shortcuts = true;  ///< whether the row includes degenerate and algebraic results
};
std::vector<LevelRow> level_rows(const std::vector<TaskResult>& results) {
  std::vector<LevelRow> rows;
  for (const SuiteMetrics& metrics : summarise(results)) rows.push_back({metrics});
  const auto others = without_shortcuts(results);
  if (others.size() == results.size()) return rows;
  for (const SuiteMetrics& metrics : summarise(others)) rows.push_back({metrics, false});
  return rows;
}

/// The rounds 1, 2, 4, ... and the last one.
std::vector<std::size_t> shown_rounds(std::size_t last) {
  std::vector<std::size_t> rounds;
  for (std::size_t round = 1; round < last; round *= 2) rounds.push_back(round);
  if (last > 0) rounds.push_back(last);
  return rounds;
}

/// Sums over the candidates of one publisher. Means are geometric, over accepted candidates with a claim.
class Published {
 public:
  void add(const CandidateResult& one) {
    ++candidates_;
    unplanned_ += is_unplanned(one.verdict) ? 1 : 0;
    if (!one.speedup) return;
    ++accepted_;
    faster_ += one.speedup->median > 1 ? 1 : 0;
    without_kernels_ += one.own_kernels.value_or(true) ? 0 : 1;
    degenerate_ += one.degenerate.value_or(false) ? 1 : 0;
    algebraic_ += one.algebraic.value_or(false) ? 1 : 0;
    if (one.claimed <= 0 || one.speedup->median <= 0) return;
    ++compared_;
    claimed_ += std::log(one.claimed);
    measured_ += std::log(one.speedup->median);
  }

  std::vector<std::string> row(const std::string& by) const {
    const auto mean = [&](double sum) {
      return compared_ == 0 ? kNothing : ratio(std::exp(sum / compared_));
    };
    return {by,
            count(candidates_),
            count(candidates_ - unplanned_),
            count(accepted_),
            count(faster_),
            mean(claimed_),
            mean(measured_),
            count_or_nothing(without_kernels_),
            count_or_nothing(degenerate_),
            count_or_nothing(algebraic_)};
  }

 private:
  static bool is_unplanned(const std::string& verdict) {
    return std::ranges::any_of(kBeforeRunning,
                               [&](std::string_view stage) { return verdict.starts_with(stage); });
  }
  static constexpr std::array<std::string_view, 5> kBeforeRunning = {
      "parse:", "static_check:", "compile:", "plan:", kNotEvaluated};

  std::uint64_t candidates_ = 0, unplanned_ = 0, accepted_ = 0, faster_ = 0, without_kernels_ = 0,
                degenerate_ = 0, algebraic_ = 0;
  double compared_ = 0, claimed_ = 0, measured_ = 0;
};

}  // namespace

std::string fast_name(double threshold) { return "fast_" + number_text(threshold); }

Table levels_for_people(const SuiteReport& report) {
  Table table;
  table.head = {"level", "tasks", "errors", "corr"};
  for (const double threshold : kFastThresholds) table.head.push_back(fast_name(threshold));
  for (const char* name : {"AMSR", "geomean", "median", "hacks", "trivial"}) table.head.emplace_back(name);
  table.head.insert(table.head.end(), kCostHead.begin(), kCostHead.end());
  for (const auto& [metrics, shortcuts] : level_rows(report.results)) {
    const std::string level = level_text(metrics.level) + (shortcuts ? "" : ", no shortcuts");
    std::vector<std::string> row = {level, count(metrics.tasks), count_or_nothing(metrics.errors),
                                    share(metrics.corr)};
    for (const double fast : metrics.fast) row.push_back(share(fast));
    row.push_back(ratio(metrics.amsr));
    row.push_back(optional_text(metrics.geomean, ratio, kNothing));
    row.push_back(optional_text(metrics.median, ratio, kNothing));
    row.push_back(optional_text(metrics.hack_rate, share, kNothing));
    row.push_back(optional_text(metrics.trivial_rate, share, kNothing));
    add_cost(row, metrics.cost);
    table.rows.push_back(std::move(row));
  }
  return without_empty_columns(table);
}

Table tasks_for_people(const SuiteReport& report) {
  Table table;
  table.head = {"task", "level", "correct", "speedup", "candidates", "evaluations", "hacks"};
  table.head.insert(table.head.end(), kCostHead.begin(), kCostHead.end());
  table.head.emplace_back("note");
  for (const TaskResult& result : report.results) {
    std::vector<std::string> row = {result.name,
                                    count(result.level),
                                    result.correct ? "yes" : "no",
                                    speedup_text(result),
                                    count(result.candidates),
                                    report.kind == "suite" ? count(result.best_by_round.size()) : kNothing,
                                    count_or_nothing(result.hacks)};
    add_cost(row, result.cost);
    row.push_back(note(result));
    table.rows.push_back(std::move(row));
  }
  return without_empty_columns(table);
}

Table published_for_people(const SuiteReport& report) {
  std::map<std::string, Published> published;
  for (const TaskResult& result : report.results)
    for (const CandidateResult& one : result.of_candidates)
      if (!one.by.empty()) published[one.by].add(one);
  Table table;
  table.head = {"by",      "candidates", "planned",        "accepted",   "faster",
                "claimed", "measured",   "no own kernels", "degenerate", "algebraic"};
  for (const auto& [by, figures] : published) table.rows.push_back(figures.row(by));
  return table;
}

Table rounds_for_people(const SuiteReport& report) {
  const std::vector<SuiteMetrics> all = summarise(report.results);
  const std::vector<std::size_t> rounds = shown_rounds(all.back().amsr_by_round.size());
  Table table;
  if (rounds.empty()) return table;
  table.head = {"AMSR after"};
  for (const std::size_t round : rounds) table.head.push_back(std::to_string(round));
  for (const SuiteMetrics& metrics : all) {
    std::vector<std::string> row = {"level " + level_text(metrics.level)};
    if (!metrics.level) row.front() = "all";
    for (const std::size_t round : rounds) {
      const auto& means = metrics.amsr_by_round;
      row.push_back(means.empty() ? kNothing : ratio(means[std::min(round, means.size()) - 1]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table times_for_people(const SuiteReport& report) {
  std::map<std::string, double> spent_s;
  double all_s = 0;
  for (const TaskResult& result : report.results)
    for (const auto& [step, seconds] : result.spent_s) {
      spent_s[step] += seconds;
      all_s += seconds;
    }
  std::vector<std::pair<double, std::string>> steps;
  for (const auto& [step, seconds] : spent_s) steps.emplace_back(seconds, step);
  std::ranges::sort(steps, std::greater<>());
  Table table;
  if (all_s <= 0) return table;
  table.head = {"step", "s", "share"};
  for (const auto& [seconds, step] : steps)
    table.rows.push_back({step, fixed(seconds, 1), share(seconds / all_s)});
  table.rows.push_back({"all", fixed(all_s, 1), share(1)});
  return table;
}

Table levels_in_full(const SuiteReport& report) {
  Table table;
  table.head = {"level", "tasks", "errors", "corr"};
  for (const double threshold : kFastThresholds) table.head.push_back(fast_name(threshold));
  for (const char* name : {"amsr", "geomean", "median", "hack_rate", "trivial_rate", "calls", "tokens_in",
                           "tokens_out", "usd", "unpriced_calls", "amsr_by_round", "shortcuts"})
    table.head.emplace_back(name);
  for (const auto& [metrics, shortcuts] : level_rows(report.results)) {
    std::vector<std::string> row = {level_text(metrics.level), count(metrics.tasks), count(metrics.errors),
                                    number_text(metrics.corr)};
    for (const double fast : metrics.fast) row.push_back(number_text(fast));
    row.push_back(number_text(metrics.amsr));
    for (const auto& value : {metrics.geomean, metrics.median, metrics.hack_rate, metrics.trivial_rate})
      row.push_back(optional_text(value, number_text, ""));
    add_cost_in_full(row, metrics.cost);
    row.push_back(list(metrics.amsr_by_round));
    row.emplace_back(shortcuts ? "with" : "without");
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table tasks_in_full(const SuiteReport& report) {
  Table table;
  table.head = {"task",         "level",      "correct",    "speedup",        "speedup_low",
                "speedup_high", "candidates", "hacks",      "trivial",        "calls",
                "tokens_in",    "tokens_out", "usd",        "unpriced_calls", "best_by_round",
                "failure",      "error",      "degenerate", "algebraic",      "evaluations"};
  for (const TaskResult& result : report.results) {
    const auto& speedup = result.speedup;
    std::vector<std::string> row = {result.name,
                                    count(result.level),
                                    result.correct ? "true" : "false",
                                    speedup ? number_text(speedup->median) : "",
                                    speedup ? number_text(speedup->low) : "",
                                    speedup ? number_text(speedup->high) : "",
                                    count(result.candidates),
                                    count(result.hacks),
                                    result.trivial ? "true" : "false"};
    add_cost_in_full(row, result.cost);
    row.push_back(list(result.best_by_round));
    row.push_back(result.failure);
    row.push_back(result.error ? describe(*result.error) : "");
    row.emplace_back(result.degenerate ? "true" : "false");
    row.emplace_back(result.algebraic ? "true" : "false");
    row.push_back(count(report.kind == "score" ? result.candidates : result.best_by_round.size()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table candidates_in_full(const SuiteReport& report) {
  Table table;
  table.head = {"task",        "candidate",    "by",          "claimed",    "verdict",   "speedup",
                "speedup_low", "speedup_high", "own_kernels", "degenerate", "algebraic", "error"};
  for (const TaskResult& result : report.results)
    for (const CandidateResult& one : result.of_candidates) {
      const auto& speedup = one.speedup;
      table.rows.push_back(
          {result.name, one.name, one.by, one.claimed > 0 ? number_text(one.claimed) : "", one.verdict,
           speedup ? number_text(speedup->median) : "", speedup ? number_text(speedup->low) : "",
           speedup ? number_text(speedup->high) : "", known(one.own_kernels), known(one.degenerate),
           known(one.algebraic), one.error ? describe(*one.error) : ""});
    }
  return table;
}

Table times_in_full(const SuiteReport& report) {
  std::set<std::string> steps;
  for (const TaskResult& result : report.results)
    for (const auto& [step, seconds] : result.spent_s) steps.insert(step);
  Table table;
  if (steps.empty()) return table;
  table.head = {"level", "task", "speedup", "memory", "seconds"};
  table.head.insert(table.head.end(), steps.begin(), steps.end());
  table.head.emplace_back("why");
  for (const TaskResult& result : report.results) {
    if (result.spent_s.empty()) continue;
    std::vector<std::string> row = {
        count(result.level), result.name,
        optional_text(
            result.speedup, [](const Measurement& one) { return fixed(one.median, 4); }, ""),
        result.memory, fixed(result.wall_s, 2)};
    for (const std::string& step : steps) {
      const auto found = result.spent_s.find(step);
      row.push_back(found == result.spent_s.end() ? "" : fixed(found->second, 2));
    }
    std::string why = result.error ? describe(*result.error) : result.failure;
    if (!result.reason.empty()) why += (why.empty() ? "" : ": ") + result.reason;
    row.push_back(why);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string unfinished_text(const SuiteReport& report) {
  if (report.results.size() >= report.tasks) return "";
  return std::to_string(report.results.size()) + " of " + std::to_string(report.tasks) + " tasks are done";
}

}  // namespace kernelsmith::suite
