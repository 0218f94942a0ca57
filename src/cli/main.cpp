// The kernelsmith command.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/core/result.hpp>

#include "commands.hpp"
#include "json_text.hpp"
#include "run_options.hpp"

namespace kernelsmith::cli {
namespace {

using namespace std::string_view_literals;

constexpr const char* kCommandLineFooter = R"(A first search:
  kernelsmith init my_task            makes a task that works as it is
  kernelsmith run my_task --time 60s  searches for a minute and prints the best kernel

Exit status: 0 done or accepted, 1 rejected by the evaluator, 2 wrong use or bad input,
3 a broken machine or environment, 130 interrupted.)";

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

bool has_command(const CLI::App& app, const std::string& name) {
  const auto names = command_names(app);
  return std::ranges::find(names, name) != names.end();
}

/// The subcommand that was parsed, or `app` if there was none.
const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.front();
}

std::string hint_for(const std::string& name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  return name_hint(name, names);
}

/// The command as a user types it, such as "kernelsmith run".
std::string typed_name(const CLI::App& app) {
  return app.get_parent() ? app.get_parent()->get_name() + " " + app.get_name() : app.get_name();
}

/// The hint where the usage is described. The Python package also has a command `profile`.
std::string usage_hint(const CLI::App& place) {
  const std::string typed = typed_name(place);
  return typed + " --help says how it is used" +
         (place.get_name() == "profile" ? "; for a whole model: python -m kernelsmith profile MODEL --out DIR"
                                        : "");
}

/// The commands that only the Python package has (python/kernelsmith/_commands.py).
constexpr std::array kOfPython = {"agent"sv,      "apply"sv, "dataset"sv, "mcp"sv,
                                  "openevolve"sv, "plot"sv,  "publish"sv, "synthesize"sv};

Error unknown_command(const CLI::App& app, const std::string& word) {
  if (std::ranges::find(kOfPython, word) != kOfPython.end())
    return fail(ErrorCode::invalid_argument, "the command " + word + " belongs to the Python package", "",
                "python -m kernelsmith " + word + "; docs/python.md says how to install it");
  return fail(ErrorCode::invalid_argument, "unknown command " + word, "", hint_for(word, command_names(app)));
}

/// The Error for a word that no option or argument accepted.
Error unknown_word(const CLI::App& app, const std::string& word) {
  const CLI::App& place = innermost(app);
  const std::string name = word.substr(0, word.find('='));
  if (is_option(word) && name == "--proposer")
    return fail(
        ErrorCode::invalid_argument, "unknown option " + name, typed_name(place),
        "--model NAME asks a language model, --manual FOLDER asks people; --set proposer.kind=KIND chooses "
        "another proposer");
  if (is_option(word))
    return fail(ErrorCode::invalid_argument, "unknown option " + name, typed_name(place),
                place.get_name() == "profile" && name == "--out" ? usage_hint(place)
                                                                 : hint_for(name, option_names(place)));
  if (&place == &app) return unknown_command(app, word);
  return fail(ErrorCode::invalid_argument, "unexpected argument " + word, typed_name(place),
              usage_hint(place));
}

/// Whether the command needs a subcommand of its own, and none was named.
bool lacks_subcommand(const CLI::App& place) {
  return place.get_parent() && !place.get_subcommands({}).empty() && place.get_subcommands().empty();
}

Error missing_subcommand(const CLI::App& place) {
  std::string names;
  for (const std::string& name : command_names(place)) names += (names.empty() ? "" : ", ") + name;
  const std::string typed = typed_name(place);
  return fail(ErrorCode::invalid_argument, "name one of the subcommands: " + names, typed,
              typed + " --help says what each does");
}

/// The first word that nothing accepted. Options come before other words, because a word after an unknown
/// option is the value of that option.
std::string first_unknown(const CLI::App& app) {
  const auto left = app.remaining(true);
  for (const std::string& word : left)
    if (is_option(word)) return word;
  return left.empty() ? "" : left.front();
}

