// What a planner asks to be built, read as a candidate's words. Pure but for looking at folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/cuda/library_compiler.hpp>

#include "wire.hpp"

namespace kernelsmith::torch {

struct ExtensionJob {
  std::string key;   ///< the planner's name for it
  std::string name;  ///< the candidate's
  LibraryJob job;
  std::vector<std::string> unseen;  ///< folders of headers that it names and that nothing shows
};

/// `build` of a reply (docs/torch-plan.md). `shown` are the folders that the task declares; the candidate may
/// name folders in them, and the system's. A Rejection (protocol_forged) is of what no planner writes.
Judged<ExtensionJob> read_job(const Json& build, int arch, const std::vector<std::filesystem::path>& shown);

/// Names the folders that were not seen behind an error that they may be the reason for.
std::string with_unseen(const std::string& error, const ExtensionJob& job);

}  // namespace kernelsmith::torch
