#include <algorithm>
#include <sstream>
#include <vector>

#include <kernelsmith/core/brief.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kBriefLines = 3;  // the first, the error, and how many there are

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// "error: ..." of compilers, "ValueError: ..." of Python.
bool names_an_error(const std::string& line) { return line.find("rror:") != std::string::npos; }

}  // namespace

std::string describe_briefly(const Error& error) {
  const std::vector<std::string> lines = lines_in(error.message);
  if (lines.size() <= kBriefLines) return describe(error);
  std::string text = describe({error.code, lines.front(), error.where, ""});
  std::size_t left = lines.size() - 1;
  const auto fault = std::find_if(lines.begin() + 1, lines.end(), names_an_error);
  if (!names_an_error(lines.front()) && fault != lines.end()) {
    text += "\n" + *fault;
    --left;
  }
  text += "\n(" + std::to_string(left) + " more lines: in the JSON of evaluate, doctor, show and export)";
  return error.hint.empty() ? text : text + "\nhint: " + error.hint;
}

}  // namespace kernelsmith
