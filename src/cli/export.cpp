// kernelsmith export RUN
#include <iostream>
#include <string>

#include <fmt/format.h>

#include <kernelsmith/session/run_view.hpp>

#include "commands.hpp"
#include "out_file.hpp"
#include "run_options.hpp"

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
  const auto [command_state, command] = add_command<ExportCommand>(
      app, chosen, "export", "Print a run as JSON lines: programs, evaluations, lineage",
      "Every line is an object whose `type` says what it is; docs/formats.md is the schema.");
  command.add_option("RUN", command_state.folder, "The run folder")->required();
  add_value(command, "--out", command_state.out, "Write to this file instead of the standard output", "FILE");
}

}  // namespace kernelsmith::cli
