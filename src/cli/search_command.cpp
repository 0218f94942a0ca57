#include "search_command.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kernelsmith/code/knob_setting.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/session/run_view.hpp>

#include "commands.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

std::string_view words_for(BudgetName budget) {
  switch (budget) {
    case BudgetName::iterations:
      return "the budget of iterations is used up";
    case BudgetName::evaluations:
      return "the budget of evaluations is used up";
    case BudgetName::calls:
      return "the budget of calls is used up";
    case BudgetName::wall_time:
      return "the time is used up";
    case BudgetName::money:
      return "the money is used up, or what is left covers no other call";
  }
  return "";
}

/// Whether the tuner was the only proposer and has tried every point.
bool is_used_up(const Session& session, const Outcome& outcome) {
  return outcome.reason == EndReason::exhausted && only_tunes(session.config()) &&
         outcome.refusals.contains(RefusalCode::exhausted);
}

/// Why the run ended, as text after "ended".
std::string_view words_for(const Session& session, const Outcome& outcome) {
  switch (outcome.reason) {
    case EndReason::unfinished:
      return "unfinished";
    case EndReason::budget:
      return words_for(*outcome.budget);
    case EndReason::flat:
      return "the rest of the budget would gain too little (--until-flat)";
    case EndReason::exhausted:
      return is_used_up(session, outcome) ? "every point of the knobs was tried"
                                          : "nothing new is left to propose";
    case EndReason::finished:
      return "the proposer said that it has finished";
    case EndReason::refused:
      return "the seed was rejected";
    case EndReason::stopped:
      return "stopped on request";
    case EndReason::errors:
      return "an error, which is shown below";
    case EndReason::replayed:
      return "the recording ends here";
  }
  return "";
}

std::string best_file(const Session& session, const Individual& best) {
  const auto& files = best.program->source.files();
  return (files.size() == 1 ? session.best_folder() / files.front().path : session.best_folder()).string();
}

/// The recording that the run or its last part follows; empty if the run searches.
std::optional<RecordedRun> recording_of(const Session& session) {
  return session.config().proposer.provider->traits().recorded;
}

/// Whether the run made no call and no measurement, so that all its numbers come from the recording.
bool is_copy(const Session& session) {
  const auto run = recording_of(session);
  return run && !run->live && run->evaluations == RecordedEvaluations::kept;
}

/// "kTile = 16, kRows = 8"; empty if the program has no knobs.
std::string knobs_text(const Source& source) {
  const auto setting = knob_setting(source);
  if (!setting) return "";
  std::string text;
  for (std::size_t i = 0; i < setting->knobs.size(); ++i) {
    const KnobList& knob = setting->knobs[i];
    text += fmt::format("{}{} = {}", i > 0 ? ", " : "",
                        knob.name.empty() ? fmt::format("knob {}", i + 1) : knob.name,
                        knob.values[setting->point[i]]);
  }
  return cut_lines(text);
}

void print_best(const Session& session, const Outcome& outcome) {
  if (outcome.counts.demoted > 0)
    say("demoted  {} that {} the best before, and {} rejected when measured again\n",
        number_text(outcome.counts.demoted, "program"), outcome.counts.demoted == 1 ? "was" : "were",
        outcome.counts.demoted == 1 ? "was" : "were");
  if (!outcome.best) {
    say("best     none: no candidate was accepted{}\n",
        outcome.counts.demoted > 0 ? " both at first and when measured again" : "");
    return;
  }
  const Evaluation& evaluation = outcome.confirmation ? *outcome.confirmation : outcome.best->evaluation;
  const char* again = is_copy(session)           ? ", as recorded"
                      : outcome.confirmation     ? ", measured again on fresh inputs"
                      : session.config().confirm ? ", not measured again"
                                                 : "";
  say("best     {}\n", best_file(session, *outcome.best));
  if (evaluation.report().speedup)
    say("speedup  {} over the baseline{}\n", text_of(*evaluation.report().speedup), again);
  else
    say("fitness  {}{}\n", text_of(evaluation.metrics()->fitness()), again);
  if (!evaluation.report().tier.empty()) say("tier     {}\n", evaluation.report().tier);
  if (const std::string knobs = knobs_text(outcome.best->program->source); !knobs.empty())
    say("knobs    {}\n", knobs);
  if (const auto& speedup = evaluation.report().speedup; speedup && speedup->low <= 1)
    say("         {}; {}\n",
        speedup->median < 1 ? "no program is faster than the baseline yet"
                            : "this may be noise: no program is surely faster than the baseline yet",
        only_tunes(session.config())
            ? "search longer, list more values of the knobs (@tune),\n         or let a model change "
              "the program (--model)"
            : "search longer, or read what limits the best:\n         kernelsmith show " +
                  shell_word(session.folder().string()));
}

