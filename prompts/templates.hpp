// The built-in templates. Their files are in templates/, in one folder for each set. In the library they are
// this table.
#pragma once

#include <string>
#include <vector>

namespace kernelsmith::detail {

struct TemplateFile {
  std::string name;  ///< name of the set
  std::string path;  ///< path within the set, such as "user.mustache"
  std::string text;
};

/// The files of all sets.
const std::vector<TemplateFile>& template_files();

}  // namespace kernelsmith::detail
