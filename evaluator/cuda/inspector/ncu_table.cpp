#include "inspector/ncu_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::cuda {

std::vector<std::string> table_fields(std::string_view line) {
  std::vector<std::string> fields;
  bool quoted = false;
  fields.emplace_back();
  for (const char letter : line) {
    if (letter == '"')
      quoted = !quoted;
    else if (letter == ',' && !quoted)
      fields.emplace_back();
    else if (letter != '\r')
      fields.back() += letter;
  }
  return fields;
}

std::optional<double> table_number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string_view> table_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string words_of_ncu(std::string_view log) {
  std::string words;
  for (const std::string_view line : table_lines(log))
    if (line.starts_with("==ERROR==")) words += (words.empty() ? "" : " ") + escape_controls(line.substr(9));
  const auto begin = words.find_first_not_of(' ');
  return begin == std::string::npos ? "its log holds no table" : words.substr(begin);
}

Result<std::vector<LaunchCounters>> counters_in(std::string_view log) {
  std::vector<std::string> header;
  std::vector<LaunchCounters> launches;
  for (const std::string_view line : table_lines(log)) {
    if (!line.starts_with('"')) continue;
    std::vector<std::string> fields = table_fields(line);
    if (header.empty()) {
      header = std::move(fields);
      continue;
    }
    LaunchCounters launch;
    for (std::size_t i = 0; i < std::min(fields.size(), header.size()); ++i) {
      if (header[i] == "Kernel Name")
        launch.kernel = escape_controls(fields[i]);
      else if (header[i].find("__") == std::string::npos)
        continue;
      else if (const auto value = table_number(fields[i]))
        launch.values[header[i]] = *value;
    }
    if (!launch.kernel.empty()) launches.push_back(std::move(launch));  // the line of units has no name
  }
  if (launches.empty()) return fail(ErrorCode::bad_input, words_of_ncu(log));
  return launches;
}

}  // namespace kernelsmith::cuda
