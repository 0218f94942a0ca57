// The texts of workspace/ for every agent's workspace, embedded by the build.
#pragma once

#include <string_view>
#include <vector>

namespace kernelsmith::agent {

struct PageFile {
  std::string_view name;  ///< such as "README.md"
  std::string_view text;
};

const std::vector<PageFile>& page_files();

}  // namespace kernelsmith::agent
