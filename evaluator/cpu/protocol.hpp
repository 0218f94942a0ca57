// What judge and runner say to each other: fixed-size messages over one SOCK_SEQPACKET socket, a header in
// the sealed inputs, and for calls that are shown one by one a pipe and counters. The judge believes none
// of it: a reply only tells when to look.
#pragma once

#include <cstdint>

namespace kernelsmith::runner {

/// The descriptors that a runner is born with.
inline constexpr int kControlDescriptor = 3;
inline constexpr int kInputsDescriptor = 4;
inline constexpr int kOutputsDescriptor = 5;
inline constexpr int kStreamDescriptor = 6;  ///< a pipe

/// What a runner has to keep of an object, at most.
inline constexpr std::uint64_t kMaxObjectBytes = 32ULL << 20;

inline constexpr std::uint32_t kMagic = 0x4b53524eU;  // "KSRN"
inline constexpr std::uint32_t kMaxTensors = 64;
inline constexpr std::uint32_t kMaxSizes = 64;

/// The symbol of the generated shim that unpacks the arguments and calls the entry.
inline constexpr const char* kShimSymbol = "kernelsmith_call";
using Shim = void (*)(void* const* tensors, const std::int64_t* sizes);

enum class Status : std::uint32_t { done = 1, loaded = 2, load_failed = 3, input_written = 4, ready = 5 };

/// Judge to runner, once: load the object whose descriptor comes with it.
struct LoadRequest {
  std::uint32_t magic = kMagic;
};

enum class Manner : std::uint32_t {
  at_once,     ///< all inputs are there
  one_by_one,  ///< each call's come when the call before it is done: see Steps
  not_at_all,  ///< as one_by_one without the calls themselves, which tells what the rest costs
};

/// Judge to runner, after that: do `calls` rows of the call table, from row `first` on; one by one always
/// row 0, which changes.
struct Request {
  std::uint32_t magic = kMagic;
  std::uint32_t calls = 0;
  std::uint64_t nonce = 0;
  std::uint64_t first = 0;
  Manner manner = Manner::at_once;
  std::uint32_t unused = 0;
};

/// Runner to judge. The nonce is the request's; 0 before the first, when it tells that it is ready for an
/// object, and of the loading.
struct Reply {
  std::uint32_t magic = kMagic;
  Status status = Status::done;
  std::uint64_t nonce = 0;
};

/// At offset 0 of the inputs. Offsets are bytes within the inputs.
struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t tensors = 0;
  std::uint32_t sizes = 0;
  std::uint32_t guards = 0;
  std::uint64_t guards_offset = 0;   ///< of `guards` Guard records
  std::uint64_t table_offset = 0;    ///< of the call table: a row is `tensors` Argument and `sizes` int64
  std::uint64_t steps_offset = 0;    ///< of Steps
  std::uint64_t answers_offset = 0;  ///< of StepAnswers, in the outputs
};

/// Bytes in the outputs.
struct Part {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// In the inputs, for calls one by one. When `prepared` has reached a call's number, counted from 1, row 0
/// and the parts are the call's. Its inputs come through the pipe, all at once, some time after it was said
/// to be ready for them: nothing tells when but the pipe, so that whoever asks it all the time has them no
/// earlier.
struct Steps {
  std::uint64_t prepared = 0;
  std::uint64_t inputs = 0, outputs = 0;  ///< how many parts
  Part input[kMaxTensors];                ///< to be taken from the pipe, one after the other
  Part output[kMaxTensors];               ///< to be had in the caches
};

/// In the outputs: the runner's answers, calls counted likewise.
struct StepAnswers {
  alignas(64) std::uint64_t done = 0;
  alignas(64) std::uint64_t ready = 0;  ///< for the inputs
};

/// A page that nobody may touch, so that an access past a tensor's end faults.
struct Guard {
  std::uint64_t in_outputs = 0;
  std::uint64_t offset = 0;
};

/// Where a tensor stands.
struct Argument {
  std::uint64_t in_outputs = 0;
  std::uint64_t offset = 0;
};

}  // namespace kernelsmith::runner
