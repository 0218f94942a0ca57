#include "inspector/sanitizer.hpp"

#include <algorithm>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::cuda {
namespace {

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kMostBytes = 2000;
/// Lines about the tool itself and about the end of the program.
constexpr std::array<std::string_view, 6> kFrame = {"COMPUTE-SANITIZER",
                                                    "SUMMARY",
                                                    "process didn't terminate",
                                                    "Target application",
                                                    "The application may have hit",
                                                    "more errors"};

}  // namespace

Tool sanitizer(const std::filesystem::path& program, std::string_view which,
               const std::filesystem::path& log) {
  Tool tool{program,
            {"--tool", std::string(which), "--log-file", log.string(), "--error-exitcode", "77",
             "--print-limit", "3", "--show-backtrace", "no"}};
  // Our own calls are not the candidate's, and merely possible hazards are not findings. Without padding a
  // write past an allocation may hit the next one.
  if (which == "memcheck")
    tool.arguments.insert(tool.arguments.end(), {"--report-api-errors", "no", "--padding", "4096"});
  if (which == "racecheck")
    tool.arguments.insert(tool.arguments.end(), {"--racecheck-detect-level", "error"});
  return tool;
}

std::string findings_in(std::string_view log) {
  std::string findings;
  while (!log.empty() && findings.size() < kMostBytes) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (!line.starts_with(kPrefix)) continue;
    line.remove_prefix(kPrefix.size());
    const auto first = line.find_first_not_of(' ');
    if (first == line.npos) continue;
    const bool frame =
        std::ranges::any_of(kFrame, [&](std::string_view words) { return line.find(words) != line.npos; });
    if (!frame) findings += escape_controls(line.substr(first)) + "\n";
  }
  return findings;
}

}  // namespace kernelsmith::cuda
