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
  std::string format = "jsonl";

  Status print(const RunView& view, std::ostream& stream) const {
    return format == "csv" ? export_table(view, stream) : export_run(view, stream);
  }

  Status write() const {
    const auto view = view_run(folder, default_registry());
    if (!view) return view.error();
    if (!out) {
      const Status written = print(*view, std::cout);
      return std::cout.fail() ? Status() : written;  // main() reports failed writes to standard output
    }
    auto file = OutFile::open(*out, folder);
    if (!file) return file.error();
    Status written = print(*view, file->stream());
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
      app, chosen, "export", "Print a run as JSON lines or as a table",
      "jsonl: programs, evaluations, lineage; every line is an object whose `type` says what it is. csv: a "
      "record for each\nprogram, with a column for each knob. docs/formats.md has both. python -m "
      "kernelsmith export knows trace, too.");
  command.add_option("RUN", command_state.folder, "The run folder")->required();
  command.add_option("--format", command_state.format, "jsonl (the default) or csv")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->type_name("NAME");
  add_value(command, "--out", command_state.out, "Write to this file instead of the standard output", "FILE");
}

}  // namespace kernelsmith::cli
