#include "replace_file.hpp"

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::suite {

Status replace_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path fresh = path.string() + ".new";
  if (auto written = write_new_file(fresh, text, Flush::no); !written) return written;
  std::error_code failed;
  std::filesystem::rename(fresh, path, failed);
  return failed ? Status(system_error("a file of the results cannot be written", path, failed.value()))
                : Status();
}

}  // namespace kernelsmith::suite
