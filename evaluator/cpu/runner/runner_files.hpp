// RunnerFiles: the host's files that a runner can see. They are single files, so that it cannot look up names
// in a folder of the host. Each runner has its own copies, so that pages in memory and lines in caches carry
// no information: otherwise one process of a candidate could leave results for the next process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

namespace kernelsmith::cpu {

/// Immutable.
class RunnerFiles {
 public:
  using Ptr = std::shared_ptr<const RunnerFiles>;

  /// The program with the loader and every shared library that it or `linked` needs. `linked` should need
  /// everything that candidates may link with. Errors: tool_failed if the loader does not list them.
  static Result<Ptr> create(std::filesystem::path program, const std::filesystem::path& linked);
  /// The files of a program that sees the whole host.
  static Ptr unconfined(std::filesystem::path program);

  /// kernelsmith-runner on the host.
  const std::filesystem::path& program() const { return program_; }
  /// Binds the libraries, and the program as `inside`.
  void show_in(SandboxSpec& spec, const std::filesystem::path& inside) const;
  /// Paths of the libraries that objects usually need. They are loaded in advance to save time.
  const std::vector<std::string>& usual_libraries() const { return usual_libraries_; }

 private:
  explicit RunnerFiles(std::filesystem::path program) : program_(std::move(program)) {}

  std::filesystem::path program_;
  std::vector<Bind> libraries_;
  std::vector<std::string> usual_libraries_;
};

}  // namespace kernelsmith::cpu
