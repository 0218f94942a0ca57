// What is saved of a run whose folder was taken away while it was written.
#pragma once

#include <filesystem>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/engine/engine.hpp>

namespace kernelsmith {

/// Saves the best program in a new folder, beside the run's or else among the temporary files, and returns
/// `gone` with where that is.
Error rescued(Error gone, const Engine& engine, const std::filesystem::path& run);

}  // namespace kernelsmith
