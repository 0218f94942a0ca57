// The rules of a results' folder: one process at a time, one command, one set of settings.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::suite {

/// Makes the folder, and keeps other writers out while the descriptor lives. Errors: `busy` if there is
/// another writer.
Result<Descriptor> lock_folder(const std::filesystem::path& folder);

/// Fails with `invalid_argument` if the folder has no `state_file`, but has entries that are not in
/// `own_names`.
Status check_free(const std::filesystem::path& folder, const std::filesystem::path& state_file,
                  std::span<const char* const> own_names);

/// Fails with `invalid_argument` for the first setting that differs, if any.
Status check_settings(const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& now, const std::filesystem::path& folder);

}  // namespace kernelsmith::suite
