// kernelsmith diff RUN A B
#include <cstdint>
#include <cstdio>
#include <string>

#include <kernelsmith/session/program_diff.hpp>
#include <kernelsmith/session/registry.hpp>

#include "commands.hpp"
#include "json_text.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kDiffFooter =
    R"(Prints how program B differs from program A of a run, from the data that the run holds: text by EVOLVE-BLOCK, kernels
with their grids, registers, shared memory and spills, the plan of a call, knobs, features, and times by shape. The two
programs were not timed side by side: each was timed beside the yardstick. So a ratio compares their speeds over the
yardstick, and its interval combines both intervals. `show` and `export` print the numbers of programs. docs/formats.md
is the schema of --json.)";

std::string verdict_text(const Individual& one) {
  const std::string who = fmt::format("program {} ({})", one.program->id.value, name_of(one.program->origin));
  const Rejection* const rejection = one.evaluation.rejection();
  if (rejection) return fmt::format("{}: rejected, {}", who, name_of(rejection->code));
  return fmt::format("{}: {}", who, score_text(one.evaluation));
}

void print_times(const ProgramDiff& diff) {
  if (diff.shapes.empty()) return;
  say("\ntimes of a call (A, B), and the ratio of B's speed to A's, both over the yardstick\n");
  for (const ShapeTimes& times : diff.shapes) {
    const auto ratio = times.ratio();
    say("  {:<28} {:>24} {:>24}  {}\n", times.shape, times.a ? text_of(*times.a) : "-",
        times.b ? text_of(*times.b) : "-", ratio ? text_of(*ratio) : "");
  }
}

void print_features(const ProgramDiff& diff) {
  if (!diff.knobs.empty()) say("\nknobs that differ (A, B)\n");
  for (const auto& [name, values] : diff.knobs)
    say("  {:<28} {:>10} {:>10}\n", name, values.first.value_or("-"), values.second.value_or("-"));
  if (!diff.features.empty()) say("\nfeatures that differ (A, B)\n");
  const auto shown = [](const std::optional<double>& value) { return value ? short_number(*value) : "-"; };
  for (const auto& [name, values] : diff.features)
    say("  {:<28} {:>10} {:>10}\n", name, shown(values.first), shown(values.second));
}

void print_kernels(const ProgramDiff& diff) {
  if (diff.kernels.empty()) return;
  say("\nkernels\n");
  for (const KernelDiff& kernel : diff.kernels) {
    const char* const what = kernel.a.empty() ? " (added)" : kernel.b.empty() ? " (removed)" : "";
    say("  {}{}\n", kernel.kernel, what);
    for (const std::string& line : kernel.a) say("    - {}\n", line);
    for (const std::string& line : kernel.b) say("    + {}\n", line);
  }
}

void print(const ProgramDiff& diff) {
  say("A: {}\nB: {}\n", verdict_text(*diff.a), verdict_text(*diff.b));
  if (diff.gain) say("B is {} as fast as A, from both speeds over the yardstick\n", text_of(*diff.gain));
  print_times(diff);
  print_features(diff);
  print_kernels(diff);
  if (!diff.plan.empty()) say("\nplan of a call\n{}", diff.plan);
  if (diff.source.empty()) say("\nthe texts are equal\n");
  for (const BlockDiff& block : diff.source) {
    if (block.block > 0)
      say("\nblock {} of {}\n{}", block.block, block.file, block.diff);
    else
      say("\nsource\n{}", block.diff);
  }
  for (const std::string& what : diff.missing) say("missing: {}\n", what);
}

struct DiffCommand {
  std::string folder;
  std::uint64_t a = 0, b = 0;
  JsonOption json;

  int operator()() const {
    const auto view = view_run(folder, default_registry());
    if (!view) return report(view.error(), json);
    const auto diff = diff_programs(*view, ProgramId{a}, ProgramId{b});
    if (!diff) return report(diff.error(), json);
    if (json)
      std::fputs(json_of_object(diff_json(*diff), json).c_str(), stdout);
    else
      print(*diff);
    return kDone;
  }
};

}  // namespace

void add_diff(CLI::App& app, Command& chosen) {
  const auto [diff, command] =
      add_command<DiffCommand>(app, chosen, "diff", "Show how two programs of a run differ", kDiffFooter);
  command.add_option("RUN", diff.folder, "The run folder; another process may be writing it")->required();
  command.add_option("A", diff.a, "A program's number")->required()->check(whole_number(0));
  command.add_option("B", diff.b, "Another program's number")->required()->check(whole_number(0));
  diff.json.add_to(command);
}

}  // namespace kernelsmith::cli
