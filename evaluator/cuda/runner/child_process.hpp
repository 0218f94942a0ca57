// ChildProcess: the runner's program, started with one end of a channel.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

/// Killed and reaped by the destructor. Movable; one thread uses it.
class ChildProcess {
 public:
  /// Starts `program argument` with `descriptor` as its descriptor 3 and no standard streams, in a process
  /// group of its own (an interrupt at the keyboard is the judge's to handle). Errors: not_found, io.
  static Result<ChildProcess> start(const std::filesystem::path& program, const std::string& argument,
                                    int descriptor);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t id() const { return id_; }
  bool running() const;
  void kill() const;

  /// How it ended, "signal 9 (Killed)"; empty where it has not within `limit`.
  std::optional<std::string> reap(std::chrono::milliseconds limit);

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  pid_t id_ = -1;  ///< -1 once it is reaped
};

}  // namespace kernelsmith::cuda
