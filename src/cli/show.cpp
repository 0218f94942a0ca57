// kernelsmith show RUN
#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/core/brief.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/session/run_view.hpp>

#include "archive_map.hpp"
#include "commands.hpp"
#include "json_text.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

template <class T>
std::string used_of(const T& used, const std::optional<T>& limit) {
  return limit ? fmt::format("{} of {}", used, *limit) : fmt::format("{}", used);
}

/// The budget that is used up, or the proposer's reason.
std::string why_ended(const RunView& view) {
  const auto said = view.refusals.find(RefusalCode::finished);
  if (view.reason == EndReason::finished && said != view.refusals.end() && !said->second.detail.empty())
    return ": " + cut_lines(said->second.detail);
  if (view.reason != EndReason::budget) return "";
  return fmt::format(": {}", name_of(view.state.used_up(view.state.elapsed_s())));
}

std::string words_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::unstable:
      return "unstable (the machine was too noisy to measure)";
    case ErrorCode::cancelled:
      return "cancelled (a budget was used up first)";
    default:
      return std::string(name_of(code));
  }
}

/// How repeats were recognised.
std::string repeats_text(const Counts& counts) {
  if (counts.same_binary == 0) return "";
  return fmt::format(" ({} by their text, {} by their binary)", counts.repeated - counts.same_binary,
                     counts.same_binary);
}

/// Which run this is, and whether it has ended.
void print_head(const RunView& view, bool all) {
  say("run       {}  ({}, seed {}{})\n", view.folder.string(),
      view.has_task ? "task " + view.task.name : "begun by a program that links the library",
      view.config.seed, view.config.deterministic ? ", deterministic" : "");
  if (view.evaluator_changed)
    say("          the evaluator's file has changed since: {}\n", view.task.evaluator.path);
  if (view.reason != EndReason::unfinished)
    return say("state     ended ({}{})\n", name_of(view.reason), why_ended(view));
  const std::string resume =
      view.has_task ? goes_on(view.config, view.folder) : "the program that began it can continue it";
  const auto& error = view.state.session_error();
  if (view.in_use)
    say("state     under way\n");
  else if (!error)
    say("state     not at its end: {}\n", resume);
  else
    say("state     an error ended the last session:\n{}            once its cause is removed: {}\n",
        cut_lines("            " + describe_briefly(*error) + "\n", all ? std::string::npos : 2 * kColumns),
        resume);
}

/// What the run has used, and what came of it.
void print_counts(const RunView& view) {
  const Counts& counts = view.state.counts();
  const Budgets& budgets = view.state.budgets();
  say("\nused      {} iterations, {} evaluations, {}{}{}{}\n", used_of(counts.iterations, budgets.iterations),
      used_of(counts.evaluations, budgets.evaluations),
      budgets.calls ? fmt::format("{} calls, ", used_of(view.state.calls(), budgets.calls)) : "",
      clock_text(view.state.elapsed_s() - view.state.confirming_s()),
      budgets.wall_s ? " of " + clock_text(*budgets.wall_s) : "", confirming_text(view.state.confirming_s()));
  say("programs  {} accepted, {} rejected; {} repeats{}, {} refusals, {} measured again\n", counts.accepted,
      counts.rejected, counts.repeated, repeats_text(counts), counts.refused, counts.remeasured);
  for (const auto& [code, count] : view.given_back)
    say("          {} without a verdict: {}\n", number_text(count, "ticket"), words_for(code));
}

void print_expected(const RunView& view) {
  const auto expected = view.expected_gain();
  if (!expected || expected->evaluations == 0) return;
  const auto& until_flat = view.state.budgets().until_flat;
  say("outlook   {}{}\n", expected_text(*expected),
      until_flat ? fmt::format("; the search ends below {:g} %", *until_flat) : "");
  if (view.has_task && view.reason == EndReason::budget)
    say("          kernelsmith resume {} with a larger budget makes them\n",
        shell_word(view.folder.string()));
}

void print_calls(const RunView& view) {
  if (view.in_use && view.calls_under_way > 0)
    say("calls     {} under way\n", number_text(view.calls_under_way, "call"));
  if (view.answers_on_their_way > 0)
    say("calls     {} arrived, but not in the journal yet: {}\n",
        number_text(view.answers_on_their_way, "answer"),
        view.in_use ? "they are on their way" : "resume takes them up");
}

