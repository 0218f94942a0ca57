#include "v1_group.hpp"

#include <string>
#include <utility>

#include <unistd.h>

#include "cgroup_mount.hpp"
#include "descriptor.hpp"

namespace kernelsmith {

std::optional<V1Group> V1Group::create(const char* controller) {
  const auto parent = own_cgroup(controller);
  if (!parent) return std::nullopt;
  remove_orphans(*parent);
  const auto folder = make_cgroup_folder(*parent);
  return folder ? std::optional(V1Group(*folder)) : std::nullopt;
}

std::optional<V1Group> V1Group::with_memory(std::uint64_t bytes) {
  auto group = create("memory");
  if (!group || !write_small_file(group->path_ / "memory.limit_in_bytes", std::to_string(bytes)))
    return std::nullopt;
  // Swap would only prolong the end. Not every kernel accounts for it.
  write_small_file(group->path_ / "memory.memsw.limit_in_bytes", std::to_string(bytes));
  return group;
}

std::optional<V1Group> V1Group::giving_way() {
  auto group = create("cpu");
  if (!group || !write_small_file(group->path_ / "cpu.shares", "102")) return std::nullopt;
  return group;
}

V1Group::~V1Group() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

V1Group::V1Group(V1Group&& other) noexcept : path_(std::exchange(other.path_, {})) {}

V1Group& V1Group::operator=(V1Group&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

bool V1Group::add(pid_t pid) const { return write_small_file(path_ / "cgroup.procs", std::to_string(pid)); }

bool V1Group::out_of_memory() const {
  const std::string text = read_small_file(path_ / "memory.oom_control");
  const std::size_t at = text.find("oom_kill ");
  return at != std::string::npos && text.compare(at + 9, 1, "0") != 0;
}

}  // namespace kernelsmith
