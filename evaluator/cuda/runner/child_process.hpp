// ChildProcess: one of our programs with one end of a channel, or a tool that starts such a program.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

/// The destructor kills and reaps the process. Movable; one thread uses it.
class ChildProcess {
 public:
  /// Starts `program arguments...` with `descriptor` as its descriptor 3 and no standard streams, in a
  /// process group of its own, so that only the judge handles a keyboard interrupt. Errors: not_found, io.
  static Result<ChildProcess> start(const std::filesystem::path& program, std::vector<std::string> arguments,
                                    int descriptor);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t id() const { return id_; }
  bool running() const;
  /// Kills the whole group, including a tool's children.
  void kill() const;

  /// How the process ended, such as "signal 9 (Killed)"; empty if it has not ended within `limit`.
  std::optional<std::string> reap(std::chrono::milliseconds limit);

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  pid_t id_ = -1;  ///< -1 once it is reaped
};

}  // namespace kernelsmith::cuda
