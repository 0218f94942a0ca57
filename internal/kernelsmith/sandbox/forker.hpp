// Forker: a running program that forks, because to start it takes long. A SandboxSpec may name one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Thread-safe.
class Forker {
 public:
  virtual ~Forker() = default;

  /// Forks a process that has a session of its own and enters the cgroup, unless that is empty. The
  /// descriptors are pairs of ours and the process's number. The pid stays taken until reap().
  virtual Result<pid_t> fork(const std::vector<std::string>& argv,
                             const std::vector<std::pair<int, int>>& descriptors,
                             const std::filesystem::path& cgroup) = 0;

  /// Call it once after the process has ended. Its exit status, or 128 plus its signal; empty if the forker
  /// has ended, too.
  virtual std::optional<int> reap(pid_t pid) = 0;
};

}  // namespace kernelsmith
