// The protocol of judge and planner over one stream socket: a header, then that many bytes. The judge treats
// all messages of a planner as an adversary's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/plan_coders.hpp>
#include <kernelsmith/evaluator/plan_fields.hpp>

#include "planner/planner.hpp"

namespace kernelsmith::cuda::planner {

/// The descriptor that a planner starts with.
inline constexpr int kControlDescriptor = 3;

inline constexpr std::uint32_t kMagic = 0x4b53504cU;  // "KSPL"
/// The limit of a start message: 4096 kernels with names of 4 KB and 256 parameters. A call is at most
/// plan::kMaxEncodedCall.
inline constexpr std::uint64_t kMaxMessage = std::uint64_t{32} << 20;
/// The longest text: a mangled name and a sentence, with room for a list.
inline constexpr std::size_t kMaxText = 8 << 10;

/// The symbol of the generated shim that unpacks the arguments and calls the entry.
inline constexpr const char* kShimSymbol = "kernelsmith_plan_call";
using Shim = void (*)(void* const* tensors, const std::int64_t* sizes, void* stream);

enum class Kind : std::uint32_t {
  start = 1,    ///< from the judge, once: StartMessage
  ready = 2,    ///< planner: started, nothing of the candidate is loaded yet
  loaded = 3,   ///< planner: the host library is loaded
  request = 4,  ///< judge: CallRequest
  call = 5,     ///< planner: an encoded plan::Call
  refused = 6,  ///< planner, instead of loaded or call: the reason as text
  // The planner sends these before loaded, call or refused, each at most once.
  refusing = 7,  ///< why there will be no plan, as text; sent early, because the host code may end first
  left_out = 8,  ///< requests of the host code that the plan omits, one per line
};

struct Header {
  std::uint32_t magic = kMagic;
  Kind kind = Kind::start;
  std::uint64_t nonce = 0;  ///< secret number of the answered request; 0 before the first
  std::uint64_t bytes = 0;  ///< bytes that follow the header
};

/// The recording runtime's data when the library is loaded.
struct StartMessage {
  DeviceFacts device;
  plan::Workspace workspace;
  std::vector<plan::Kernel> kernels;
  std::vector<std::string> symbols;
  friend bool operator==(const StartMessage&, const StartMessage&) = default;
};

struct CallRequest {
  std::vector<plan::Buffer> buffers;  ///< one for each tensor
  std::vector<std::int64_t> sizes;
  friend bool operator==(const CallRequest&, const CallRequest&) = default;
};

template <class Coder>
void fields(Coder& coder, plan::Of<StartMessage> auto& message) {
  auto& device = message.device;
  coder.text(device.name, kMaxText);
  coder.number(device.arch);
  coder.number(device.memory_bytes);
  coder.number(device.driver_version);
  coder.number(device.occupancy.register_granule);
  coder.number(device.occupancy.shared_granule);
  coder.number(device.occupancy.partitions);
  coder.pairs(device.attributes, kMaxMessage);
  fields(coder, message.workspace);
  coder.list(message.kernels, plan::kMaxKernels);
  coder.list(message.symbols, kMaxMessage);
}

template <class Coder>
void fields(Coder& coder, plan::Of<CallRequest> auto& request) {
  coder.list(request.buffers, kMaxMessage);
  coder.list(request.sizes, kMaxMessage);
}

}  // namespace kernelsmith::cuda::planner
