#include "suite_command.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <kernelsmith/core/digest.hpp>

#include "commands.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {

void TaskSetOptions::add_to(CLI::App& command, const std::string& default_out) {
  command
      .add_option("--levels", levels,
                  "Only tasks of these levels, such as 1,2 (0: tasks outside level folders)")
      ->delimiter(',')
      ->check(whole_number(0, 1'000'000))
      ->type_name("N,...")
      ->allow_extra_args(false);
  add_value(
      command, "--out", out,
      fmt::format("The folder for the results, which may hold earlier ones (default: {} here)", default_out),
      "FOLDER");
}

Result<std::vector<SuiteTask>> TaskSetOptions::tasks() const {
  return find_tasks(folder, {levels.begin(), levels.end()});
}

std::string TaskSetOptions::out_folder(const std::string& of, const std::string& suffix) const {
  if (out) return *out;
  std::error_code ignored;
  const auto whole = std::filesystem::canonical(of, ignored);
  return whole.filename().string() + suffix;
}

Result<std::map<std::string, std::string>> settings_of(const ConfigOptions& config) {
  std::map<std::string, std::string> settings;
  if (config.file) {
    const auto text = read_text_file(*config.file);
    if (!text) return text.error();
    settings["config"] = "sha256 " + digest_of(*text).hex().substr(0, 16);
  }
  for (const std::string& setting : config.settings) {
    std::string& all = settings["set"];
    all += (all.empty() ? "" : " ") + without_password(setting);
  }
  return settings;
}

Status try_out(const std::vector<SuiteTask>& tasks, const Registry& registry, SuiteHost& host,
               bool searches) {
  for (const SuiteTask& task : tasks) {
    const auto loaded = load_task_folder(task.path, registry.backends);
    if (!loaded) continue;
    const auto config = host.configure(loaded->task);
    if (!config) return config.error();
    if (!searches) return {};
    if (auto ok = check_budgets(*config); !ok) return ok;
    const auto proposer = config->proposer.provider->make(loaded->task, {});
    // A refusal is not an error here: this task may have nothing to vary while others have.
    return proposer || proposer.error().code == ErrorCode::refused ? Status() : Status(proposer.error());
  }
  return {};
}

void tell_begin(const SuiteTask& task, std::size_t number, std::size_t of) {
  say(stderr, "[{}/{}] {}\n", number, of, task.name);
}

void TaskEnds::tell(const TaskResult& result, bool named) {
  const std::string indent(8, ' '), begin = indent + (named ? result.name + ": " : "");
  if (result.error) {
    std::string text = describe(*result.error);
    if (text == std::exchange(last_error_, text)) return say(stderr, "{}the same error\n", begin);
    // The hint belongs to this task, and not to the command.
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1))
      text.insert(end + 1, indent);
    say(stderr, "{}error: {}\n", begin, text);
  } else if (result.speedup) {
    say(stderr, "{}{}\n", begin, text_of(*result.speedup));
  } else {
    say(stderr, "{}nothing was accepted: {}\n", begin,
        result.failure.empty() ? "no candidate" : result.failure);
  }
}

namespace {

/// Whether every task ended with an error, so that all figures would be zeros.
bool measured_nothing(const SuiteReport& report) {
  return !report.results.empty() && report.results.size() == report.tasks &&
         std::ranges::all_of(report.results,
                             [](const TaskResult& result) { return result.error.has_value(); });
}

/// Combines the errors of all tasks into one Error, which has the first task's message.
std::optional<Error> error_of(const SuiteReport& report) {
  const auto& results = report.results;
  const auto failed = [](const TaskResult& result) { return result.error.has_value(); };
  const auto first = std::ranges::find_if(results, failed);
  if (first == results.end()) return std::nullopt;
  Error error = *first->error;
  // All tasks are not at the first one's place, so it is named after that task.
  const std::string where = error.where.empty() ? "" : std::exchange(error.where, {}) + ": ";
  error.message = fmt::format("{}{} of {} ended with an error; {}: {}{}",
                              measured_nothing(report) ? "nothing was measured: " : "",
                              std::ranges::count_if(results, failed), number_text(report.tasks, "task"),
                              first->name, where, error.message);
  if (error.hint.empty()) error.hint = "the same command tries these tasks again";
  return error;
}

/// Prints where the results are, and returns the exit status.
int status_of(const SuiteReport& report, const std::string& out) {
  say("\nresults  {}\n", out);
  if (report.results.size() < report.tasks) {
    say(stderr, "stopped: the same command goes on\n");
    return kInterrupted;
  }
  if (const auto error = error_of(report)) return kernelsmith::report(stderr, *error);
  return kDone;
}

}  // namespace

int conclude(const Result<SuiteReport>& report, const std::string& out) {
  if (!report) return kernelsmith::report(stderr, report.error());
  if (!measured_nothing(*report)) say("{}", to_table(*report));
  return status_of(*report, out);
}

int conclude(const Result<SttsReport>& report, const std::string& out) {
  if (!report) return kernelsmith::report(stderr, report.error());
  say("{}", to_table(*report));
  return status_of(report->best, out);
}

}  // namespace kernelsmith::cli
