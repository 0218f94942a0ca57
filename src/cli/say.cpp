#include "say.hpp"

#include <string>

#include <sys/stat.h>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/core/escape.hpp>

#include "text.hpp"

namespace kernelsmith::cli {

void put(std::FILE* stream, std::string_view text) {
  const std::string shown = escape_controls(text);
  if (stream == stderr) std::fflush(stdout);  // keeps the order of both streams in one pipe
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

void note(const std::string& line) { say(stderr, "{}\n", line); }

void warn_of_readers(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH) != 0)
    say(stderr, "warning: everybody on this machine can read {}\nhint: chmod 600 {}\n", file,
        shell_word(file));
}

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
