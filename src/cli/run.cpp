// kernelsmith run TASK
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/session/chain.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/share_programs.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "dry_run_command.hpp"
#include "interrupt.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "search_command.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kRunFooter =
    R"(Without a budget a run takes 60 seconds (200 iterations with --deterministic; every point with --exhaustive).
--config overrides the defaults, --model and the options for its server override --config, --set overrides these, and
the other options override all.
Ctrl-C commits everything and ends the run; kernelsmith resume continues it.)";

struct RunCommand {
  std::string task;
  std::optional<std::string> out, baseline_from;
  bool exhaustive = false;
  bool dry = false;
  KeyOptions keys;
  ModelOptions models;
  ConfigOptions config;

  Result<RunConfig> configure(const Task& task, const Registry& registry) const;
  Status search_exhaustively(const Task& task, const Registry& registry, RunConfig& run) const;
  int operator()() const;
};

Result<RunConfig> RunCommand::configure(const Task& for_task, const Registry& registry) const {
  auto run = config.configure(for_task, registry, models);
  if (!run) return run;
  if (const Status applied = keys.apply(registry, *run); !applied) return applied.error();
  if (exhaustive)
    if (const Status set = search_exhaustively(for_task, registry, *run); !set) return set.error();
  return run;
}

/// Makes the run end when no point is left: neither repeats nor the default budget end it earlier.
Status RunCommand::search_exhaustively(const Task& for_task, const Registry& registry, RunConfig& run) const {
  constexpr unsigned kMostIdle = 1'000'000'000;
  constexpr std::uint64_t kForConfirming = 16;  // besides the evaluation that finds that no point is left
  if (run.proposer.kind != "tuner" || !only_tunes(run))
    return fail(
        ErrorCode::invalid_argument, "only the tuner searches every point", "--exhaustive",
        "leave out --exhaustive, or the options that choose another proposer (--model, --manual, --config)");
  if (Status read = read_config("proposer: {exhaustive: true}\n", "--exhaustive", registry, run); !read)
    return read;
  run.idle_iterations = kMostIdle;
  const auto knobs = find_knobs(for_task.seed);
  if (knobs && !knobs->empty() && run.budgets == Budgets{})
    run.budgets.evaluations = std::min(points_of(*knobs), UINT64_MAX - kForConfirming) + kForConfirming;
  return {};
}

int RunCommand::operator()() const {
  Interrupt interrupt;
  Registry registry = default_registry();
  tell_of_waiting(registry, note);
  auto loaded = load_task_folder(task, registry.backends);
  if (loaded && baseline_from) loaded = with_baseline_from(*loaded, *baseline_from, registry);
  if (!loaded) return report(stderr, loaded.error());
  auto run = configure(loaded->task, registry);
  if (!run) return report(stderr, run.error());

  warn_of_near_knobs(loaded->task.seed, paths_of(loaded->task.seed));
  if (dry) return dry_run_command(*loaded, *run, interrupt);

  // A missing key is known before there is a folder to speak of.
  if (run->proposer.kind == "chat")
    if (const auto proposer = run->proposer.provider->make(loaded->task, interrupt.token()); !proposer)
      return report(stderr, proposer.error());
  const auto folder = NewFolder::claim(out, loaded->task.name);
  if (!folder) return report(stderr, folder.error());
  say(stderr, "task {}, run folder {}; preparing\n", loaded->task.name, folder->path());
  const auto progress = std::make_shared<Progress>();
  auto session = Session::create(*loaded, folder->path(), std::move(*run), progress, interrupt.token());
  if (!session) return report(stderr, session.error());
  return search(*session, *progress, interrupt);
}

}  // namespace

void add_run(CLI::App& app, Command& chosen) {
  const auto [run, command] =
      add_command<RunCommand>(app, chosen, "run", "Search for a faster kernel", kRunFooter);
  command
      .add_option("TASK", run.task,
                  "The task's folder, or a problem of KernelBench or an arena (docs/arenas.md)")
      ->required();
  add_value(command, "--out", run.out, "The run folder to make (default: NAME-1.run, NAME-2.run, ... here)",
            "RUN");
  add_value(command, "--baseline-from", run.baseline_from,
            "Make the confirmed best of this run the baseline, whose time is then 1.0x", "RUN");
  run.keys.add_budgets_to(command);
  run.keys.add_to(command, "--seed", "seed", "N");
  run.keys.add_workers_to(command);
  run.keys.add_to(command, "--axes", "archive.axes", "PRESET");
  run.keys.add_flag_to(command, "--deterministic", "deterministic");
  command.add_flag("--exhaustive", run.exhaustive,
                   "Try every point of the seed's knobs, and end when none is left (without a model)");
  run.keys.add_to(command, "--durability", "durability", "LEVEL");
  command.add_flag(
      "--dry-run", run.dry,
      "Check configuration, key, server and evaluator, and estimate the cost, without a paid call");
  run.models.add_to(command);
  run.config.add_to(command);
}

}  // namespace kernelsmith::cli
