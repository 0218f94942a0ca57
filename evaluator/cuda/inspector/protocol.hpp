// What judge and inspector say to each other, over the runner's channel:
//
//   start   <- done, or error
//   map     -> {InspectorMemory}, a descriptor of the filled tensors' values in order;  <- done {kept, call,
//   address, ...} replay  -> the encoded plan of one shape, a single call;        <- done, or rejection, or
//   error (the last answer) forget  -> nothing: it ends, as a program that a tool looks on has to
#pragma once

#include <cstdint>
#include <vector>

#include "runner/payload.hpp"

namespace kernelsmith::cuda {

/// The inspector's allocations, each separate and with its exact size, because the tools check the end of an
/// allocation.
struct InspectorMemory {
  struct Tensor {
    std::uint64_t bytes = 0;
    bool filled = false;  ///< true for inputs; reading an unwritten output is a finding
  };
  std::uint64_t kept_workspace = 0, call_workspace = 0;  ///< bytes
  std::vector<Tensor> tensors;                           ///< of all shapes
};

inline std::vector<std::byte> encode_memory(const InspectorMemory& memory) {
  PayloadWriter writer;
  writer.put(memory.kept_workspace).put(memory.call_workspace).put(std::uint64_t{memory.tensors.size()});
  for (const auto& tensor : memory.tensors) writer.put(tensor.bytes).put(tensor.filled);
  return writer.take();
}

inline InspectorMemory decode_memory(PayloadReader& reader) {
  InspectorMemory memory;
  memory.kept_workspace = reader.take<std::uint64_t>();
  memory.call_workspace = reader.take<std::uint64_t>();
  memory.tensors.resize(static_cast<std::size_t>(reader.take<std::uint64_t>() % (1 << 20)));
  for (auto& tensor : memory.tensors) {
    tensor.bytes = reader.take<std::uint64_t>();
    tensor.filled = reader.take<bool>();
  }
  return memory;
}

}  // namespace kernelsmith::cuda
