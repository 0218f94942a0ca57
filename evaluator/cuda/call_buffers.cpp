#include "call_buffers.hpp"

#include <algorithm>
#include <utility>

#include "alignment.hpp"
#include "toolchain/cuda_source.hpp"

namespace kernelsmith::cuda {
namespace {

/// The unit in which device memory is mapped.
constexpr std::size_t kGranule = std::size_t{2} << 20;
/// The checked bytes around a tensor. A stray write usually lies close to the tensor; a write further away
/// hits unmapped memory.
constexpr std::size_t kMargin = 4096;
/// Made-up addresses look like a device's.
constexpr std::uint64_t kMadeUpBase = 0x700000000000;
constexpr std::uint64_t kMadeUpWorkspace = 0x7e0000000000;
constexpr std::uint64_t kMadeUpWorkspaceBytes = std::uint64_t{4} << 30;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

BufferLayout::BufferLayout(const Task& task, const std::vector<TaskShape>& shapes, OraclePrecision precision,
                           std::size_t limit, std::size_t most_slots)
    : piece_bytes_(task.tensors.size(), kGranule) {
  for (const TensorSpec& tensor : task.tensors) writable_.push_back(tensor.role != TensorRole::in);
  for (const TaskShape& shape : shapes) {
    std::vector<std::size_t>& bytes = bytes_.emplace_back();
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      bytes.push_back(shape.extents[t].elements * cuda::element_bytes(task.tensors[t].dtype, precision));
      piece_bytes_[t] = std::max(piece_bytes_[t], rounded_up(bytes.back(), kGranule));
    }
  }
  std::size_t slot_bytes = 0;
  for (const std::size_t bytes : piece_bytes_) slot_bytes += bytes;
  slots_ = std::clamp<std::size_t>(limit / std::max<std::size_t>(slot_bytes, 1), 1, most_slots);
}

std::size_t BufferLayout::offset(std::size_t shape, std::size_t tensor) const {
  return (piece_bytes_[tensor] - bytes_[shape][tensor]) / kAlignment * kAlignment;
}

std::size_t BufferLayout::margin_before(std::size_t shape, std::size_t tensor) const {
  return std::min(kMargin, offset(shape, tensor));
}

std::size_t BufferLayout::margin_after(std::size_t shape, std::size_t tensor) const {
  return piece_bytes_[tensor] - offset(shape, tensor) - bytes_[shape][tensor];
}

std::vector<plan::Buffer> BufferLayout::made_up(std::size_t shape, std::size_t slot) const {
  std::vector<plan::Buffer> buffers;
  std::uint64_t address = kMadeUpBase;
  for (std::size_t s = 0; s <= slot; ++s) {
    buffers.clear();
    for (std::size_t t = 0; t < tensors(); ++t) {
      buffers.push_back({address + offset(shape, t), tensor_bytes(shape, t), writable(t)});
      address += piece_bytes_[t] + kGranule;
    }
  }
  return buffers;
}

plan::Workspace made_up_workspace() {
  return {kMadeUpWorkspace, kMadeUpWorkspace + 2 * kMadeUpWorkspaceBytes, kMadeUpWorkspaceBytes};
}

Result<CallBuffers> CallBuffers::create(Device& device, BufferLayout layout) {
  CallBuffers buffers(std::move(layout));
  for (std::size_t slot = 0; slot < buffers.layout_.slots(); ++slot)
    for (std::size_t t = 0; t < buffers.layout_.tensors(); ++t) {
      auto piece = device.share(buffers.layout_.piece_bytes(t));
      if (!piece) return piece.error();
      buffers.pieces_.push_back(std::move(*piece));
    }
  return buffers;
}

Status CallBuffers::map(Runner& runner) {
  std::vector<const SharedMemory*> pieces;
  for (const SharedMemory& piece : pieces_) pieces.push_back(&piece);
  auto addresses = runner.map(pieces);
  if (!addresses) return addresses.error();
  in_runner_ = std::move(*addresses);
  return {};
}

std::uint64_t CallBuffers::tensor(std::size_t shape, std::size_t slot, std::size_t tensor) const {
  return piece(slot, tensor) + layout_.offset(shape, tensor);
}

std::vector<plan::Buffer> CallBuffers::in_runner(std::size_t shape, std::size_t slot) const {
  std::vector<plan::Buffer> buffers;
  for (std::size_t t = 0; t < layout_.tensors(); ++t)
    buffers.push_back({in_runner_[index(slot, t)] + layout_.offset(shape, t), layout_.tensor_bytes(shape, t),
                       layout_.writable(t)});
  return buffers;
}

}  // namespace kernelsmith::cuda
