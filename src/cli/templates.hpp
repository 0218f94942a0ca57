// The tasks that `init` makes. Their files are in templates/, and in the program as this table.
#pragma once

#include <string>
#include <vector>

namespace kernelsmith::cli {

struct TemplateFile {
  std::string name;  ///< of the template
  std::string path;  ///< within the task's folder
  std::string text;
};

/// The files of all templates.
const std::vector<TemplateFile>& template_files();

}  // namespace kernelsmith::cli