void print_cost(const RunView& view) {
  const Spending spending = view.spending();
  if (spending.empty()) return;
  say("cost      {}\n", money_text(spending, view.state.budgets().usd));
  for (const auto& [model, totals] : spending.models())
    say("            {}: {}, {}\n", model.empty() ? "(no name)" : model, tokens_text(totals),
        totals.unpriced == totals.calls ? "price unknown" : usd_text(totals.usd + totals.guessed_usd));
  for (const std::string& line : unknown_costs(spending)) say("            {}\n", line);
}

void print_best(const RunView& view) {
  for (const IndividualPtr& one : view.state.demoted()) say("demoted   {}\n", demotion_text(*one));
  const IndividualPtr best = view.state.best();
  if (!best) {
    say("best      none: nothing was accepted{}\n",
        view.state.demoted().empty() ? " yet" : " both at first and when measured again");
    return;
  }
  const Evaluation& evaluation = *view.best_evaluation();
  const Report& report = evaluation.report();
  const bool unconfirmed = view.config.confirm && !view.state.confirmation_of_best();
  say("best      program {}, {}{}{}, {}\n", best->program->id.value, score_text(evaluation),
      report.speedup ? " over the baseline" : "",
      view.state.confirmation_of_best() ? ", measured again"
      : unconfirmed                     ? ", not measured again"
                                        : "",
      view.has_task ? "in " + view.best_folder.string()
                    : "printed by kernelsmith export " + shell_word(view.folder.string()));
  for (const ShapeResult& shape : report.shapes)
    if (shape.timed && shape.runtime_us && shape.speedup)
      say("            {:<24} {:>24}  {}{}{}\n", shape.shape, text_of(*shape.runtime_us),
          text_of(*shape.speedup), shape.short_call ? "  short" : "", weight_text(shape));
  if (const std::string costs = costs_text(*evaluation.metrics()); !costs.empty())
    say("            {}\n", costs);
  if (!report.tier.empty()) say("tier      {}\n", report.tier);
}

/// With several objectives, prints the programs that no other program beats in every objective.
void print_front(const RunView& view) {
  const Objectives& objectives = view.state.archipelago().objectives();
  if (!objectives.several()) return;
  constexpr std::size_t kShown = 20;
  const auto front = view.state.archipelago().front();
  say("  {} that no other program beats in everything ({})\n", number_text(front.size(), "program"),
      name_of(objectives.rule()));
  for (std::size_t i = 0; i < std::min(front.size(), kShown); ++i) {
    const Metrics& metrics = *front[i]->evaluation.metrics();
    say("    program {:<6}", front[i]->program->id.value);
    for (std::size_t objective = 0; objective < objectives.list().size(); ++objective) {
      const std::string& feature = objectives.list()[objective].feature;
      const auto number = feature == "fitness"
                              ? std::optional(view.shown(front[i])->evaluation.metrics()->fitness().median)
                              : objectives.reported(objective, metrics);
      say("  {} {}", feature, number ? short_number(*number) : "-");
    }
    say("\n");
  }
  say("{}\n", front.size() > kShown ? "    ...\n" : "");
}

void print_archive(const RunView& view, bool all) {
  if (!view.has_cells)
    return say(
        "\narchive   not known: only the program that began the run computes the features of its axes\n");
  const ArchiveStatistics statistics = view.state.archipelago().statistics();
  say("\narchive   {} of {} cells filled on {} islands, {} migrations, digest {}\n\n", statistics.filled,
      statistics.cells, view.state.archipelago().size(), view.state.migrations(),
      view.archive_digest().hex().substr(0, 16));
  print_front(view);
  say("  the best of each cell: its {}\n{}",
      view.best_evaluation() && view.best_evaluation()->report().speedup ? "speedup" : "fitness",
      archive_map(view, all));
}

void print_arms(const RunView& view) {
  const std::string table = arms_table(view.state.arms());
  if (!table.empty()) say("\narms: what each operator of each model brought\n{}", table);
}

