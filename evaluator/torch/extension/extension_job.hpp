// A planner's request to build an extension, parsed as untrusted data. Pure, except for looking at folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/cuda/library_compiler.hpp>

#include "wire.hpp"

namespace kernelsmith::torch {

struct ExtensionJob {
  std::string key;   ///< the planner's name for the extension
  std::string name;  ///< the candidate's name for the extension
  LibraryJob job;
  std::vector<std::string> unseen;  ///< requested folders of headers that are not accessible
};

/// Reads `build` of a reply (docs/torch-plan.md). `shown` are the folders that the task declares; the
/// candidate may use folders in them and the system's. A request that no planner writes is a Rejection
/// (protocol_forged).
Judged<ExtensionJob> read_job(const Json& build, int arch, const std::vector<std::filesystem::path>& shown);

/// Adds the inaccessible folders to an error that they may have caused.
std::string with_unseen(const std::string& error, const ExtensionJob& job);

}  // namespace kernelsmith::torch
