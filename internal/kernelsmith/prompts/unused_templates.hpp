// Finds misspelt names in a folder of templates: files that no prompt uses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Describes the user's templates in `folder` (SET/NAME.mustache) that prompts of the set `set` do not use,
/// with their paths: files in a set that is neither built in nor `set`, files whose name is not `system`,
/// `user`, `feedback` or a partial of any template, and a folder without templates. Empty if `folder` is
/// empty. Errors: `not_found`, `permission` and `io` of the folder.
Result<std::vector<std::string>> unused_templates(const std::filesystem::path& folder,
                                                  const std::string& set);

}  // namespace kernelsmith