void print_archive(const Session& session) {
  session.engine().inspect([](const SearchState& state) {
    const ArchiveStatistics statistics = state.archipelago().statistics();
    say("archive  {} of {} cells filled, digest {}\n", statistics.filled, statistics.cells,
        archive_digest(state).hex().substr(0, 16));
  });
}

/// The option that changes the limit that ended the run.
std::string more_of(const Budgets& budgets, const Outcome& outcome) {
  if (outcome.reason == EndReason::flat) return fmt::format(" --until-flat {:.3g}", *budgets.until_flat / 2);
  if (outcome.reason != EndReason::budget || !outcome.budget) return "";
  switch (*outcome.budget) {
    case BudgetName::iterations:
      return fmt::format(" --iterations {}", 2 * *budgets.iterations);
    case BudgetName::evaluations:
      return fmt::format(" --evaluations {}", 2 * *budgets.evaluations);
    case BudgetName::calls:
      return fmt::format(" --calls {}", 2 * *budgets.calls);
    case BudgetName::wall_time:
      return fmt::format(" --time {:g}s", 2 * *budgets.wall_s);
    case BudgetName::money:
      return fmt::format(" --max-usd {:.3g}",
                         2 * std::max({*budgets.usd, outcome.spending.usd(), outcome.next_usd.value_or(0)}));
  }
  return "";
}

/// Prints how many iterations of the run gave no child, although they were paid for.
void print_refusals(const std::map<RefusalCode, std::uint64_t>& refusals) {
  if (refusals.empty()) return;
  std::string list;
  for (const auto& [code, count] : refusals)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name_of(code), count);
  say("refused  proposals without a child: {}\n", list);
  if (refusals.contains(RefusalCode::no_knobs))
    say("         no_knobs: leave tune out of operators, or mark knobs (@tune)\n");
  if (refusals.contains(RefusalCode::truncated))
    say("         truncated: replies were cut off; a larger max_output_tokens of the model (docs/llm.md) may "
        "help\n");
}

void print_cost(const Session& session, const Outcome& outcome) {
  if (outcome.spending.empty()) return;
  const CallTotals total = outcome.spending.total();
  const auto recording = recording_of(session);
  const char* whose = !recording ? "" : recording->live ? "the recorded calls included: " : "as recorded: ";
  say("cost     {}{}: {}\n", whose, money_text(outcome.spending, session.config().budgets.usd),
      tokens_text(total));
  for (const std::string& line : unknown_costs(outcome.spending)) say("         {}\n", line);
}

/// Explains why the budget of money ended the run although some money is left.
void print_next_call(const Session& session, const Outcome& outcome) {
  if (outcome.next_usd.value_or(0) > 0)
    say("         the next call may cost {}, but only {} of {} are left\n", usd_text(*outcome.next_usd),
        usd_text(std::max(0.0, *session.config().budgets.usd - outcome.spending.usd())),
        usd_text(*session.config().budgets.usd));
}

/// Explains why --until-flat ended the run.
void print_expected(const Session& session, const Outcome& outcome) {
  if (outcome.reason != EndReason::flat) return;
  session.engine().inspect([&](const SearchState& state) {
    say("         {}; --until-flat asks for {:g} %\n", expected_text(*outcome.expected_gain),
        *state.budgets().until_flat);
  });
}

