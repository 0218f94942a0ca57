// kernelsmith export RUN
#include <iostream>
#include <string>

#include <fmt/format.h>

#include <kernelsmith/session/run_view.hpp>

#include "commands.hpp"
#include "out_file.hpp"

namespace kernelsmith::cli {
namespace {

struct ExportCommand {
  std::string folder;
  std::optional<std::string> out;

  Status write() const {
    const auto view = view_run(folder, default_registry());
    if (!view) return view.error();
    if (!out) {
      const Status written = export_run(*view, std::cout);
      return std::cout.fail() ? Status() : written;  // main() reports failed writes to standard output
    }
    auto file = OutFile::open(*out, folder);
    if (!file) return file.error();
    Status written = export_run(*view, file->stream());
    if (!written && written.error().code != ErrorCode::io) return written;
    return file->finish();
  }

  int operator()() const {
    if (const Status written = write(); !written) return report(stderr, written.error());
    return kDone;
  }
};

}  // namespace

void add_export(CLI::App& app, Command& chosen) {
  auto command_state = std::make_shared<ExportCommand>();
  CLI::App* command =
      app.add_subcommand("export", "Print a run as JSON lines: programs, evaluations, lineage");
  command->add_option("RUN", command_state->folder, "The run folder")->required();
  command->add_option("--out", command_state->out, "Write to this file instead of the standard output")
      ->type_name("FILE");
  command->footer("Every line is an object whose `type` says what it is; docs/formats.md is the schema.");
  command->callback([command_state, &chosen] { chosen = [command_state] { return (*command_state)(); }; });
}

}  // namespace kernelsmith::cli
