// Region: allocates addresses of one of the plan's two workspaces. The addresses have no memory in the
// planner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace kernelsmith::cuda::planner {

/// Not thread-safe.
class Region {
 public:
  Region() = default;
  Region(std::uint64_t address, std::uint64_t bytes) : begin_(address), bytes_(bytes) {}

  /// Allocates from the first large enough gap, aligned to 256 bytes like cudaMalloc. Empty if there is no
  /// such gap.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes);

  /// Frees an allocation; false if none begins there. The place is reused only from the next call on, because
  /// work of this call on any stream may still use it.
  bool release(std::uint64_t address);

  /// Begins a new call.
  void begin_call();

  /// Bytes from the beginning that this call may touch.
  std::uint64_t in_use() const;
  bool contains(std::uint64_t address) const { return address - begin_ < bytes_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Piece {
    std::uint64_t bytes = 0;
    bool released = false;
  };
  std::uint64_t begin_ = 0, bytes_ = 0;
  std::map<std::uint64_t, Piece> pieces_;  ///< by address
};

}  // namespace kernelsmith::cuda::planner
