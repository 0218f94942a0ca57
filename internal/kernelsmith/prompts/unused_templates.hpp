// Finds misspelt names in a folder of templates: files that no prompt uses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Describes, with their paths, the user's templates in `folder` (SET/NAME.mustache) that prompts of the set
/// `set` do not use. These are files in a set that is neither built in nor `set`, and files whose name is not
/// `system`, `user` or the name of a partial in some template. It also describes a folder without
/// templates. Empty if `folder` is empty. Errors: `not_found`, `permission` and `io` for the folder.
Result<std::vector<std::string>> unused_templates(const std::filesystem::path& folder,
                                                  const std::string& set);

}  // namespace kernelsmith
