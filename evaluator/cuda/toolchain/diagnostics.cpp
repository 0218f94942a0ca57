#include "toolchain/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::cuda {
namespace {

/// The number of shown errors; the first one is nearly always the one that matters.
constexpr std::size_t kMostMessages = 8;
/// Lines of an error: the code, the marker below it, and some template instantiations.
constexpr std::size_t kMostLinesOfMessage = 14;
/// The longest line; template arguments can be kilobytes long.
constexpr std::size_t kMostColumns = 400;
/// The kept part of a log without a recognised error.
constexpr std::size_t kMostOfUnknown = 4000;

enum class Kind { error, warning, remark, count };

struct Message {
  Kind kind = Kind::error;
  std::vector<std::string> lines;
};

/// Whether the line begins a message: "kernel.cu(3): error: ...", "kernel.cu:3:5: warning: ...", "ptxas fatal
/// : ..." or one of nvcc's other messages.
bool begins_message(const std::string& line, Kind& kind) {
  // The linker has already reported the cause.
  if (line.starts_with("Remark:") || line.starts_with("collect2:")) return kind = Kind::remark, true;
  if (line.find(" detected in the compilation of ") != line.npos) return kind = Kind::count, true;
  if (line.empty() || line.front() == ' ') return false;
  constexpr std::array<std::string_view, 7> kErrors = {
      ": error",   ": fatal error", ": catastrophic error", "error   :",
      "fatal   :", "nvcc error",    "Catastrophic error"};
  constexpr std::array<std::string_view, 4> kWarnings = {": warning", "warning :", "warning #", ": note"};
  const auto holds = [&](std::string_view part) { return line.find(part) != line.npos; };
  if (std::ranges::any_of(kErrors, holds)) return kind = Kind::error, true;
  if (std::ranges::any_of(kWarnings, holds)) return kind = Kind::warning, true;
  return false;
}

/// The line with the candidate's file names.
std::string relative(std::string line) {
  constexpr std::string_view kFolder = kSourceFolder;
  for (const std::string_view before : {"/build/", "./"})
    for (auto at = line.find(before); at != line.npos; at = line.find(before, at))
      if (line.compare(at + before.size(), kFolder.size(), kFolder) == 0)
        line.erase(at, before.size());
      else
        at += before.size();
  for (auto at = line.find(kFolder); at != line.npos; at = line.find(kFolder, at)) {
    const bool word = at == 0 || std::string_view(" \"'(`").find(line[at - 1]) != std::string_view::npos;
    if (word)
      line.erase(at, kFolder.size());
    else
      at += kFolder.size();
  }
  if (line.size() > kMostColumns) line = line.substr(0, kMostColumns) + " ...";
  return line;
}

std::vector<Message> messages_in(std::string_view log) {
  std::vector<Message> messages;
  bool inside = false;
  while (!log.empty()) {
    const std::string_view raw = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(raw.size() + 1, log.size()));
    const std::string line(raw);
    Kind kind{};
    if (begins_message(line, kind)) {
      messages.push_back({kind, {}});
      inside = true;
    } else if (line.find_first_not_of(" \t\r") == line.npos) {
      inside = false;
    }
    if (inside && messages.back().lines.size() < kMostLinesOfMessage)
      messages.back().lines.push_back(relative(line));
  }
  return messages;
}

std::string texts_of(std::string_view log, Kind kind) {
  std::string text;
  std::set<std::string> told;
  for (const Message& message : messages_in(log)) {
    if (message.kind != kind || told.size() >= kMostMessages) continue;
    std::string whole;
    for (const std::string& line : message.lines) whole += line + "\n";
    // The front ends for host and device report the same errors.
    if (told.insert(whole).second) text += whole;
  }
  return escape_controls(text);
}

std::string advice_on_header(std::string_view log) {
  const auto misses = [&](std::string_view prefix) {
    return log.find("fatal error: " + std::string(prefix)) != log.npos;
  };
  constexpr std::array<std::string_view, 3> kPyTorch = {"torch/", "ATen/", "c10/"};
  constexpr std::array<std::string_view, 6> kLibraries = {"cublas",   "cudnn",    "cufft",
                                                          "cusparse", "cusolver", "nccl"};
  if (std::ranges::any_of(kPyTorch, misses))
    return "PyTorch is not part of the backend `cuda`: use the entry's pointers, or a task of the backend "
           "`torch`\n";
  if (std::ranges::any_of(kLibraries, misses))
    return "a plan cannot hold calls of other libraries (cuBLAS, cuDNN and the like): leave their headers "
           "out, and "
           "write a kernel of your own\n";
  return "the compiler sees its own headers, the toolkit's and the candidate's files: put what a header "
         "declares "
         "into the candidate\n";
}

}  // namespace

std::string errors_of(std::string_view log) {
  std::string errors = texts_of(log, Kind::error);
  if (!errors.empty()) return errors;
  return escape_controls(log.size() > kMostOfUnknown ? log.substr(log.size() - kMostOfUnknown) : log);
}

std::string advice_on(std::string_view log) {
  const auto says = [&](std::string_view words) { return log.find(words) != log.npos; };
  if (says("requires separate compilation mode"))
    return "a plan cannot hold launches from the device: launch every kernel from the host (-rdc does not "
           "help)\n";
  if (says("fatal error: ") && says(": No such file or directory")) return advice_on_header(log);
  return {};
}

std::string warnings_of(std::string_view log) { return texts_of(log, Kind::warning); }

std::vector<std::string> missing_symbols(std::string_view linker_log) {
  constexpr std::string_view kSays = "undefined reference to ";
  std::set<std::string> symbols;
  for (auto at = linker_log.find(kSays); at != linker_log.npos; at = linker_log.find(kSays, at)) {
    at += kSays.size();
    const auto begin = at + 1;  // behind the opening quote
    if (begin >= linker_log.size()) break;
    const auto end = std::min(linker_log.find_first_of("'\n", begin), linker_log.size());
    symbols.emplace(linker_log.substr(begin, end - begin));
  }
  return {symbols.begin(), symbols.end()};
}

bool is_runtime_symbol(std::string_view symbol, const RuntimeNames& names) {
  const std::string_view prefix = names.driver_prefix.empty() ? names.prefix : names.driver_prefix;
  if (symbol.starts_with("__")) symbol.remove_prefix(2);
  return symbol.starts_with(prefix);
}

}  // namespace kernelsmith::cuda
