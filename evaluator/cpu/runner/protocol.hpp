// The protocol between judge and runner: fixed-size messages over one SOCK_SEQPACKET socket, and a header in
// the sealed inputs. The judge trusts none of it: a reply only tells the judge when to look.
#pragma once

#include <cstdint>

namespace kernelsmith::cpu::runner {

/// The descriptors that a runner starts with.
inline constexpr int kControlDescriptor = 3;
inline constexpr int kInputsDescriptor = 4;
inline constexpr int kOutputsDescriptor = 5;

/// The largest object that a runner has to keep.
inline constexpr std::uint64_t kMaxObjectBytes = 32ULL << 20;

inline constexpr std::uint32_t kMagic = 0x4b53524eU;  // "KSRN"
inline constexpr std::uint32_t kMaxTensors = 64;
inline constexpr std::uint32_t kMaxSizes = 64;

/// The symbol of the generated shim that unpacks the arguments and calls the entry.
inline constexpr const char* kShimSymbol = "kernelsmith_call";
using Shim = void (*)(void* const* tensors, const std::int64_t* sizes);

enum class Status : std::uint32_t { done = 1, loaded = 2, load_failed = 3, input_written = 4, ready = 5 };

/// Judge to runner, once: load the object in the attached descriptor.
struct LoadRequest {
  std::uint32_t magic = kMagic;
};

/// Judge to runner, after that: run the first `calls` rows of the call table.
struct Request {
  std::uint32_t magic = kMagic;
  std::uint32_t calls = 0;
  std::uint64_t nonce = 0;
};

/// Runner to judge. The nonce is the request's. It is 0 in the replies before the first request, which say
/// that the runner is ready for an object, and then whether the object was loaded.
struct Reply {
  std::uint32_t magic = kMagic;
  Status status = Status::done;
  std::uint64_t nonce = 0;
};

/// The header at the beginning of the inputs. Offsets are bytes within the inputs.
struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t tensors = 0;
  std::uint32_t sizes = 0;
  std::uint32_t guards = 0;
  std::uint64_t guards_offset = 0;  ///< of `guards` Guard records
  std::uint64_t table_offset = 0;   ///< of the call table: a row is `tensors` Argument and `sizes` int64
};

/// A page that nobody may touch, so that an access past a tensor's end faults.
struct Guard {
  std::uint64_t in_outputs = 0;
  std::uint64_t offset = 0;
};

/// The place of a tensor.
struct Argument {
  std::uint64_t in_outputs = 0;
  std::uint64_t offset = 0;
};

}  // namespace kernelsmith::cpu::runner
