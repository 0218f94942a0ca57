// The files of the live page: those of page/, and the report's style sheet, embedded by the build.
#pragma once

#include <string_view>
#include <vector>

namespace kernelsmith::ui {

struct PageFile {
  std::string_view name;  ///< such as "page.js"
  std::string_view text;
};

const std::vector<PageFile>& page_files();

}  // namespace kernelsmith::ui
