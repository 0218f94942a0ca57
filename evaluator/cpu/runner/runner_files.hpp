// RunnerFiles: all that a runner sees of the host. Single files, so that it cannot look for names in a folder
// of the host, and each runner has copies of its own, so that neither which of their pages are in memory nor
// which of their lines are in a cache tells anything: what one process of a candidate could change and the
// next one could find would carry results from set to set.
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

  /// The program with the loader and every shared library that it or `linked` needs, which should need all
  /// that candidates may be linked with. Errors: tool_failed if the loader does not say.
  static Result<Ptr> create(std::filesystem::path program, const std::filesystem::path& linked);
  /// For a program that sees the host as it is.
  static Ptr unconfined(std::filesystem::path program);

  /// kernelsmith-runner on the host.
  const std::filesystem::path& program() const { return program_; }
  /// Shows the libraries, and the program as `inside`.
  void show_in(SandboxSpec& spec, const std::filesystem::path& inside) const;
  /// Paths of the libraries that objects usually need: loaded ahead, they cost an object no time.
  const std::vector<std::string>& usual_libraries() const { return usual_libraries_; }

 private:
  explicit RunnerFiles(std::filesystem::path program) : program_(std::move(program)) {}

  std::filesystem::path program_;
  std::vector<Bind> libraries_;
  std::vector<std::string> usual_libraries_;
};

}  // namespace kernelsmith::cpu
