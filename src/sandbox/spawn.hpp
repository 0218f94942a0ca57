// spawn: starts a child process from a multithreaded program. Makes only system calls between fork and exec,
// and passes on only listed descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include <kernelsmith/core/result.hpp>

#include "descriptor.hpp"

namespace kernelsmith {

/// Sandboxed programs run as this user if this process is root, because limits do not bind root.
inline constexpr unsigned kNobody = 65534;

/// A host path and the place under kStage where the child mounts it, because the unprivileged user cannot
/// reach the path itself.
struct StagedPath {
  std::string source;
  std::string place;
};
inline constexpr const char* kStage = "/tmp";

/// What to start. All strings must outlive the call.
struct SpawnRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::vector<std::pair<int, int>>
      descriptors;               ///< (ours, the child's number below 100); includes 0, 1 and 2
  std::vector<Descriptor> kept;  ///< the descriptors among them that are closed with the request
  std::vector<std::pair<int, rlim_t>> limits;  ///< (resource, hard and soft)
  std::vector<StagedPath> staged;              ///< only if `become_nobody`
  bool become_nobody = false;
  std::string working_directory;  ///< empty: the root
  int cgroup = -1;                ///< clone into it
  std::vector<int> cores;         ///< empty: as this process
  bool own_sockets_only = false;  ///< hides others' abstract sockets, if the kernel can (Linux 6.12)
};

struct Spawned {
  pid_t pid = -1;
  Descriptor pidfd;
};

/// Starts the program. Errors: io, permission, not_found; the message names the step that failed.
Result<Spawned> spawn(const SpawnRequest& request);

/// Limits the processes and threads of the user of process `pid` in that process's user namespace. Root
/// without CAP_SYS_RESOURCE (as in many containers) does it through a child with the same user.
Status limit_processes(pid_t pid, std::uint64_t most);

}  // namespace kernelsmith
