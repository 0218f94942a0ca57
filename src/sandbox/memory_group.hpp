// MemoryGroup: a control group of the v1 memory controller, for machines whose v2 hierarchy has none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace kernelsmith {

/// Limits the memory of a tree of processes as a whole. Not thread-safe.
class MemoryGroup {
 public:
  /// Empty if no writable v1 memory controller is mounted.
  static std::optional<MemoryGroup> create(std::uint64_t bytes);

  /// Removes the group; its processes must have ended.
  ~MemoryGroup();
  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) noexcept;

  /// Takes in a process that has no children yet (11 to 19 ms).
  bool add(pid_t pid) const;
  /// True if the kernel killed a process of the group for its memory.
  bool out_of_memory() const;

 private:
  explicit MemoryGroup(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace kernelsmith
