// kernelsmith stts TASK|FOLDER
#include <filesystem>

#include <fmt/format.h>

#include <kernelsmith/session/share_programs.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "say.hpp"
#include "suite_command.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kSttsFooter =
    R"(Test-time scaling as in Dr. Kernel (arXiv 2602.05885): the first turns are one conversation; every later turn is shown
the first messages and the best turns before it. TASK is a task folder or a KernelBench problem; FOLDER holds
several tasks. --window consecutive keeps the neighbouring turns with the largest sum of rewards, as KernelGYM's code
does; --window top keeps the turns with the largest rewards, as in the paper. Both count speedups above the reward's
cap of 3, too.
Each trajectory has a journal in DIR/trajectories. After Ctrl-C, a kill or an error the same command continues, and asks
for no reply twice. A larger --turns or --samples goes on from a finished folder.
Exit status: 0 every trajectory is complete, 130 interrupted, else the status of the first error.
docs/stts.md explains the figures and the files.)";

/// Prints the client's notices during calls.
class Notices final : public Observer {
 public:
  void on_event(const Event&) override {}
  void on_notice(const Notice& notice) override { note(notice.message); }
};

std::string outcome_of(const SttsTurn& turn) {
  if (!turn.evaluation) return fmt::format("no program ({})", name_of(turn.proposal.refusal()->code));
  if (const Rejection* rejection = turn.evaluation->rejection())
    return fmt::format("{}: {}", name_of(rejection->stage), name_of(rejection->code));
  return score_text(*turn.evaluation);
}

struct SttsCommand {
  TaskSetOptions tasks;
  SttsPlan plan;
  std::string window = "consecutive";
  std::size_t samples = SttsOptions{}.samples, workers = SttsOptions{}.workers;
  ModelOptions models;
  ConfigOptions config;

  Result<std::vector<SuiteTask>> find() const;
  Result<std::shared_ptr<ChatModel>> model(const std::vector<SuiteTask>& found,
                                           const Registry& registry) const;
  Result<SttsOptions> options() const;
  int operator()() const;
};

class CommandHost final : public SttsHost {
 public:
  CommandHost(const SttsCommand& command, const Registry& registry)
      : command_(command), registry_(registry) {}

  Result<RunConfig> configure(const Task& task) override {
    return command_.config.configure(task, registry_, command_.models);
  }

  void turn(const std::string& trajectory, std::size_t number, const SttsTurn& turn) override {
    say(stderr, "{} {}/{}  {}, reward {}\n", trajectory, number, command_.plan.turns, outcome_of(turn),
        short_number(turn.reward));
  }

  void end(const TaskResult& best) override {
    say(stderr, "{} {}\n", best.name, best.error ? "stopped" : "is complete; its best turn:");
    ends_.tell(best);
  }

 private:
  const SttsCommand& command_;
  const Registry& registry_;
  TaskEnds ends_;
};

/// The tasks of the given folder, or only the given task.
Result<std::vector<SuiteTask>> SttsCommand::find() const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path path = tasks.folder;
  if (!fs::is_regular_file(path, ignored) && !fs::exists(path / "task.yaml", ignored)) return tasks.tasks();
  fs::path whole = fs::canonical(path, ignored);
  if (whole.filename() == "task.yaml") whole = whole.parent_path();
  return std::vector{SuiteTask{whole.filename().string(), 0, path}};
}

/// Makes the model from the configuration of the first loadable task, because all tasks use the same model.
Result<std::shared_ptr<ChatModel>> SttsCommand::model(const std::vector<SuiteTask>& found,
                                                      const Registry& registry) const {
  std::optional<Error> first;
  for (const SuiteTask& task : found) {
    const auto loaded = load_task_folder(task.path, registry.backends);
    if (!loaded) {
      if (!first) first = loaded.error();
      continue;
    }
    const auto run = config.configure(loaded->task, registry, models);
    if (!run) return run.error();
    ProposerProvider& provider = *run->proposer.provider;
    provider.context.observer = std::make_shared<Notices>();
    auto model = provider.chat_model();
    if (const std::string whom = provider.outlook().destination; model && !whom.empty())
      say(stderr, "{}\n", whom);
    return model;
  }
  return *first;
}

