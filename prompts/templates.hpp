// The built-in texts. Their files are in templates/, one folder for each set, and in the library as this
// table.
#pragma once

#include <string>
#include <vector>

namespace kernelsmith::detail {

struct TemplateFile {
  std::string name;  ///< of the set
  std::string path;  ///< within the set, such as "user.mustache"
  std::string text;
};

/// The files of all sets.
const std::vector<TemplateFile>& template_files();

}  // namespace kernelsmith::detail
