#include "memory_group.hpp"

#include <string>
#include <utility>

#include <unistd.h>

#include "cgroup_mount.hpp"
#include "descriptor.hpp"

namespace kernelsmith {

std::optional<MemoryGroup> MemoryGroup::create(std::uint64_t bytes) {
  const auto parent = own_cgroup("memory");
  if (!parent) return std::nullopt;
  [[maybe_unused]] static const bool cleaned = (remove_orphans(*parent), true);
  const auto folder = make_cgroup_folder(*parent);
  if (!folder) return std::nullopt;
  MemoryGroup group(*folder);
  if (!write_small_file(*folder / "memory.limit_in_bytes", std::to_string(bytes))) return std::nullopt;
  // Swap would only prolong the end. Not every kernel accounts for it.
  write_small_file(*folder / "memory.memsw.limit_in_bytes", std::to_string(bytes));
  return group;
}

MemoryGroup::~MemoryGroup() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept : path_(std::exchange(other.path_, {})) {}

MemoryGroup& MemoryGroup::operator=(MemoryGroup&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

bool MemoryGroup::add(pid_t pid) const {
  return write_small_file(path_ / "cgroup.procs", std::to_string(pid));
}

bool MemoryGroup::out_of_memory() const {
  const std::string text = read_small_file(path_ / "memory.oom_control");
  const std::size_t at = text.find("oom_kill ");
  return at != std::string::npos && text.compare(at + 9, 1, "0") != 0;
}

}  // namespace kernelsmith
