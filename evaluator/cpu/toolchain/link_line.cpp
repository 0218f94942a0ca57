#include "toolchain/link_line.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace kernelsmith::cpu {
namespace {

/// Splits at blanks; words may be quoted, with backslashes before quotes and backslashes.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      quoted = !quoted;
      if (!std::exchange(open, true)) words.emplace_back();
    } else if (line[i] == ' ' && !quoted) {
      open = false;
    } else {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      if (!std::exchange(open, true)) words.emplace_back();
      words.back() += line[i];
    }
  }
  return words;
}

/// The last line that runs a program whose name ends with `program`.
std::string_view line_running(std::string_view output, std::string_view program) {
  std::string_view found;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    const std::size_t first_end = line.find(' ', 1);
    if (line.starts_with(' ') && first_end != line.npos && line.substr(0, first_end).ends_with(program))
      found = line;
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return found;
}

bool needs_the_wrapper(const std::string& word) {
  return word.starts_with("-flto") || word.starts_with("-fuse-ld") || word.starts_with('@');
}

/// GCC names the same folders in several ways, and gold would search each of them.
std::vector<std::string> with_each_folder_once(std::vector<std::string> arguments) {
  std::set<std::filesystem::path> met;
  std::erase_if(arguments, [&met](const std::string& word) {
    if (!word.starts_with("-L") || word.size() == 2) return false;
    std::error_code unknown;
    const std::filesystem::path folder = std::filesystem::canonical(word.substr(2), unknown);
    return !unknown && !met.insert(folder).second;
  });
  return arguments;
}

}  // namespace

std::optional<std::vector<std::string>> link_line(std::string_view dry_run) {
  const std::vector<std::string> words = words_of(line_running(dry_run, "/collect2"));
  if (words.size() < 2 || std::ranges::any_of(words, needs_the_wrapper)) return std::nullopt;
  std::vector<std::string> arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-plugin") {
      ++i;
    } else if (!words[i].starts_with("-plugin-opt=")) {
      arguments.push_back(words[i]);
    }
  }
  return with_each_folder_once(std::move(arguments));
}

}  // namespace kernelsmith::cpu
