// What judge and inspector say to each other, over the runner's channel:
//
//   start   <- done, or refused
//   map     -> {InspectorMemory}, a descriptor of the filled tensors' values in order;
//           <- done {kept, call, address, ...}
//   replay  -> the encoded plan of one shape, a single call;
//           <- done, or refused (the last answer)
//   forget  -> nothing: the inspector ends, as a program under a tool must
#pragma once

#include <cstdint>
#include <vector>

#include "runner/protocol.hpp"

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

template <class Coder>
void fields(Coder& coder, plan::Of<InspectorMemory::Tensor> auto& tensor) {
  coder.number(tensor.bytes);
  coder.flag(tensor.filled);
}

template <class Coder>
void fields(Coder& coder, plan::Of<InspectorMemory> auto& memory) {
  coder.number(memory.kept_workspace);
  coder.number(memory.call_workspace);
  coder.list(memory.tensors, plan::kMaxEncodedBytes);
}

}  // namespace kernelsmith::cuda