void print_failures(const RunView& view) {
  const auto failures = view.state.failures();
  if (failures.empty()) return;
  say("\nfailures by stage\n");
  for (const auto& [rule, count] : failures)
    say("  {:<14} {:<20} {:>6}\n", name_of(rule.first), name_of(rule.second), count);
}

/// Prints the programs on which workers were lost. They are not evaluated again automatically, so the user
/// should check these programs and the machines.
void print_lost_workers(const RunView& view) {
  if (view.lost_workers.empty()) return;
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(view.lost_workers.size(), kShown); ++i)
    list += fmt::format("{}{}", i > 0 ? ", " : "", view.lost_workers[i].value);
  if (view.lost_workers.size() > kShown) list += ", ...";
  say("\ndead letters: {} on which the fleet lost workers\n  {}\n",
      number_text(view.lost_workers.size(), "program"), list);
}

void print_refusals(const RunView& view, bool all) {
  if (view.refusals.empty()) return;
  say("\nrefusals: proposals that gave no child\n");
  constexpr std::size_t kShownDetail = 300;
  for (const auto& [code, refused] : view.refusals) {
    say("  {:<35} {:>6}\n", name_of(code), refused.count);
    if (refused.detail.empty()) continue;
    const std::string such = fmt::format("    such as ticket {}: {}\n", refused.last.value,
                                         refused.detail.substr(0, kShownDetail));
    say("{}", all ? such : cut_lines(such));
  }
}

/// What limits the best now, as the backend says it to the next proposal.
void print_limits(const RunView& view, bool all) {
  constexpr std::size_t kLines = 8;
  const Evaluation* evaluation = view.best_evaluation();
  if (!evaluation) return;
  // The measurement at the end may have no advice.
  if (evaluation->report().advice.empty() && view.latest_best) evaluation = &view.latest_best->evaluation;
  if (evaluation->report().advice.empty()) return;
  std::string text = wrapped(evaluation->report().advice, "  ");
  std::size_t end = 0;
  for (std::size_t line = 0; !all && line < kLines && end != std::string::npos; ++line)
    end = text.find('\n', end + 1);
  if (!all && end != std::string::npos) text.resize(end);
  while (text.ends_with('\n')) text.pop_back();
  say("\nwhat limits the best now\n{}\n", all ? text : cut_lines(text));
}

/// The steps that tell how the best came about: all of a short lineage; of a longer one the seed, the best,
/// and the steps that gained the most.
std::vector<bool> told_steps(const std::vector<double>& gains) {
  constexpr std::size_t kSteps = 12;  // with their diffs they fill a screen or two
  std::vector<bool> told(gains.size(), gains.size() <= kSteps);
  if (gains.size() <= kSteps) return told;
  std::vector<std::size_t> order(gains.size() - 2);
  std::iota(order.begin(), order.end(), std::size_t{1});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return gains[i]; });
  told.front() = told.back() = true;
  for (std::size_t i = 0; i < kSteps - 2; ++i) told[order[i]] = gains[order[i]] > 1;
  return told;
}

/// The steps whose diffs are shown, of the printed ones: the ones that gained the most, as far as they
/// fit.
std::vector<bool> told_diffs(const std::vector<LineageStep>& steps, const std::vector<double>& gains,
                             const std::vector<bool>& told) {
  constexpr std::size_t kDiffLines = 40;
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return gains[i]; });
  std::vector<bool> shown(steps.size(), false);
  std::size_t lines = 0;
  for (const std::size_t i : order) {
    const auto length = static_cast<std::size_t>(std::ranges::count(steps[i].diff, '\n'));
    if (!told[i] || lines + length > kDiffLines) continue;
    lines += length;
    shown[i] = true;
  }
  return shown;
}

/// The score of the last step over that of the first; 0 if a step has none.
double gain_between(const RunView& view, const std::vector<LineageStep>& steps, std::size_t first,
                    std::size_t last) {
  const auto score = [&](std::size_t step) {
    const Evaluation& evaluation = view.shown(steps[step].individual)->evaluation;
    return evaluation.accepted() ? score_of(evaluation).median : 0;
  };
  return score(first) > 0 && score(last) > 0 ? score(last) / score(first) : 0;
}

