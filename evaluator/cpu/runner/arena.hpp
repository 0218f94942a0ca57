// Arena: the memory that judge and runner share. Inputs can be written only through the judge's own mapping,
// and neither part can be resized. Every tensor of every slot ends at a guard page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sys/mman.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

#include "runner/protocol.hpp"

namespace kernelsmith::cpu {

/// Room for `slots` calls at one shape.
struct ArenaShape {
  std::vector<std::int64_t> sizes;        ///< in the order of the entry's arguments
  std::vector<std::size_t> tensor_bytes;  ///< in the order of the entry's arguments
  std::size_t slots = 1;
};

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* base) const { ::munmap(base, bytes); }
};
using Mapping = std::unique_ptr<std::byte, Unmap>;

/// Not thread-safe. Movable.
class Arena {
 public:
  /// Errors: io if the memory cannot be allocated.
  static Result<Arena> create(std::span<const TensorRole> roles, std::vector<ArenaShape> shapes);

  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;

  /// The tensor's first byte in the judge's mapping.
  std::byte* tensor(std::size_t shape, std::size_t slot, std::size_t tensor) const;
  std::size_t tensor_bytes(std::size_t shape, std::size_t tensor) const;
  /// The rest of the tensor's pages, in front of it and up to its guard page.
  std::array<std::span<std::byte>, 2> margins(std::size_t shape, std::size_t slot, std::size_t tensor) const;
  std::size_t slots(std::size_t shape) const { return shapes_[shape].slots; }

  /// Sets row i of the call table to slot i of `shape`, for i below `calls`.
  void set_calls(std::size_t shape, std::size_t calls);

  /// Overwrites everything except the header, including the guard pages and the gaps between tensors, where a
  /// process could leave notes for the next one. Call set_calls() before the next call.
  void wipe();

  int inputs() const { return inputs_.descriptor.get(); }
  int outputs() const { return outputs_.descriptor.get(); }
  std::size_t bytes() const { return inputs_.bytes + outputs_.bytes; }

 private:
  struct Part {
    Descriptor descriptor;
    Mapping mapping;
    std::size_t bytes = 0;
  };
  /// Offsets of a shape's tensors, [slot * tensors + tensor].
  using Offsets = std::vector<std::uint64_t>;

  Arena() = default;
  std::uint64_t place(bool among_inputs, std::size_t bytes);
  Status allocate();

  std::vector<TensorRole> roles_;
  std::vector<ArenaShape> shapes_;
  std::vector<Offsets> offsets_;
  std::vector<std::uint64_t> input_guards_, output_guards_;
  std::uint64_t table_ = 0;  ///< the call table's offset in the inputs
  Part inputs_, outputs_;
};

}  // namespace kernelsmith::cpu
