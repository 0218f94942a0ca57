// Replacing a file so that a reader sees the old bytes or the new ones.
#pragma once

#include <filesystem>
#include <string>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::suite {

/// Errors: system_error()'s.
Status replace_file(const std::filesystem::path& path, const std::string& text);

}  // namespace kernelsmith::suite
