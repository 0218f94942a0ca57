// kernelsmith prompt TASK|RUN
#include <cstdint>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/session.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "run_options.hpp"
#include "say.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kPromptFooter =
    R"(Nothing is sent, and no key is needed. For a TASK with a seed the seed is evaluated first, because the prompt shows
its metrics. For a RUN the prompt is that of its next proposal, with the run's own set, templates and token budget.
The standard output gets the messages as they would be sent, each after a line with its role. The standard error gets
the estimate, and the parts that were left out to keep the budget.
docs/prompts.md says how to replace the texts.)";

constexpr Operator kOperators[] = {Operator::translate, Operator::edit, Operator::rewrite,
                                   Operator::crossover, Operator::repair};

Result<Operator> operator_named(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Operator op : kOperators) {
    if (name_of(op) == name) return op;
    names.push_back(name_of(op));
  }
  return fail(ErrorCode::invalid_argument, "no operator with a prompt is called " + name, "--operator",
              name_hint(name, names));
}

/// The token estimate and the omitted parts as text for people.
std::string summary(const Prompt& prompt, std::size_t budget) {
  std::string text = fmt::format("about {} tokens", prompt.tokens);
  if (budget > 0) text += fmt::format(" of {}", budget);
  text += "\n";
  for (const Dropped& part : prompt.dropped)
    text += fmt::format("left out: {} (about {} tokens)\n", part.what, part.tokens);
  if (budget > 0 && prompt.tokens > budget)
    text += "nothing more can be left out: a larger --budget is needed\n";
  return text;
}

/// Prints the messages as they are sent. On a terminal, escapes control characters, because programs in a
/// prompt must not control the terminal.
void print(const std::string& messages) {
  if (isatty(STDOUT_FILENO) == 1)
    put(stdout, messages);
  else
    std::fwrite(messages.data(), 1, messages.size(), stdout);
}

struct PromptCommand {
  std::string path;
  PromptChanges changes;
  std::optional<std::string> op;
  ConfigOptions config;  ///< only its file is used
  std::optional<std::uint64_t> ticket;
  JsonOption json;

  Result<PromptPreview> repeated(const Registry& registry) const {
    auto repeat = repeat_prompt(path, {*ticket}, registry);
    if (!repeat) return repeat.error();
    if (!repeat->is_the_same())
      return fail(ErrorCode::version,
                  "this run's templates, machine or run.yaml differ from those when ticket " +
                      std::to_string(*ticket) + " was asked for, so its prompt cannot be made again",
                  path,
                  "its digest was " + repeat->sent.hex() +
                      "; use the version of kernelsmith, the templates and the machine of the run; "
                      "`run --for-training` keeps the prompts themselves");
    return std::move(repeat->preview);
  }

  Result<PromptPreview> preview(std::optional<Operator> chosen) const {
    const Registry registry = default_registry();
    std::error_code ignored;
    const bool is_run = std::filesystem::exists(std::filesystem::path(path) / "run.yaml", ignored);
    if (ticket && !is_run)
      return fail(ErrorCode::invalid_argument, "only a run has tickets", "--ticket", "name a run folder");
    if (ticket) return repeated(registry);
    if (is_run) return preview_run_prompt(path, changes, chosen, registry);
    Interrupt interrupt;
    const auto task = load_task_folder(path, registry.backends);
    if (!task) return task.error();
    const auto run = config.configure(task->task, registry);
    if (!run) return run.error();
    return preview_task_prompt(task->task, *run, changes, chosen, interrupt.token());
  }

  int operator()() const {
    std::optional<Operator> chosen;
    if (op) {
      const auto named = operator_named(*op);
      if (!named) return report(named.error(), json);
      chosen = *named;
    }
    const auto shown = preview(chosen);
    if (!shown) return report(shown.error(), json);
    for (const std::string& unused : shown->unused) say(stderr, "warning: {}\n", unused);
    if (json) {
      std::fputs(json_of(*shown, json).c_str(), stdout);
      return kDone;
    }
    print("--- system\n" + shown->prompt.system + "--- user\n" + shown->prompt.user);
    say(stderr, "{}: {}", shown->prompt.set, summary(shown->prompt, shown->budget_tokens));
    return kDone;
  }
};

}  // namespace

void add_prompt(CLI::App& app, Command& chosen) {
  const auto [prompt, command] = add_command<PromptCommand>(
      app, chosen, "prompt", "Print the prompt that a model would get, with its token estimate",
      kPromptFooter);
  command.add_option("TASK|RUN", prompt.path, "The task's folder or a run folder")->required();
  add_value(command, "--set", prompt.changes.set,
            "The prompt set: kernel-smith, relaxed, or a set of your own (default: the run's)", "NAME");
  add_value(command, "--operator", prompt.op,
            "translate, edit, rewrite, crossover or repair (default: the next operator)", "NAME");
  command
      .add_option("--budget", prompt.changes.budget_tokens,
                  "The most tokens of the prompt; 0 is no limit (default: the run's, or 24000)")
      ->check(whole_number(0))
      ->type_name("TOKENS");
  command
      .add_option("--prompts", prompt.changes.folder,
                  "A folder with templates of your own, SET/NAME.mustache")
      ->type_name("FOLDER");
  add_value(command, "--config", prompt.config.file,
            "A run.yaml, which configures the seed's evaluation and the prompts", "FILE");
  command
      .add_option(
          "--ticket", prompt.ticket,
          "Make the prompt of this ticket of a RUN again; fails if the result differs from what was sent")
      ->check(whole_number(0))
      ->type_name("N")
      ->excludes("--set", "--operator", "--budget", "--prompts", "--config");
  prompt.json.add_to(command);
}

}  // namespace kernelsmith::cli
