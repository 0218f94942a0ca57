// ChildProcess: a program of ours, started with one end of a channel, or a tool that starts it so.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

/// Killed and reaped by the destructor. Movable; one thread uses it.
class ChildProcess {
 public:
  /// Starts `program arguments...` with `descriptor` as its descriptor 3 and no standard streams, in a
  /// process group of its own (an interrupt at the keyboard is the judge's to handle). Errors: not_found, io.
  static Result<ChildProcess> start(const std::filesystem::path& program, std::vector<std::string> arguments,
                                    int descriptor);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t id() const { return id_; }
  bool running() const;
  /// With its group: a tool's own children too.
  void kill() const;

  /// How it ended, "signal 9 (Killed)"; empty if it has not within `limit`.
  std::optional<std::string> reap(std::chrono::milliseconds limit);

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  pid_t id_ = -1;  ///< -1 once it is reaped
};

}  // namespace kernelsmith::cuda
