// kernelsmith resume RUN
#include <fmt/format.h>

#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/share_programs.hpp>

#include "commands.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "search_command.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kResumeFooter =
    R"(Budgets are totals over all sessions of the run, and can only be raised: a run that used up
"--time 60s" continues for another minute with "--time 120s".
--set changes a key of the run's own run.yaml for good: workers, budgets, the proposer and the evaluator
(docs/formats.md). Keys on which the run's journal depends cannot be changed.)";

/// What all sessions of a run have used of each budget.
struct Used : Budgets {
  bool ended = false;  ///< no session has anything left to do
};

/// Returns an empty Used if the run's journal cannot be read; resuming will report that.
Used used_by(const std::string& folder, const Registry& registry) {
  Used used;
  const auto view = view_run(folder, registry);
  if (!view) return used;
  used.ended = view->reason != EndReason::unfinished;
  used.iterations = view->state.counts().iterations;
  used.evaluations = view->state.counts().evaluations;
  used.calls = view->state.calls();
  used.wall_s = view->state.elapsed_s() - view->state.confirming_s();
  used.usd = view->spending().usd();
  return used;
}

/// Refuses a budget that is smaller than the present budget or than the used amount.
template <class T>
Status check_raised(const char* option, const std::optional<T>& before, const std::optional<T>& used,
                    const std::optional<T>& given) {
  if (given && before && *given < *before)
    return fail(ErrorCode::invalid_argument, "the run's budget is larger already, and budgets are totals",
                option, "give a total that is larger than the one in run.yaml");
  if (given && used && *given < *used)
    return fail(ErrorCode::invalid_argument,
                fmt::format("the run has used {:.6g}{} already, and budgets are totals",
                            static_cast<double>(*used), std::string_view(option) == "--time" ? " s" : ""),
                option, "give a total that is larger than what was used");
  return {};
}

/// Refuses to resume if the run has also used up a budget that the user does not raise, because the session
/// would do nothing. The user may give the same total again.
template <class T>
Status check_left(const char* option, const std::optional<T>& budget, const std::optional<T>& used,
                  const std::optional<T>& given) {
  if (!budget || !used || *used < *budget || given) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("the run has used up this budget too ({:.6g})", static_cast<double>(*budget)), option,
      fmt::format("give a larger total for it as well: {} {:.6g}", option, 2 * static_cast<double>(*budget)));
}

Status raise_budgets(const KeyOptions& keys, const Used& used, const Registry& registry, RunConfig& config) {
  RunConfig given;
  if (Status applied = keys.apply(registry, given); !applied) return applied;
  const auto each = [](const auto& check) -> Status {
    for (const Status& ok : {check("--iterations", &Budgets::iterations),
                             check("--evaluations", &Budgets::evaluations), check("--calls", &Budgets::calls),
                             check("--time", &Budgets::wall_s), check("--max-usd", &Budgets::usd)})
      if (!ok) return ok;
    return {};
  };
  Status raised = each([&](const char* option, auto budget) {
    return check_raised(option, config.budgets.*budget, used.*budget, given.budgets.*budget);
  });
  if (!raised) return raised;
  if (Status applied = keys.apply(registry, config); !applied || !used.ended) return applied;
  return each([&](const char* option, auto budget) {
    return check_left(option, config.budgets.*budget, used.*budget, given.budgets.*budget);
  });
}

struct ResumeCommand {
  std::string folder;
  std::optional<std::string> base_url;
  KeyOptions budgets, workers;
  ConfigOptions settings;

  /// Sets the server that the user has chosen.
  Status set_server(const Registry& registry, RunConfig& config) const {
    if (!base_url) return {};
    if (config.proposer.kind != "chat")
      return fail(ErrorCode::invalid_argument,
                  config.proposer.kind == "mix" ? "this run's proposers have servers of their own"
                                                : "this run asks no server",
                  "--base-url",
                  "leave --base-url out; for an arm of a mix: --set proposer.arms.NAME.base_url=URL");
    YamlWriter out;
    out.map("proposer", [&](YamlWriter& map) { map.put("base_url", *base_url); });
    return lay(out.finish(), "--base-url", registry, config);
  }

  int operator()() const {
    Interrupt interrupt;
    const auto progress = std::make_shared<Progress>();
    Registry registry = default_registry();
    tell_of_waiting(registry, note);
    const Used used = budgets.any() ? used_by(folder, registry) : Used{};
    auto session = Session::resume(
        folder,
        [&](RunConfig& changed) -> Status {
          if (Status set = settings.apply_settings(registry, changed); !set) return set;
          if (Status set = set_server(registry, changed); !set) return set;
          if (Status set = workers.apply(registry, changed); !set) return set;
          if (Status raised = raise_budgets(budgets, used, registry, changed); !raised) return raised;
          say(stderr, "run {}; preparing\n", folder);
          return {};
        },
        registry, progress, interrupt.token());
    if (!session) return report(stderr, session.error());
    return search(*session, *progress, interrupt);
  }
};

}  // namespace

void add_resume(CLI::App& app, Command& chosen) {
  const auto [resume, command] = add_command<ResumeCommand>(
      app, chosen, "resume", "Continue a run that was interrupted or killed, or that has more budget",
      kResumeFooter);
  command.add_option("RUN", resume.folder, "The run folder")->required();
  resume.budgets.add_budgets_to(command);
  resume.workers.add_workers_to(command);
  add_value(command, "--base-url", resume.base_url,
            "The models' server; needed if run.yaml names a server that this machine's environment does not",
            "URL");
  resume.settings.add_settings_to(command);
}

}  // namespace kernelsmith::cli