std::string gain_text(double gain, const std::string& over) {
  if (gain <= 0) return "";
  const std::string times = short_number(gain);
  return times == "1" ? ", equal to " + over : fmt::format(", {} times {}", times, over);
}

/// Why the best was preferred to a parent with a better number.
void print_measured_again(const RunView& view, const Individual& parent) {
  const auto& confirmations = view.state.confirmations();
  const auto found = confirmations.find(parent.program->id);
  if (found == confirmations.end() || !found->second.evaluation || !found->second.evaluation->accepted())
    return;
  say("  when the best were measured again, program {} had {}\n", parent.program->id.value,
      score_text(*found->second.evaluation));
}

/// Prints the steps that gained the most, with what each gained and changed. `all` prints every step.
void print_lineage(const RunView& view, bool all) {
  const auto& steps = view.lineage_of_best;
  if (steps.empty()) return;
  std::vector<double> gains = {0};
  for (std::size_t i = 1; i < steps.size(); ++i) gains.push_back(gain_between(view, steps, i - 1, i));
  const std::vector<bool> told = all ? std::vector<bool>(steps.size(), true) : told_steps(gains);
  const std::vector<bool> diffs = all ? told : told_diffs(steps, gains, told);
  const bool whole = std::ranges::count(told, false) + std::ranges::count(diffs, false) == 0;
  const std::string in_all = gain_text(gain_between(view, steps, 0, steps.size() - 1), "the seed");
  say("\nlineage of the best: {}{}{}\n", number_text(steps.size() - 1, "step"),
      steps.size() > 1 ? in_all : "", whole ? "" : "; --all shows every step and diff");
  std::size_t last_told = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!told[i]) continue;
    if (i > last_told + 1)
      say("  ... {}{}\n", number_text(i - last_told - 1, "step"),
          gain_text(gain_between(view, steps, last_told, i - 1),
                    fmt::format("program {}", steps[last_told].individual->program->id.value)));
    last_told = i;
    const Program& program = *steps[i].individual->program;
    const IndividualPtr shown = view.shown(steps[i].individual);
    const Evaluation& evaluation = i + 1 < steps.size() ? shown->evaluation : *view.best_evaluation();
    say("  program {} ({}): {}{}\n", program.id.value, name_of(program.origin),
        evaluation.accepted() ? score_text(evaluation) : "rejected", gain_text(gains[i], "its parent"));
    if (diffs[i]) say("{}", all ? steps[i].diff : cut_lines(steps[i].diff));
  }
  if (steps.size() > 1 && gains.back() < 1) print_measured_again(view, *steps[steps.size() - 2].individual);
  if (steps.size() > 1 && std::find(diffs.begin() + 1, diffs.end(), true) == diffs.end())
    say("  how the last two differ: kernelsmith diff {} {} {}\n", shell_word(view.folder.string()),
        steps[steps.size() - 2].individual->program->id.value, steps.back().individual->program->id.value);
}

struct ShowCommand {
  std::string folder;
  bool all = false;
  JsonOption json;

  int operator()() const {
    const auto view = view_run(folder, default_registry());
    if (!view) return report(view.error(), json);
    if (json) {
      std::fputs(json_of(*view, json).c_str(), stdout);
      return kDone;
    }
    print_head(*view, all);
    print_best(*view);
    print_lineage(*view, all);
    print_limits(*view, all);
    print_counts(*view);
    print_expected(*view);
    print_calls(*view);
    print_cost(*view);
    print_archive(*view, all);
    print_arms(*view);
    print_failures(*view);
    print_lost_workers(*view);
    print_refusals(*view, all);
    return kDone;
  }
};

}  // namespace

void add_show(CLI::App& app, Command& chosen) {
  const auto [show, command] = add_command<ShowCommand>(
      app, chosen, "show", "Show a run: best, how it came about, archive map, failures by stage",
      "The run is rebuilt from its journal. docs/formats.md is the schema of --json.");
  command.add_option("RUN", show.folder, "The run folder; another process may be writing it")->required();
  show.json.add_to(command);
  command.add_flag("--all", show.all, "The whole map, every diff of the lineage, and no line cut");
}

}  // namespace kernelsmith::cli
