// V1Group: a control group of one v1 controller, for machines whose v2 hierarchy lacks that controller.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace kernelsmith {

/// A tree of processes under one controller. Not thread-safe.
class V1Group {
 public:
  /// A group with limited total memory. Empty if no writable v1 memory controller is mounted.
  static std::optional<V1Group> with_memory(std::uint64_t bytes);
  /// A group with a tenth of others' CPU share, as in Cgroup::give_way. Empty if no writable v1 cpu
  /// controller is mounted.
  static std::optional<V1Group> giving_way();

  /// Removes the group; its processes must have ended.
  ~V1Group();
  V1Group(V1Group&& other) noexcept;
  V1Group& operator=(V1Group&& other) noexcept;

  /// Adds a process without children (11 to 19 ms).
  bool add(pid_t pid) const;
  /// True if the kernel killed a process of the group for its memory.
  bool out_of_memory() const;

 private:
  explicit V1Group(std::filesystem::path path) : path_(std::move(path)) {}
  static std::optional<V1Group> create(const char* controller);
  std::filesystem::path path_;
};

}  // namespace kernelsmith
