#include <algorithm>
#include <sstream>
#include <vector>

#include <kernelsmith/core/brief.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kBriefLines = 3;  // the first line, the error, and the number of lines

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

using Lines = std::vector<std::string>;

/// Finds "error: ..." of compilers and "ValueError: ..." of Python.
bool names_an_error(const std::string& line) { return line.find("rror:") != std::string::npos; }

bool is_frame(const std::string& line) { return line.starts_with("  File \""); }

/// Whether the frame is in a library or in Python itself, judging by its path.
bool is_foreign(const std::string& frame) {
  for (const char* place : {"site-packages/", "dist-packages/", "/lib/python", "File \"<frozen"})
    if (frame.find(place) != std::string::npos) return true;
  return false;
}

/// From the last traceback: the frame in the user's own code, with its source line, and the exception.
Lines of_traceback(const Lines& lines) {
  auto end = std::find_if(lines.rbegin(), lines.rend(), is_frame).base();
  if (end == lines.begin()) return {};
  const auto last = end - 1;
  auto begin = last;  // the last traceback, if there are several
  while (begin != lines.begin() && (begin - 1)->starts_with("  ")) --begin;
  auto own = last;
  for (auto frame = begin; frame <= last; ++frame)
    if (is_frame(*frame) && !is_foreign(*frame)) own = frame;
  Lines kept = {*own};
  if (own + 1 != lines.end() && (own + 1)->starts_with("    ")) kept.push_back(*(own + 1));
  const auto exception =
      std::find_if(end, lines.end(), [](const std::string& line) { return !line.starts_with(' '); });
  if (exception != lines.end()) kept.push_back(*exception);
  return kept;
}

}  // namespace

std::string describe_briefly(const Error& error) {
  const Lines lines = lines_in(error.message);
  if (lines.size() <= kBriefLines) return describe(error);
  std::string text = describe({error.code, lines.front(), error.where, ""});
  Lines kept = of_traceback(lines);
  const auto fault = std::find_if(lines.begin() + 1, lines.end(), names_an_error);
  if (kept.empty() && !names_an_error(lines.front()) && fault != lines.end()) kept = {*fault};
  if (kept.empty() && lines.front().ends_with(':')) kept = {lines.back()};  // Triton names the cause last
  for (const std::string& line : kept) text += "\n" + line;
  if (const std::size_t left = lines.size() - 1 - kept.size(); left > 0)
    text += "\n(" + std::to_string(left) + (left == 1 ? " more line" : " more lines") +
            ": in the JSON of evaluate, doctor, show and export)";
  return error.hint.empty() ? text : text + "\nhint: " + error.hint;
}

}  // namespace kernelsmith