/// Implements `kernelsmith help COMMAND`. Prints `overview` if no command is named.
int help(const CLI::App& app, const std::string& name, const std::string& overview) {
  if (name.empty()) return std::fputs(overview.c_str(), stdout), kDone;
  if (name == "run.yaml") return std::fputs(settings_help().c_str(), stdout), kDone;
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == name) return std::fputs(command->help(app.get_name()).c_str(), stdout), kDone;
  return report(stderr, unknown_command(app, name));
}

void add_help(CLI::App& app, Command& chosen) {
  auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("help", "Print this help, the help of a command, or the keys of run.yaml");
  command->add_option("COMMAND", *name, "One of the commands, or run.yaml");
  const auto overview = std::make_shared<std::string>();
  command->callback([&app, &chosen, name, overview] {
    chosen = [&app, name, overview] { return help(app, *name, *overview); };
  });
  *overview = app.help();  // taken now: after parsing, this would be the help of the parsed command
}

/// Parses the words and runs the subcommand that they name; returns the exit status. Prints errors to stderr,
/// and suggests the nearest known name for an unknown one.
int run_command_line(int argc, char** argv) {
  CLI::App app(
      "Give it a kernel and a reference; it gives back a faster kernel, checked in every timed call.",
      "kernelsmith");
  Command chosen;
  app.set_version_flag("--version", "kernelsmith " KERNELSMITH_VERSION, "Print the version and exit");
  app.footer(kCommandLineFooter);
  app.require_subcommand(0, 1);
  for (auto add :
       {add_init,   add_doctor, add_evaluate, add_plan,   add_profile, add_verify, add_run,   add_resume,
        add_replay, add_show,   add_diff,     add_prompt, add_export,  add_memory, add_suite, add_score,
        add_stts,   add_serve,  add_report,   add_ui,     add_worker,  add_help})
    add(app, chosen);
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();

  JsonOption json;
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)))
    if (word == "--json" || word.starts_with("--json="))
      json.style = word == "--json=pretty" ? "pretty" : "line";
  if (const std::string first = argc > 1 ? argv[1] : "-"; !first.starts_with('-') && !has_command(app, first))
    return report(unknown_command(app, first), json);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& wrong) {
    // A wrong value may be the reason why a later word was not accepted.
    const bool bad_value = dynamic_cast<const CLI::ValidationError*>(&wrong) != nullptr;
    if (const std::string word = first_unknown(app); !word.empty() && !bad_value)
      return report(unknown_word(app, word), json);
    if (lacks_subcommand(innermost(app))) return report(missing_subcommand(innermost(app)), json);
    const CLI::App& place = innermost(app);
    return report(fail(ErrorCode::invalid_argument, wrong.what(), typed_name(place), usage_hint(place)),
                  json);
  }
  if (const std::string word = first_unknown(app); !word.empty())
    return report(unknown_word(app, word), json);
  if (!chosen) {
    std::fputs(app.help().c_str(), stderr);
    return kWrongUse;
  }
  return chosen();
}

/// Whether standard output is a pipe without a reader. A reader that ends early is not an error.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

}  // namespace
}  // namespace kernelsmith::cli

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);  // an API key may be in memory
  // A run must continue even if the reader of its output ends.
  std::signal(SIGPIPE, SIG_IGN);
  // If the parent ignored SIGCHLD, this process inherits that, and would not learn when its children end.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    const int status = kernelsmith::cli::run_command_line(argc, argv);
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (written || kernelsmith::cli::reader_is_gone()) return status;
    std::fputs("error: the standard output cannot be written (io)\n", stderr);
    return kernelsmith::cli::kBroken;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s (internal)\nhint: this is a defect of kernelsmith, please report it\n",
                 error.what());
    return kernelsmith::cli::kBroken;
  }
}
