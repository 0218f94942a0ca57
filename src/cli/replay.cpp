// kernelsmith replay RUN
#include <filesystem>

#include "commands.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "search_command.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kReplayFooter =
    R"(Every run can be replayed, because every run records its replies. No model is asked, and no key is needed. With
--keep-evaluations nothing is compiled or timed either, and the archive is the same, byte for byte. Without
--keep-evaluations every candidate is measured again, and the search follows the recording until a measurement changes
its course; from there each ticket still gets the answer that was recorded for it. A ticket without a recorded answer
gets a refusal, or with --live an answer of the run's own proposer.)";

struct ReplayCommand {
  std::string folder;
  std::optional<std::string> out;
  KeyOptions keys;
  bool keep_evaluations = false;
  bool live = false;
  ConfigOptions settings;

  Status configure(const Registry& registry, RunConfig& config) const;
  int operator()() const;
};

Status ReplayCommand::configure(const Registry& registry, RunConfig& config) const {
  YamlWriter out_yaml;
  out_yaml.map("proposer", [&](YamlWriter& map) {
    map.put("kind", "recording");
    map.put("run", std::filesystem::absolute(folder).lexically_normal().string());
    map.put("evaluations", keep_evaluations ? "kept" : "measured");
    map.put("live", live);
  });
  // Changing the proposer sets new operators, but a replay keeps those of the recorded run.
  const auto operators = config.operators;
  if (Status read = read_config(out_yaml.finish(), folder, registry, config); !read) return read;
  config.operators = operators;
  if (Status set = settings.apply_settings(registry, config); !set) return set;
  return keys.apply(registry, config);
}

int ReplayCommand::operator()() const {
  Interrupt interrupt;
  const Registry registry = default_registry();
  auto stored = load_stored_run(folder, registry);
  if (!stored) return report(stderr, stored.error());
  if (const Status configured = configure(registry, stored->config); !configured)
    return report(stderr, configured.error());
  const auto fresh = NewFolder::claim(out, stored->task.task.name);
  if (!fresh) return report(stderr, fresh.error());
  say(stderr, "recording {}, run folder {}; preparing\n", folder, fresh->path());
  const auto progress = std::make_shared<Progress>();
  auto session =
      Session::create(stored->task, fresh->path(), std::move(stored->config), progress, interrupt.token());
  if (!session) return report(stderr, session.error());
  return search(*session, *progress, interrupt);
}

}  // namespace

void add_replay(CLI::App& app, Command& chosen) {
  const auto [replay, command] = add_command<ReplayCommand>(
      app, chosen, "replay", "Repeat a run from its recorded replies, without a model", kReplayFooter);
  command.add_option("RUN", replay.folder, "The run folder to repeat")->required();
  add_value(command, "--out", replay.out,
            "The run folder to make (default: NAME-1.run, NAME-2.run, ... here)", "NEW");
  command.add_flag("--keep-evaluations", replay.keep_evaluations,
                   "Keep the recorded evaluations, and measure nothing");
  command.add_flag("--live", replay.live, "Go on with the run's own proposer where the recording ends");
  replay.keys.add_workers_to(command);
  replay.settings.add_settings_to(command);
}

}  // namespace kernelsmith::cli
