// SandboxSpec: what a sandboxed program may see, use and pass on. It gets nothing else: no network (except
// with SandboxProfile::online), no host files, no inherited environment, and no inherited descriptors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernelsmith {

class Forker;

/// Selects the system calls that seccomp denies. Every profile denies namespaces, mounts, ptrace, io_uring,
/// userfaultfd, perf, bpf, keys, and sockets other than AF_UNIX.
enum class SandboxProfile {
  toolchain,  ///< compilers: may start processes
  command,    ///< a task's own program: may start processes, but must not leave System V memory or message
              ///< queues, and must not set the limits of other processes; its memory is limited as a whole
              ///< where possible
  runner,  ///< loads candidate code: must not use processes, timers, sockets, memfd, affinity or handlers of
           ///< SIGCONT
  runner_with_threads,  ///< like `runner`, for tasks that declare threads
  online,               ///< like `command`, with the whole network of this machine
};

/// Whether the program is confined. `unsandboxed` needs an explicit request and is recorded in the tier. Then
/// only the limits and the short environment apply.
enum class Confinement { sandboxed, unsandboxed };

/// A host path that is visible inside the sandbox. `target` defaults to `source`.
struct Bind {
  std::filesystem::path source;
  std::filesystem::path target = source;

  friend bool operator==(const Bind&, const Bind&) = default;
};

/// A link that is made inside the sandbox.
struct SandboxLink {
  std::string points_to;
  std::filesystem::path target;

  friend bool operator==(const SandboxLink&, const SandboxLink&) = default;
};

/// A descriptor of this process that the program gets under the number `target` (3 to 63).
struct PassedDescriptor {
  int descriptor = -1;
  int target = 3;

  friend bool operator==(const PassedDescriptor&, const PassedDescriptor&) = default;
};

/// Hard limits. Zero means no limit, except for the sizes of /tmp and /dev/shm, which are always limited.
struct SandboxLimits {
  double wall_s = 60;
  double cpu_s = 0;  ///< CPU time of each process
  /// Limits the address space of each process and, if possible, the memory of all together.
  std::uint64_t memory_bytes = 4ULL << 30;
  bool limit_address_space = true;           ///< if false, memory_bytes limits only the total, if that is
                                             ///< possible
  std::uint64_t file_bytes = 1ULL << 30;     ///< size of each written file
  std::uint64_t open_files = 256;            ///< open files of each process
  std::uint64_t processes = 64;              ///< processes and threads in the sandbox
  std::uint64_t output_bytes = 64ULL << 20;  ///< stdout and stderr together; beyond it the program is
                                             ///< killed
  std::uint64_t kept_output_bytes = 64ULL << 10;  ///< the tail that is kept of each stream
  std::uint64_t tmp_bytes = 256ULL << 20;         ///< size of /tmp
  std::uint64_t shm_bytes = 64ULL << 20;          ///< size of /dev/shm

  /// On a busy processor all its processes together get a tenth of the share of other programs. Needs a
  /// cgroup.
  bool gives_way = false;

  /// For a program that only computes. If it uses no processor time for this long, it is stuck, and is killed
  /// with an Error (busy). This is detected within twice the time. Needs a cgroup.
  double still_s = 0;

  friend bool operator==(const SandboxLimits&, const SandboxLimits&) = default;
};

/// A program and its surroundings. A value.
struct SandboxSpec {
  std::vector<std::string> argv;  ///< argv[0] is an absolute path inside the sandbox
  std::map<std::string, std::string> environment;
  std::vector<Bind> read_only;
  /// At most 20 files. The program gets a read-only copy of each, so it shares no memory with the host's
  /// file. Then the file's state in the processor's caches cannot carry information to or from other
  /// programs.
  std::vector<Bind> copied;
  std::vector<Bind> read_write;  ///< scratch folders; see ScratchFolder
  std::vector<SandboxLink> links;
  std::filesystem::path working_directory = "/tmp";  ///< inside the sandbox
  SandboxLimits limits;
  std::vector<PassedDescriptor> descriptors;
  bool cgroup = true;      ///< for a SandboxedProcess; if false, none is used, as on a machine without
                           ///< cgroups
  std::vector<int> cores;  ///< processors that it may use; if empty, those of this process
  SandboxProfile profile = SandboxProfile::toolchain;
  Confinement confinement = Confinement::sandboxed;
  /// If set, forks the program instead of starting it: it has the forker's environment, folder, rlimits and
  /// processors. Only for an unsandboxed program.
  std::shared_ptr<Forker> forker;
};

/// Adds the folders that the system's compilers and interpreters need: /usr/{bin,include,lib*,libexec,local},
/// with the links and the linker cache that these need. Folders that this machine lacks are left out.
void add_toolchain(SandboxSpec& spec);

}  // namespace kernelsmith
