// The subcommands. Each add_ function declares its options on `app` and, when its subcommand is on the
// command line, sets `chosen` to a function that does the work and returns the exit status.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace kernelsmith::cli {

/// Exit statuses of commands that end without an Error; core's report() gives the statuses of Errors.
inline constexpr int kDone = 0, kRejected = 1, kWrongUse = 2, kBroken = 3, kInterrupted = 130;

using Command = std::function<int()>;

/// A subcommand, and the object that holds the values of its options.
template <class C>
struct Added {
  C& state;
  CLI::App& command;
};

/// Adds a subcommand. A call of `C`, without arguments, does its work and returns the exit status.
template <class C>
Added<C> add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& what,
                     const std::string& footer = "") {
  const auto state = std::make_shared<C>();
  CLI::App* const command = app.add_subcommand(name, what);
  command->footer(footer);
  command->callback([state, &chosen] { chosen = [state] { return (*state)(); }; });
  return {*state, *command};
}

void add_init(CLI::App& app, Command& chosen);
void add_doctor(CLI::App& app, Command& chosen);
void add_evaluate(CLI::App& app, Command& chosen);
void add_plan(CLI::App& app, Command& chosen);
void add_profile(CLI::App& app, Command& chosen);
void add_verify(CLI::App& app, Command& chosen);
void add_run(CLI::App& app, Command& chosen);
void add_resume(CLI::App& app, Command& chosen);
void add_replay(CLI::App& app, Command& chosen);
void add_show(CLI::App& app, Command& chosen);
void add_diff(CLI::App& app, Command& chosen);
void add_prompt(CLI::App& app, Command& chosen);
void add_export(CLI::App& app, Command& chosen);
void add_memory(CLI::App& app, Command& chosen);
void add_suite(CLI::App& app, Command& chosen);
void add_score(CLI::App& app, Command& chosen);
void add_stts(CLI::App& app, Command& chosen);
void add_worker(CLI::App& app, Command& chosen);
void add_serve(CLI::App& app, Command& chosen);
void add_report(CLI::App& app, Command& chosen);
void add_ui(CLI::App& app, Command& chosen);

}  // namespace kernelsmith::cli
