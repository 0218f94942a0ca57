// Misspelt names in a folder of templates: files that no prompt would ever take.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// What of the user's templates in `folder` (SET/NAME.mustache) prompts of the set `set` do not use, in
/// words, each with its path: files in a set that is neither built in nor `set`, files under a name that
/// neither is `system`, `user` or `feedback` nor stands as a partial in any template, and a folder that holds
/// no template at all. Empty if `folder` is. Errors: `not_found`, `permission` and `io` of the folder.
Result<std::vector<std::string>> unused_templates(const std::filesystem::path& folder,
                                                  const std::string& set);

}  // namespace kernelsmith
