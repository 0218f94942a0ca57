// kernelsmith suite FOLDER
#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/session/share_programs.hpp>

#include "commands.hpp"
#include "dry_run_command.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "suite_command.hpp"

namespace kernelsmith::cli {
namespace {

/// The published protocols that --preset follows.
struct SuitePreset {
  std::uint64_t rounds = 0;
  Sampling sampling;          ///< of models that --model names
  std::string translates_to;  ///< the backend of its tasks, which have no seed, so that a search begins with
                              ///< a translation of the reference; empty if any task fits
};

const std::map<std::string, SuitePreset>& suite_presets() {
  static const Sampling kernel_smith = {0.6, 0.95, 32'768, 32'768};
  static const std::map<std::string, SuitePreset> presets = {
      {"kernel-smith", {40, kernel_smith, ""}},
      {"kernel-smith-maca", {40, kernel_smith, "maca"}},
  };
  return presets;
}

/// Checks that the preset `name` fits the task. Errors: `invalid_argument`.
Status check_preset(const std::string& name, const Task& task) {
  const std::string& backend = suite_presets().at(name).translates_to;
  if (backend.empty()) return {};
  if (task.backend != backend)
    return fail(ErrorCode::invalid_argument, "the preset " + name + " is for tasks of " + backend,
                task.name + ", a task of " + task.backend,
                "leave --preset out, or name a folder of such tasks");
  if (!task.seed.empty())
    return fail(ErrorCode::invalid_argument,
                "the preset " + name + " begins with a translation, but the task has a seed", task.name,
                "leave `seed` out of its task.yaml: the preset translates the reference");
  return {};
}

constexpr const char* kSuiteFooter =
    R"(FOLDER holds task folders, or KernelBench's level1, level2, ... Each task is searched in its own run folder
below the results. The seed, repairs and repeated measurements count as evaluations. --budget equal gives each task
--rounds evaluations. --budget adaptive gives all tasks together as many: half of --rounds to each task, and then a
quarter at a time to the task that is expected to gain most.
After Ctrl-C, a kill or an error the same command continues, and leaves finished tasks as they are.
--preset kernel-smith: 40 rounds; each --model is asked with temperature 0.6, top_p 0.95 and at most 32768 tokens of
prompt and of reply. --preset kernel-smith-maca: the same for maca tasks without a seed; each search then begins by
translating the task's reference, an operator in CUDA C++.
Exit status: 0 every search reached its end, 130 interrupted, else the status of the first task's error.
docs/suite.md explains the figures and the files.)";

constexpr std::uint64_t kDefaultRounds = 40;

struct SuiteCommand {
  TaskSetOptions tasks;
  std::optional<std::uint64_t> rounds;
  std::optional<std::string> preset;
  std::string budget = "equal";
  bool renew = false;
  bool dry = false;
  std::size_t count = 1;  ///< how many tasks share --max-usd
  KeyOptions keys;
  ModelOptions models;
  ConfigOptions config;

  bool adaptive() const { return budget == "adaptive"; }
  std::uint64_t rounds_each() const {
    return rounds.value_or(preset ? suite_presets().at(*preset).rounds : kDefaultRounds);
  }
  Result<RunConfig> configure(const Task& task, const Registry& registry) const;
  Result<std::map<std::string, std::string>> settings() const;
  int try_first(const std::vector<SuiteTask>& found, const Registry& registry, Interrupt& interrupt) const;
  int operator()();
};

/// Searches with the options of the command, and shows the progress of each search as `run` does.
class SearchSuiteHost final : public SearchHost {
 public:
  SearchSuiteHost(const SuiteCommand& command, const Registry& registry, std::stop_token stop)
      : command_(command), registry_(registry), stop_(std::move(stop)) {}

  Result<RunConfig> configure(const Task& task) override { return command_.configure(task, registry_); }

  void begin(const SuiteTask& task, std::size_t number, std::size_t of) override {
    tell_begin(task, number, of);
  }

  std::shared_ptr<Observer> observer() override { return progress_ = std::make_shared<Progress>(); }

  Result<Outcome> search(Session& session) override {
    // Printed once, because all tasks use the same server of models.
    if (const std::string whom = session.config().proposer.provider->outlook().destination;
        !whom.empty() && !told_)
      say(stderr, "{}\n", whom);
    told_ = true;
    progress_->start(session.engine());
    auto outcome = session.run([&](const Commit& commit) { progress_->on_commit(commit); }, stop_);
    progress_->finish();
    return outcome;
  }

  void end(const TaskResult& result) override { ends_.tell(result); }