/// Prints the command that continues the run or, if the run cannot find more, how to begin a better one.
void print_next(const Session& session, const Outcome& outcome) {
  const std::string folder = shell_word(session.folder().string());
  say("next     kernelsmith show {}\n", folder);
  if (outcome.reason == EndReason::refused) return;  // a resumed run would end in the same way
  if (const auto recording = recording_of(session); recording && !recording->live) {
    say("         kernelsmith replay {} --live    goes on where the recording ends\n",
        shell_word(recording_of(session)->folder.string()));
    return;
  }
  if (is_used_up(session, outcome))
    return say(
        "         a new run with more to try: further values of the seed's knobs (@tune), or a model "
        "(--model)\n");
  if (outcome.reason == EndReason::exhausted)
    return say(
        "         a new run with more to try: further values of the seed's knobs (@tune), a model (--model), "
        "or "
        "--set limits.idle_iterations={}\n",
        2 * session.config().idle_iterations);
  say("         {}{}{}\n", goes_on(session.config(), session.folder()),
      more_of(session.config().budgets, outcome),
      outcome.reason == EndReason::errors   ? "    after you have removed the cause of the error"
      : outcome.reason == EndReason::budget ? "    budgets are totals, so give a larger one"
      : outcome.reason == EndReason::flat   ? "    or with a larger budget"
                                            : "");
}

/// The wall time of the run, and the time for measuring the best again, which no budget counts.
std::string time_text(const Outcome& outcome) {
  return clock_text(outcome.elapsed_s - outcome.confirming_s) + confirming_text(outcome.confirming_s);
}

/// Prints the summary; `idle` means that the run had ended before this session.
void print_summary(const Session& session, const Outcome& outcome, bool idle) {
  say("ended    {}{}: {} iterations, {} evaluations, {}\n", idle ? "before this session: " : "",
      words_for(session, outcome), outcome.counts.iterations, outcome.counts.evaluations, time_text(outcome));
  print_expected(session, outcome);
  print_next_call(session, outcome);
  print_best(session, outcome);
  print_archive(session);
  print_refusals(outcome.refusals);
  print_cost(session, outcome);
  if (!is_copy(session))
    say("engine   {:.2f} % of the wall time\n", 100 * outcome.engine_s / std::max(outcome.session_s, 1e-9));
  print_next(session, outcome);
}

/// Whether no model answered. Such a run has failed, even if its seed was evaluated.
bool nobody_answered(const Session& session, const Outcome& outcome) {
  const bool asked = outcome.budget == BudgetName::wall_time ||
                     (outcome.budget == BudgetName::money && !outcome.spending.empty());
  // A reply is recognised by its reported tokens, even if no worker evaluated its program.
  const bool answered = std::ranges::any_of(
      outcome.spending.models(), [](const auto& model) { return model.second.calls > model.second.untold; });
  return session.config().proposer.kind == "chat" && asked && !answered && outcome.counts.iterations == 0;
}

int status_of(const Session& session, const Outcome& outcome) {
  if (outcome.error) return report(stderr, *outcome.error);
  if (outcome.reason == EndReason::stopped) return kInterrupted;
  if (nobody_answered(session, outcome)) {
    say(stderr, "no model answered before the budget was used up\n");
    return kRejected;
  }
  return outcome.best ? kDone : kRejected;
}

}  // namespace

int search(Session& session, Progress& progress, Interrupt& interrupt) {
  if (const std::string whom = session.config().proposer.provider->outlook().destination; !whom.empty())
    say(stderr, "{}\n", whom);
  const bool idle = session.engine().done() && !recording_of(session);
  progress.start(session.engine());
  const auto outcome =
      session.run([&](const Commit& commit) { progress.on_commit(commit); }, interrupt.token());
  progress.finish();
  if (!outcome) {
    const int status = report(stderr, outcome.error());
    if (session.check())
      say(stderr, "everything reported is kept: kernelsmith resume {}\n",
          shell_word(session.folder().string()));
    return status;
  }
  print_summary(session, *outcome, idle);
  return status_of(session, *outcome);
}

Result<NewFolder> NewFolder::claim(const std::optional<std::string>& named, const std::string& name) {
  if (named) return NewFolder(*named, false);
  for (int number = 1;; ++number) {
    std::string folder = fmt::format("{}-{}.run", name, number);
    if (::mkdir(folder.c_str(), 0777) == 0) return NewFolder(std::move(folder), true);
    if (errno != EEXIST) return system_error("cannot create the folder", folder, errno);
  }
}

NewFolder::~NewFolder() {
  if (made_) ::rmdir(path_.c_str());  // fails if it is not empty
}

}  // namespace kernelsmith::cli