/// The options of the trajectories. Its settings omit the server and the parallelism, which may change.
Result<SttsOptions> SttsCommand::options() const {
  auto settings = settings_of(config);
  if (!settings) return settings.error();
  std::error_code ignored;
  (*settings)["tasks"] = std::filesystem::canonical(tasks.folder, ignored).filename().string();
  (*settings)["turns"] = fmt::format("{}", plan.turns);
  (*settings)["first"] = fmt::format("{}", plan.first);
  (*settings)["keep"] = fmt::format("{}", plan.keep);
  (*settings)["window"] = window;
  if (!models.models.empty()) (*settings)["model"] = fmt::format("{}", fmt::join(models.models, " "));
  if (const auto& value = models.sampling.temperature) (*settings)["temperature"] = fmt::format("{}", *value);
  if (const auto& value = models.sampling.top_p) (*settings)["top_p"] = fmt::format("{}", *value);
  if (const auto& value = models.sampling.most_reply_tokens)
    (*settings)["max_output_tokens"] = fmt::format("{}", *value);
  SttsOptions options{tasks.out_folder(tasks.folder, ".stts"), std::move(*settings), plan, samples, workers};
  options.plan.window = *stts_window_from(window);
  return options;
}

int SttsCommand::operator()() const {
  Interrupt interrupt;
  Registry registry = default_registry();
  share_programs(registry, note);
  const auto found = find();
  if (!found) return report(stderr, found.error());
  const auto shared = options();
  if (!shared) return report(stderr, shared.error());
  if (const Status checked = check_plan(shared->plan); !checked) return report(stderr, checked.error());
  const auto asked = model(*found, registry);
  if (!asked) return report(stderr, asked.error());
  say(stderr, "{}, {} each of {} turns, results in {}\n", number_text(found->size(), "task"),
      number_text(samples, "sample"), plan.turns, shared->out.string());
  CommandHost host(*this, registry);
  return conclude(run_stts(*found, *shared, registry, *asked, host, interrupt.token()), shared->out.string());
}

void add_plan_options(CLI::App& command, SttsCommand& stts) {
  const auto count = [&](const char* name, std::size_t& value, const std::string& help) {
    command.add_option(name, value, fmt::format("{} (default {})", help, value))
        ->check(whole_number(1, 1'000'000))
        ->type_name("N");
  };
  count("--turns", stts.plan.turns, "All turns of a trajectory");
  count("--first", stts.plan.first, "Turns of the first conversation");
  count("--keep", stts.plan.keep, "Turns that every later prompt shows");
  command.add_option("--window", stts.window, "Which turns are kept: consecutive (default) or top")
      ->check(CLI::IsMember({"consecutive", "top"}))
      ->type_name("NAME");
  count("--samples", stts.samples, "Independent trajectories of each task");
  count("--workers", stts.workers, "The most trajectories at a time");
}

void add_sampling_options(CLI::App& command, Sampling& sampling) {
  add_value(command, "--temperature", sampling.temperature, "The model's temperature (default: the server's)",
            "X");
  add_value(command, "--top-p", sampling.top_p, "The model's top_p (default: the server's)", "X");
  command
      .add_option("--max-output-tokens", sampling.most_reply_tokens,
                  "The most tokens of a reply (default: the server's)")
      ->check(whole_number(1))
      ->type_name("N");
}

}  // namespace

void add_stts(CLI::App& app, Command& chosen) {
  const auto [stts, command] = add_command<SttsCommand>(
      app, chosen, "stts",
      "Let a model work on tasks in several turns, and show it its best turns (test-time scaling)",
      kSttsFooter);
  command.add_option("TASK", stts.tasks.folder, "A task, or a folder of tasks")->required();
  stts.tasks.add_to(command, "TASK.stts");
  add_plan_options(command, stts);
  stts.models.add_server_to(command);
  add_sampling_options(command, stts.models.sampling);
  stts.config.add_to(command);
}

}  // namespace kernelsmith::cli
