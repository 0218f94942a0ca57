// Rescues the best program of a run whose folder was removed while it was written.
#pragma once

#include <filesystem>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/engine/engine.hpp>

namespace kernelsmith {

/// Saves the best program in a new folder, next to the run's folder or else among the temporary files.
/// Returns `gone` with the path of the new folder.
Error rescued(Error gone, const Engine& engine, const std::filesystem::path& run);

}  // namespace kernelsmith
