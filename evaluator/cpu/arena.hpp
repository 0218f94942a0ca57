// Arena: the memory that judge and runner share. Inputs are sealed against writing by anyone but the judge's
// own mapping, both parts against resizing. Every tensor of every slot ends at a page that nobody may touch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

#include "descriptor.hpp"
#include "protocol.hpp"

namespace kernelsmith {

/// Room for `slots` calls at one shape.
struct ArenaShape {
  std::vector<std::int64_t> sizes;        ///< as the entry gets them
  std::vector<std::size_t> tensor_bytes;  ///< in the order of the entry's arguments
  std::size_t slots = 1;
  /// Those inputs that come through a pipe when calls are shown one by one, in the order in which they come.
  /// All such calls have an `in` tensor in one place, among the outputs.
  std::vector<std::size_t> streamed{};
};

/// Not thread-safe. Movable.
class Arena {
 public:
  /// Errors: io where the memory is not to be had.
  static Result<Arena> create(std::span<const TensorRole> roles, std::vector<ArenaShape> shapes);

  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;

  /// The tensor's first byte in the judge's mapping.
  std::byte* tensor(std::size_t shape, std::size_t slot, std::size_t tensor) const;
  std::size_t tensor_bytes(std::size_t shape, std::size_t tensor) const;
  /// The rest of the tensor's pages, in front of it and up to its guard page.
  std::array<std::span<std::byte>, 2> margins(std::size_t shape, std::size_t slot, std::size_t tensor) const;
  std::size_t slots(std::size_t shape) const { return shapes_[shape].slots; }

  /// Makes row i of the call table slot i of `shape`, for i below `calls`.
  void set_calls(std::size_t shape, std::size_t calls);

  /// The tensors that are streamed; none where calls cannot be shown one by one.
  const std::vector<std::size_t>& streamed(std::size_t shape) const { return shapes_[shape].streamed; }
  /// Where a tensor that is streamed is read by a call in that slot, in the judge's mapping.
  std::byte* streamed(std::size_t shape, std::size_t slot, std::size_t tensor) const;
  /// How much of the pipe is the tensor's: an `in` tensor is filled up to where the next one begins.
  std::size_t streamed_bytes(std::size_t shape, std::size_t tensor) const;
  /// Makes row 0 of the call table, and the parts of steps(), the call in that slot.
  void set_step(std::size_t shape, std::size_t slot);
  /// What judge and runner tell each other of calls that are shown one by one.
  runner::Steps& steps() const;
  runner::StepAnswers& answers() const;

  /// Overwrites everything but the header, the guard pages and the room between tensors too, where a process
  /// could leave notes for the one that is loaded next: a process may unprotect its own view. Before the next
  /// call, set_calls() is needed.
  void wipe();

  int inputs() const { return inputs_.descriptor.get(); }
  int outputs() const { return outputs_.descriptor.get(); }
  std::size_t bytes() const { return inputs_.bytes + outputs_.bytes; }

 private:
  struct Part {
    FileDescriptor descriptor;
    Mapping mapping;
    std::size_t bytes = 0;
  };
  /// Offsets of a shape's tensors, [slot * tensors + tensor].
  using Offsets = std::vector<std::uint64_t>;

  Arena() = default;
  std::uint64_t place(bool among_inputs, std::size_t bytes);
  void place_streamed(const ArenaShape& shape);
  std::byte* write_row(std::byte* row, std::size_t shape, std::size_t slot) const;
  std::uint64_t streamed_offset(std::size_t shape, std::size_t slot, std::size_t tensor) const;
  Status allocate();

  std::vector<TensorRole> roles_;
  std::vector<ArenaShape> shapes_;
  std::vector<Offsets> offsets_;
  std::vector<Offsets> streamed_;  ///< of `in` tensors that are streamed, by tensor, in the outputs
  std::vector<std::uint64_t> input_guards_, output_guards_;
  std::uint64_t steps_ = 0, table_ = 0;  ///< in the inputs
  std::uint64_t answers_ = 0;            ///< in the outputs
  std::size_t tables_bytes_ = 0;         ///< in front of the first input
  Part inputs_, outputs_;
};

}  // namespace kernelsmith
