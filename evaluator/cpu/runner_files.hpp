// RunnerFiles: all that a runner sees of the host. Single files, so that it cannot look for names in a folder
// of the host, and held in memory, so that which of their pages are there tells nothing: what one process of
// a candidate could change and the next one could find would carry results from set to set.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "descriptor.hpp"

namespace kernelsmith {

/// Maps the whole file and reads it in; its pages stay as long as the mapping does (locked where that is
/// permitted). Errors: io.
Result<Mapping> hold_in_memory(const std::filesystem::path& file);

/// Immutable.
class RunnerFiles {
 public:
  using Ptr = std::shared_ptr<const RunnerFiles>;

  /// The program with the loader and every shared library that it or `linked` needs, which should need all
  /// that candidates may be linked with. Errors: tool_failed where the loader does not tell; io.
  static Result<Ptr> create(std::filesystem::path program, const std::filesystem::path& linked);
  /// For a program that sees the host as it is.
  static Ptr unconfined(std::filesystem::path program);

  /// kernelsmith-runner on the host.
  const std::filesystem::path& program() const { return program_; }
  /// Shows the libraries, and the program as `inside`.
  void show_in(SandboxSpec& spec, const std::filesystem::path& inside) const;

 private:
  explicit RunnerFiles(std::filesystem::path program) : program_(std::move(program)) {}

  std::filesystem::path program_;
  std::vector<Bind> libraries_;
  std::vector<Mapping> held_;
};

}  // namespace kernelsmith
