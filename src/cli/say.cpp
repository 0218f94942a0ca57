#include "say.hpp"

#include <string>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::cli {

void put(std::FILE* stream, std::string_view text) {
  const std::string shown = escape_controls(text);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

void note(const std::string& line) { say(stderr, "{}\n", line); }

std::vector<std::string> paths_of(const Source& source) {
  std::vector<std::string> paths;
  for (const SourceFile& file : source.files()) paths.push_back(file.path);
  return paths;
}

void warn_of_near_knobs(const Source& source, const std::vector<std::string>& paths) {
  for (const NearKnob& knob : find_near_knobs(source))
    say(stderr, "note: {}\n", describe(knob, paths[knob.file]));
}

}  // namespace kernelsmith::cli
