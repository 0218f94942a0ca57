// kernelsmith suite FOLDER
#include <fmt/format.h>

#include <kernelsmith/session/share_programs.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "say.hpp"
#include "suite_command.hpp"
#include "suite_preset.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kSuiteFooter =
    R"(FOLDER holds task folders, or KernelBench's level1, level2, ... Each task is searched in a run folder of its own
below the results; the seed, repairs and measuring again are evaluations. --budget equal gives each task --rounds of
them. --budget adaptive hands out as many in all: half of --rounds to each task, then a quarter at a time to the task
that is expected to gain most.
The same command goes on after Ctrl-C, a kill or an error, and takes finished tasks as they are.
--preset kernel-smith: 40 rounds; models named by --model are asked with temperature 0.6, top_p 0.95 and at most
32768 tokens of prompt and of reply. --preset kernel-smith-maca: the same for tasks of maca without a seed, so that
each search begins with the translation of its reference, an operator in CUDA C++.
Exit status: 0 every task was searched to its end, 130 interrupted, else that of the first task's error.
docs/suite.md explains the figures and the files.)";

constexpr std::uint64_t kDefaultRounds = 40;

struct SuiteCommand {
  TaskSetOptions tasks;
  std::optional<std::uint64_t> rounds;
  std::optional<std::string> preset;
  std::string budget = "equal";
  bool renew = false;
  KeyOptions keys;
  ModelOptions models;
  ConfigOptions config;

  bool adaptive() const { return budget == "adaptive"; }
  std::uint64_t rounds_each() const {
    return rounds.value_or(preset ? suite_presets().at(*preset).rounds : kDefaultRounds);
  }
  Result<RunConfig> configure(const Task& task, const Registry& registry) const;
  Result<std::map<std::string, std::string>> settings() const;
  int operator()() const;
};

/// Searches with the command's options, and shows each search as `run` does.
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
    // The server of models is the same for all tasks.
    if (const std::string whom = session.config().proposer.provider->outlook().destination;
        !whom.empty() && !told_)
      say(stderr, "{}\n", whom);
    told_ = true;
    progress_->start(session.engine());
    auto outcome = session.run([&](const Commit& commit) { progress_->on_commit(commit); }, stop_);
    progress_->finish();
    return outcome;
  }

  void end(const TaskResult& result) override { tell_end(result); }

 private:
  const SuiteCommand& command_;
  const Registry& registry_;
  std::stop_token stop_;
  std::shared_ptr<Progress> progress_;
  bool told_ = false;
};

Result<RunConfig> SuiteCommand::configure(const Task& task, const Registry& registry) const {
  if (preset)
    if (const Status fits = check_preset(*preset, task); !fits) return fits.error();
  auto run = default_config(task, registry);
  if (!run) return run;
  if (const Status applied = config.apply_file(registry, *run); !applied) return applied.error();
  if (const Status applied = models.apply(registry, *run); !applied) return applied.error();
  if (const Status applied = config.apply_settings(registry, *run); !applied) return applied.error();
  run->budgets.evaluations = rounds_each();
  if (const Status applied = keys.apply(registry, *run); !applied) return applied.error();
  return run;
}

/// The settings that influence a search, without the server, which may change, and the number of workers.
Result<std::map<std::string, std::string>> SuiteCommand::settings() const {
  auto settings = settings_of(config);
  if (!settings) return settings;
  (*settings)["rounds"] = fmt::format("{}", rounds_each());
  if (adaptive()) (*settings)["budget"] = budget;
  if (preset) (*settings)["preset"] = *preset;
  if (const auto seed = keys.given("seed")) (*settings)["seed"] = *seed;
  if (keys.given("deterministic")) (*settings)["deterministic"] = "yes";
  if (models.manual) (*settings)["proposer"] = "manual";
  if (!models.models.empty()) (*settings)["models"] = fmt::format("{}", fmt::join(models.models, " "));
  return settings;
}

int SuiteCommand::operator()() const {
  Interrupt interrupt;
  Registry registry = default_registry();
  share_programs(registry, note);
  const auto found = tasks.tasks();
  if (!found) return report(stderr, found.error());
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
  auto suite = std::make_shared<SuiteCommand>();
  CLI::App* command = app.add_subcommand("suite", "Search for faster kernels of many tasks");
  command->add_option("FOLDER", suite->tasks.folder, "The folder of the tasks")->required();
  suite->tasks.add_to(*command, "FOLDER.suite");
  command->add_option("--rounds", suite->rounds, "Evaluations for each task (default 40)")
      ->check(whole_number(1))
      ->type_name("N");
  std::vector<std::string> presets;
  for (const auto& [name, preset] : suite_presets()) presets.push_back(name);
  command
      ->add_option("--preset", suite->preset,
                   fmt::format("A published protocol: {}", fmt::join(presets, " or ")))
      ->check(CLI::IsMember(presets))
      ->type_name("NAME");
  command
      ->add_option(
          "--budget", suite->budget,
          "How rounds are shared out: equal, or adaptive: to the tasks that are expected to gain most")
      ->check(CLI::IsMember({"equal", "adaptive"}))
      ->type_name("NAME");
  suite->keys.add_to(*command, "--seed", "seed", "N");
  suite->keys.add_workers_to(*command);
  suite->keys.add_flag_to(*command, "--deterministic", "deterministic");
  command->add_flag(
      "--renew", suite->renew,
      "Search again the tasks that were changed since their search began; their former runs are kept");
  suite->models.add_to(*command);
  suite->config.add_to(*command);
  command->footer(kSuiteFooter);
  command->callback([suite, &chosen] {
    chosen = [suite] {
      if (suite->preset) suite->models.sampling = suite_presets().at(*suite->preset).sampling;
      return (*suite)();
    };
  });
}

}  // namespace kernelsmith::cli
