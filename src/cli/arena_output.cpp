#include "arena_output.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/chrono.h>

#include <kernelsmith/core/untrusted_files.hpp>

#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {

void ArenaOutput::add_to(CLI::App& command) {
  add_value(command, "--trace", trace,
            "Append the results to FILE as FlashInfer-Bench's traces, for a task of its (docs/arenas.md)",
            "FILE");
  command.add_flag("--sol-score", sol_score,
                   "Print SOL-ExecBench's score by our own roofline and the reference's time");
  add_value(command, "--bounds", bounds, "Print SOL-ExecBench's score by the bounds in FILE", "FILE");
}

Status ArenaOutput::write(const Task& task, const std::string& file, const Evaluation& evaluation) const {
  if (!trace) return {};
  const auto solution = published_solution(file);
  const TraceContext context{
      KERNELSMITH_VERSION,
      fmt::format("{:%FT%TZ}",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())))};
  const auto lines = trace_lines(
      task, solution ? solution->name : std::filesystem::path(file).stem().string(), evaluation, context);
  if (!lines) return lines.error();
  errno = 0;
  std::ofstream out(*trace, std::ios::binary | std::ios::app);
  out << *lines;
  out.close();
  return out ? Status() : system_error("the traces cannot be written", *trace, errno);
}

Status ArenaOutput::check(const Task& task) const {
  if (trace)
    if (const auto lines = trace_lines(task, "", Rejection{}, {}); !lines) return lines.error();
  if (bounds)
    if (const auto score = kernelsmith::sol_score(task, {}, bounds); !score) return score.error();
  return {};
}

std::optional<SolScore> ArenaOutput::score(const Task& task, const Evaluation& evaluation) const {
  if ((!sol_score && !bounds) || !evaluation.accepted()) return {};
  auto made = kernelsmith::sol_score(task, evaluation.report(), bounds);
  return made ? std::optional(std::move(*made)) : std::nullopt;
}

void ArenaOutput::print(const SolScore& score) const {
  const std::string whose =
      bounds ? "the bounds in " + *bounds : "our bounds: this GPU's memory speed, and the reference's time";
  if (score.of.empty()) return say("SOL score: {} name no workload of this task\n", whose);
  for (const auto& [shape, value] : score.of) say("  {:<28} SOL score {:.3f}\n", shape, value);
  say("SOL score {:.3f}, the mean of {}, by {}\n", score.mean, number_text(score.of.size(), "workload"),
      whose);
  if (score.without_bound > 0) say("{} without bounds\n", number_text(score.without_bound, "workload"));
}

}  // namespace kernelsmith::cli
