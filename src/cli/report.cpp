// kernelsmith report RUN
#include <cstdio>
#include <filesystem>

#include <kernelsmith/service/ui.hpp>
#include <kernelsmith/session/run_view.hpp>

#include "commands.hpp"
#include "json_text.hpp"
#include "out_file.hpp"
#include "run_options.hpp"
#include "say.hpp"

namespace kernelsmith::cli {
namespace {

struct ReportCommand {
  std::string folder, out;
  JsonOption json;

  /// The report's file: by default a file in the current folder, named after the run, such as
  /// "hill.run.html".
  std::string file() const {
    if (!out.empty()) return out;
    const auto path = std::filesystem::path(folder).lexically_normal();
    return (path.has_filename() ? path : path.parent_path()).filename().string() + ".html";
  }

  Status write() const {
    const auto view = view_run(folder, default_registry());
    if (!view) return view.error();
    const auto page = ui::report_page(*view);
    if (!page) return page.error();
    auto written = OutFile::open(file(), folder);
    if (!written) return written.error();
    written->stream() << *page;
    return written->finish();
  }

  int operator()() const {
    if (const Status written = write(); !written) return report(written.error(), json);
    if (json)
      std::fputs(json_of_file(file(), json).c_str(), stdout);
    else
      say("the report is in {}\n", file());
    return kDone;
  }
};

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  const auto [options, command] = add_command<ReportCommand>(
      app, chosen, "report",
      "Write a run as one HTML file: what was found, pictures, the best program, what was rejected",
      "The file is the page of `kernelsmith ui` together with the run. It loads no other files, so a browser "
      "can open it from a disk.");
  command.add_option("RUN", options.folder, "The run folder, which another process may be writing")
      ->required();
  add_value(command, "-o,--out", options.out, "Write to this file, which is replaced if it exists [RUN.html]",
            "FILE.html");
  options.json.add_to(command);
}

}  // namespace kernelsmith::cli
