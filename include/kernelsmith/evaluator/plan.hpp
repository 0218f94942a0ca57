// Plan: the part of a GPU candidate that the judge runs. The candidate's host code runs once for each call,
// in a sandbox without a GPU, against a runtime that records its requests. A trusted runner replays the
// record (docs/plan.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::plan {

/// x, y and z of a grid, block or cluster.
using Dim3 = std::array<std::uint32_t, 3>;

/// The place of one kernel parameter in the parameter block, in bytes.
struct Parameter {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// A kernel of one of the plan's cubins, with the compiler's data about it.
struct Kernel {
  std::uint32_t module = 0;  ///< index into Plan::cubins
  std::string name;          ///< the mangled name, as in the cubin
  std::vector<Parameter> parameters;
  std::uint32_t registers = 0;      ///< registers of a thread
  std::uint32_t static_shared = 0;  ///< bytes
  std::uint32_t local = 0;          ///< bytes of local memory of a thread: spills and arrays
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// The arguments of cuTensorMapEncodeTiled. The runner encodes the map, because that needs a device.
struct TensorMap {
  std::uint32_t data_type = 0, rank = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> dimensions{};
  std::array<std::uint64_t, 4> strides{};  ///< in bytes; one fewer than the rank
  std::array<std::uint32_t, 5> box{}, element_strides{};
  std::uint32_t interleave = 0, swizzle = 0, l2_promotion = 0, out_of_bounds_fill = 0;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// The place of an encoded tensor map (128 bytes) in a launch's parameters.
struct TensorMapUse {
  std::uint32_t offset = 0;  ///< into Launch::parameters
  std::uint32_t map = 0;     ///< index into Call::tensor_maps
  friend bool operator==(const TensorMapUse&, const TensorMapUse&) = default;
};

/// A kernel launch with its arguments.
struct Launch {
  std::uint32_t kernel = 0;  ///< index into Plan::kernels
  Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::optional<Dim3> cluster;           ///< set if the launch gave it
  std::uint32_t dynamic_shared = 0;      ///< bytes
  std::uint32_t max_dynamic_shared = 0;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize; 0: not set
  std::int32_t shared_carveout = -1;     ///< cudaFuncAttributePreferredSharedMemoryCarveout; -1: not set
  bool nonportable_cluster = false;      ///< cudaFuncAttributeNonPortableClusterSizeAllowed
  bool cooperative = false;
  bool programmatic = false;  ///< programmatic stream serialisation (dependent launch)
  std::vector<std::byte> parameters;
  std::vector<TensorMapUse> tensor_maps;
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Sets `count` elements of `element_bytes` (1, 2 or 4) to the low bytes of `value`.
struct Memset {
  std::uint64_t address = 0;
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;
  std::uint64_t count = 0;
  friend bool operator==(const Memset&, const Memset&) = default;
};

/// Copies from device to device.
struct Copy {
  std::uint64_t to = 0, from = 0, bytes = 0;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Copies from host to device: the bytes that were in the host's memory when the plan was made.
struct Upload {
  std::uint64_t to = 0;
  std::vector<std::byte> bytes;  ///< at most kMaxUpload
  friend bool operator==(const Upload&, const Upload&) = default;
};

/// cudaMemcpyToSymbol: copies to a __device__ or __constant__ variable of a cubin.
struct SymbolUpload {
  std::uint32_t module = 0;
  std::string symbol;
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;  ///< at most kMaxUpload
  friend bool operator==(const SymbolUpload&, const SymbolUpload&) = default;
};

/// cudaEventRecord. With EventWait (cudaStreamWaitEvent) it makes forks and joins inside the call.
struct EventRecord {
  std::uint32_t event = 0;
  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};
/// Waits on the operation's stream for the last record of an event.
struct EventWait {
  std::uint32_t event = 0;
  friend bool operator==(const EventWait&, const EventWait&) = default;
};

/// One step of a call, on one of its streams.
struct Operation {
  std::uint32_t stream = 0;  ///< 0: the stream that was passed to the call
  std::variant<Launch, Memset, Copy, Upload, SymbolUpload, EventRecord, EventWait> what;
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// One call of the entry on one set of buffers. Its operations are in the order of the host code.
struct Call {
  std::vector<Operation> operations;
  std::vector<TensorMap> tensor_maps;
  /// Bytes of workspace in use, from the beginning of each region (see Workspace).
  std::uint64_t kept_workspace = 0, call_workspace = 0;
  friend bool operator==(const Call&, const Call&) = default;
};

/// Two regions of device memory that all calls share. Memory from cudaMalloc is kept from call to call,
/// memory from cudaMallocAsync only until it is freed. Contents are undefined when a batch begins.
struct Workspace {
  std::uint64_t kept = 0, call = 0;  ///< addresses
  std::uint64_t bytes = 0;           ///< size of each region
  friend bool operator==(const Workspace&, const Workspace&) = default;
};

/// The runner's input: the calls of one batch, in order.
struct Plan {
  std::vector<std::vector<std::byte>> cubins;
  std::vector<Kernel> kernels;
  Workspace workspace;
  std::vector<Call> calls;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Limits of a plan. Until check() has accepted a plan, it may be an adversary's text.
inline constexpr std::size_t kMaxCubins = 256, kMaxKernels = 4096, kMaxName = 4096;
inline constexpr std::size_t kMaxParameters = 256, kMaxParameterBytes = 32764;  ///< CUDA 12.1's own limit
inline constexpr std::size_t kMaxOperations = 4096;                             ///< operations of a call
inline constexpr std::size_t kMaxStreams = 64, kMaxEvents = 1024, kMaxTensorMaps = 512;
inline constexpr std::size_t kMaxUpload = 64 << 10;
inline constexpr std::size_t kMaxCalls = 65536;  ///< calls of a batch: enough for 100 ms with calls of 2 us
inline constexpr std::size_t kMaxEncodedBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxEncodedCall = std::size_t{8}
                                               << 20;  ///< the judge holds the calls of a batch

/// A range of device memory that a call may use.
struct Buffer {
  std::uint64_t address = 0, bytes = 0;
  bool writable = false;  ///< false: a tensor of role `in`
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// Checks a launch against the limits of CUDA and of its kernel. Its errors do not say which launch it is.
Status check_launch(const Launch& launch, const Kernel& kernel, std::size_t tensor_maps);

/// Whether the runner may execute the call: indices are in range; sizes are within the limits of CUDA;
/// memsets, copies, uploads and tensor maps stay within `buffers` and the workspace (the device checks the
/// accesses of kernels); streams join stream 0 at the end; every event is recorded before an operation waits
/// for it. Errors: `bad_input`, in the candidate's terms.
Status check(const Call& call, std::span<const Kernel> kernels, std::size_t cubins,
             std::span<const Buffer> buffers, const Workspace& workspace);

// The file format (docs/plan.md). Single calls can be encoded too, because a planner sends them one at a
// time.
std::vector<std::byte> encode(const Plan& plan);
std::vector<std::byte> encode(const Call& call);
/// Errors: `bad_input`, with the position of the byte, if `bytes` are not a plan of this version or exceed a
/// limit.
Result<Plan> decode_plan(std::span<const std::byte> bytes);
Result<Call> decode_call(std::span<const std::byte> bytes);

/// A kernel's name in its source. The mangled name is demangled only if the result is short: the candidate
/// chooses mangled names, which can expand to texts of any length.
std::string readable_name(std::string_view mangled);

/// The address where a buffer begins, and the buffer's name, such as "x" or "y".
struct NamedBuffer {
  std::string name;
  Buffer buffer;
};

/// The call as text for people: one operation per line, with parameters as numbers or in the form "y + 4096".
std::string describe(const Call& call, std::span<const Kernel> kernels, std::span<const NamedBuffer> buffers,
                     const Workspace& workspace);

}  // namespace kernelsmith::plan
