#include "inspector/source_lines.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include <kernelsmith/core/escape.hpp>

#include "inspector/bare_name.hpp"
#include "inspector/ncu_table.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr std::size_t kMostLines = 20, kLongestText = 120;

/// The columns that are read from a table of lines.
struct LineColumns {
  std::size_t line = 0, text = 0, samples = 0;
};

/// Column names of ncu 2025.3 (CUDA 13.0) and of older versions. Rows without a line number are instructions.
std::optional<LineColumns> columns_of(const std::vector<std::string>& header) {
  const auto find = [&](auto fits) {
    return static_cast<std::size_t>(std::ranges::find_if(header, fits) - header.begin());
  };
  LineColumns columns;
  columns.line =
      find([](const std::string& name) { return name == "#" || name == "Line No" || name == "Line"; });
  columns.text = find([](const std::string& name) { return name == "Source"; });
  columns.samples = find([](const std::string& name) {
    return name == "# Samples" || name.starts_with("Warp Stall Sampling (All") ||
           name.starts_with("Sampling Data (All");
  });
  if (std::max({columns.line, columns.text, columns.samples}) >= header.size()) return std::nullopt;
  return columns;
}

std::string shown_text(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  std::string shown = escape_controls(text.substr(begin, kLongestText));
  std::ranges::replace(shown, '\n', ' ');
  return shown;
}

/// Converts samples to shares and keeps only the hottest lines.
void settle(LaunchLines& launch) {
  double all = 0;
  for (const HotLine& line : launch.lines) all += line.share;
  for (HotLine& line : launch.lines) line.share /= all;
  std::ranges::stable_sort(launch.lines, std::greater(), &HotLine::share);
  if (launch.lines.size() > kMostLines) launch.lines.resize(kMostLines);
}

std::string file_name(const std::string& path) {
  return escape_controls(std::filesystem::path(path).filename().string());
}

}  // namespace

Tool line_profiler(const std::filesystem::path& program, const std::filesystem::path& sources,
                   const std::filesystem::path& log) {
  return {program,
          {"--csv", "--page", "source", "--print-source", "cuda,sass", "--section", "SourceCounters",
           "--import-source", "on", "--source-folders", sources.string(), "--log-file", log.string()}};
}

std::vector<LaunchLines> lines_in(std::string_view log) {
  std::vector<LaunchLines> launches;
  std::optional<LineColumns> columns;
  std::string file;
  std::set<std::string> files;  // the latest launch's
  for (const std::string_view line : table_lines(log)) {
    if (!line.starts_with('"')) continue;
    const std::vector<std::string> fields = table_fields(line);
    if (fields.size() == 2 && fields[0] == "File Path") {
      file = file_name(fields[1]);
      columns.reset();
    } else if (fields.size() == 2 && fields[0] == "Function Name") {
      const std::string kernel = escape_controls(fields[1]);
      if (launches.empty() || launches.back().kernel != kernel || files.contains(file)) {
        launches.push_back({kernel, {}});
        files.clear();
      }
      files.insert(file);
      columns.reset();
    } else if (auto found = columns_of(fields)) {
      columns = found;
    } else if (columns && fields.size() > std::max({columns->line, columns->text, columns->samples})) {
      const auto number = table_number(fields[columns->line]),
                 samples = table_number(fields[columns->samples]);
      constexpr double kMostLine = 1e9;
      if (!number || !samples || *number < 1 || *number > kMostLine || *samples <= 0) continue;
      if (launches.empty()) continue;
      launches.back().lines.push_back(
          {file, static_cast<std::uint64_t>(*number), shown_text(fields[columns->text]), *samples});
    }
  }
  std::erase_if(launches, [](const LaunchLines& launch) { return launch.lines.empty(); });
  for (LaunchLines& launch : launches) settle(launch);
  return launches;
}

void add_lines(const std::vector<LaunchLines>& sampled, std::vector<LaunchProfile>& launches) {
  std::vector<bool> taken(sampled.size());
  for (LaunchProfile& launch : launches) {
    if (!launch.counts) continue;
    for (std::size_t i = 0; i < sampled.size(); ++i) {
      if (taken[i] || bare_name(sampled[i].kernel) != bare_name(launch.kernel)) continue;
      taken[i] = true;
      launch.counts->lines = sampled[i].lines;
      break;
    }
  }
}

}  // namespace kernelsmith::cuda