 private:
  const SuiteCommand& command_;
  const Registry& registry_;
  std::stop_token stop_;
  std::shared_ptr<Progress> progress_;
  bool told_ = false;
  TaskEnds ends_;
};

Result<RunConfig> SuiteCommand::configure(const Task& task, const Registry& registry) const {
  if (preset)
    if (const Status fits = check_preset(*preset, task); !fits) return fits.error();
  ModelOptions asked = models;
  if (preset) asked.sampling = suite_presets().at(*preset).sampling;
  auto run = config.configure(task, registry, asked);
  if (!run) return run;
  run->budgets.evaluations = rounds_each();
  if (const Status applied = keys.apply(registry, *run); !applied) return applied.error();
  if (keys.given("budgets.usd")) *run->budgets.usd /= static_cast<double>(count);
  return run;
}

/// The settings that influence a search. They omit the server and the number of workers, which may change.
Result<std::map<std::string, std::string>> SuiteCommand::settings() const {
  auto settings = settings_of(config);
  if (!settings) return settings;
  (*settings)["rounds"] = fmt::format("{}", rounds_each());
  if (adaptive()) (*settings)["budget"] = budget;
  if (preset) (*settings)["preset"] = *preset;
  if (const auto seed = keys.given("seed")) (*settings)["seed"] = *seed;
  if (keys.given("deterministic")) (*settings)["deterministic"] = "yes";
  if (const auto usd = keys.given("budgets.usd")) (*settings)["max_usd"] = *usd;
  if (models.manual) (*settings)["proposer"] = "manual";
  if (!models.models.empty()) (*settings)["models"] = fmt::format("{}", fmt::join(models.models, " "));
  return settings;
}

/// Checks the first task that can be loaded, as `run --dry-run` does, and estimates the cost of all.
int SuiteCommand::try_first(const std::vector<SuiteTask>& found, const Registry& registry,
                            Interrupt& interrupt) const {
  for (const SuiteTask& task : found) {
    const auto loaded = load_task_folder(task.path, registry.backends);
    if (!loaded) continue;
    auto run = configure(loaded->task, registry);
    if (!run) return report(stderr, run.error());
    run->budgets.iterations = rounds_each();  // most evaluations are of a call's program
    return dry_run_command(*loaded, *run, interrupt, found.size());
  }
  return report(stderr, load_task_folder(found.front().path, registry.backends).error());
}

int SuiteCommand::operator()() {
  Interrupt interrupt;
  Registry registry = default_registry();
  share_programs(registry, note);
  const auto found = tasks.tasks();
  if (!found) return report(stderr, found.error());
  count = found->size();
  if (dry) return try_first(*found, registry, interrupt);
  auto shared = settings();
  if (!shared) return report(stderr, shared.error());
  const std::string out = tasks.out_folder(tasks.folder, ".suite");
  SearchSuiteHost host(*this, registry, interrupt.token());
  if (const Status ok = try_out(*found, registry, host, true); !ok) return report(stderr, ok.error());
  SuiteOptions options{out, std::move(*shared), renew};
  if (adaptive()) options.allocation = adaptive_allocation(rounds_each(), found->size());
  say(stderr, "{} tasks, {} evaluations {}, results in {}\n", found->size(),
      adaptive() ? options.allocation->total : rounds_each(), adaptive() ? "in all" : "each", out);
  return conclude(search_suite(*found, options, registry, host, interrupt.token()), out);
}

}  // namespace

void add_suite(CLI::App& app, Command& chosen) {
  const auto [suite, command] = add_command<SuiteCommand>(
      app, chosen, "suite", "Search for faster kernels of many tasks", kSuiteFooter);
  command.add_option("FOLDER", suite.tasks.folder, "The folder of the tasks")->required();
  suite.tasks.add_to(command, "FOLDER.suite");
  command.add_option("--rounds", suite.rounds, "Evaluations for each task (default 40)")
      ->check(whole_number(1))
      ->type_name("N");
  std::vector<std::string> presets;
  for (const auto& [name, preset] : suite_presets()) presets.push_back(name);
  command
      .add_option("--preset", suite.preset,
                  fmt::format("A published protocol: {}", fmt::join(presets, " or ")))
      ->check(CLI::IsMember(presets))
      ->type_name("NAME");
  command
      .add_option(
          "--budget", suite.budget,
          "How tasks share rounds: equal, or adaptive, which prefers tasks that are expected to gain most")
      ->check(CLI::IsMember({"equal", "adaptive"}))
      ->type_name("NAME");
  suite.keys.add_to(command, "--seed", "seed", "N");
  suite.keys.add_workers_to(command);
  suite.keys.add_flag_to(command, "--deterministic", "deterministic");
  suite.keys.add_to(command, "--max-usd", "budgets.usd", "USD")
      ->description("US dollars for all tasks together; each has an equal share (budgets.usd)");
  command.add_flag(
      "--dry-run", suite.dry,
      "Check configuration, key, server and evaluator with the first task, and estimate the cost, without a "
      "paid call");
  command.add_flag(
      "--renew", suite.renew,
      "Search again the tasks that were changed since their search began; their former runs are kept");
  suite.models.add_to(command);
  suite.config.add_to(command);
}

}  // namespace kernelsmith::cli
