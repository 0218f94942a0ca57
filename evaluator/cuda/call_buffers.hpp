// CallBuffers: the tensors of a batch's calls in memory shared by judge and runner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/evaluator/oracle.hpp>
#include <kernelsmith/evaluator/plan.hpp>

#include "device/device.hpp"
#include "runner/runner.hpp"

namespace kernelsmith::cuda {

/// Where each tensor lies. A piece of memory belongs to one tensor of one call (a slot) and is large enough
/// for all shapes. The tensor is at the end of its piece, so that an overrun faults or hits the margin after
/// the tensor. A value with pure functions.
class BufferLayout {
 public:
  /// Makes as many slots as `limit` bytes allow, at least one and at most `most_slots`.
  BufferLayout(const Task& task, const std::vector<TaskShape>& shapes, OraclePrecision precision,
               std::size_t limit, std::size_t most_slots);

  std::size_t slots() const { return slots_; }
  std::size_t tensors() const { return piece_bytes_.size(); }
  std::size_t piece_bytes(std::size_t tensor) const { return piece_bytes_[tensor]; }
  std::size_t tensor_bytes(std::size_t shape, std::size_t tensor) const { return bytes_[shape][tensor]; }
  /// The tensor's offset in its piece; a multiple of 256, like an address from cudaMalloc.
  std::size_t offset(std::size_t shape, std::size_t tensor) const;
  /// The number of checked bytes before and after the tensor.
  std::size_t margin_before(std::size_t shape, std::size_t tensor) const;
  std::size_t margin_after(std::size_t shape, std::size_t tensor) const;
  bool writable(std::size_t tensor) const { return writable_[tensor]; }

  /// Every tensor of a call at made-up addresses, for planning without a GPU.
  std::vector<plan::Buffer> made_up(std::size_t shape, std::size_t slot) const;

 private:
  std::vector<std::vector<std::size_t>> bytes_;  ///< by shape and tensor
  std::vector<std::size_t> piece_bytes_;         ///< by tensor
  std::vector<bool> writable_;                   ///< by tensor
  std::size_t slots_ = 1;
};

/// Workspace regions at made-up addresses that do not overlap BufferLayout::made_up().
plan::Workspace made_up_workspace();

/// Not thread-safe.
class CallBuffers {
 public:
  /// Errors: the device's, such as too little memory.
  static Result<CallBuffers> create(Device& device, BufferLayout layout);

  const BufferLayout& layout() const { return layout_; }

  /// Maps all pieces in a runner, and forgets their addresses in an earlier runner.
  Status map(Runner& runner);

  /// The pieces that the runner mapped. If the runner outlives this object, unmap them first.
  const std::vector<std::uint64_t>& mapped() const { return in_runner_; }

  // Addresses in the judge's context.
  std::uint64_t piece(std::size_t slot, std::size_t tensor) const {
    return pieces_[index(slot, tensor)].address();
  }
  std::uint64_t tensor(std::size_t shape, std::size_t slot, std::size_t tensor) const;

  /// Addresses in the runner's context.
  std::vector<plan::Buffer> in_runner(std::size_t shape, std::size_t slot) const;

 private:
  explicit CallBuffers(BufferLayout layout) : layout_(std::move(layout)) {}
  std::size_t index(std::size_t slot, std::size_t tensor) const { return slot * layout_.tensors() + tensor; }

  BufferLayout layout_;
  std::vector<SharedMemory> pieces_;      ///< by slot and tensor
  std::vector<std::uint64_t> in_runner_;  ///< the pieces' addresses in the runner
};

}  // namespace kernelsmith::cuda
