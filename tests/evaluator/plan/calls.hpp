// A call that is right, on two tensors and a workspace, for tests that break one thing at a time.
#pragma once

#include <cstring>

#include <kernelsmith/evaluator/plan.hpp>

#include "testing.hpp"

namespace kernelsmith::plan {

inline constexpr std::uint64_t kX = 0x10000, kY = 0x20000, kTensorBytes = 4096;
inline constexpr Workspace kWorkspace{0x100000, 0x200000, 65536};

/// x is an input, y an output.
inline std::vector<Buffer> buffers() { return {{kX, kTensorBytes, false}, {kY, kTensorBytes, true}}; }

/// scale(float*, const float*, int) and one that takes a tensor map.
inline std::vector<Kernel> kernels() {
  return {{0, "_Z5scalePfPKfi", {{0, 8}, {8, 8}, {16, 4}}, 32, 1024, 0},
          {0, "_Z4load14CUtensorMap_stPf", {{0, 128}, {128, 8}}, 40, 0, 0}};
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  if (bytes.size() < offset + sizeof value) bytes.resize(offset + sizeof value);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

inline Launch scale_launch() {
  Launch launch;
  launch.grid = {4, 1, 1};
  launch.block = {256, 1, 1};
  put(launch.parameters, 0, kY);
  put(launch.parameters, 8, kX);
  put(launch.parameters, 16, std::int32_t{1024});
  return launch;
}

inline Launch load_launch() {
  Launch launch;
  launch.kernel = 1;
  launch.block = {128, 1, 1};
  launch.parameters.resize(136);
  put(launch.parameters, 128, kY);
  launch.tensor_maps = {{0, 0}};
  return launch;
}

/// x as 32 x 32 floats.
inline TensorMap map_of_x() {
  TensorMap map;
  map.data_type = 7;
  map.rank = 2;
  map.address = kX;
  map.dimensions = {32, 32};
  map.strides = {128};
  map.box = {16, 16};
  map.element_strides = {1, 1};
  return map;
}

/// A call of these operations, on stream 0, with `call_workspace` 4096.
template <class... What>
Call call_of(What... what) {
  Call call;
  (call.operations.push_back({0, std::move(what)}), ...);
  call.kept_workspace = 1024;
  call.call_workspace = 4096;
  call.tensor_maps = {map_of_x()};
  return call;
}

inline Status check(const Call& call) { return check(call, kernels(), 1, buffers(), kWorkspace); }

/// "WHERE: MESSAGE" of what check() says; "right" if it says nothing.
inline std::string said_of(const Call& call) {
  const Status status = check(call);
  if (status) return "right";
  const Error error = status.error();
  const bool told = error.code == ErrorCode::bad_input && !error.hint.empty() && !error.where.empty();
  return told ? error.where + ": " + error.message : "no place or hint: " + error.message;
}

}  // namespace kernelsmith::plan
