// Launches of the recorder.
#include <algorithm>
#include <cstring>

#include "planner/occupancy.hpp"
#include "planner/recorder.hpp"
#include "planner/refusals.hpp"
#include "planner/tensor_map_token.hpp"

namespace kernelsmith::cuda::planner {
namespace {

std::uint64_t product(const AbiDim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

plan::Dim3 dim3_of(const AbiDim3& size) { return {size.x, size.y, size.z}; }

/// Dynamic shared memory that this device allows without opt-in, if it is more than plan::check() assumes.
std::uint32_t given_unasked(const DeviceFacts& device, const plan::Kernel& kernel, std::size_t wish) {
  constexpr std::uint64_t kKnown = 48 << 10;  // plan::check()'s
  const std::uint64_t whole = kernel.static_shared + std::uint64_t{wish};
  if (whole <= kKnown || whole > value_of(device, kSharedPerBlock)) return 0;
  return std::max(1U, static_cast<std::uint32_t>(wish));
}

std::size_t parameter_bytes(const plan::Kernel& kernel) {
  std::size_t bytes = 0;
  for (const plan::Parameter& parameter : kernel.parameters)
    bytes = std::max<std::size_t>(bytes, parameter.offset + std::size_t{parameter.size});
  return bytes;
}

}  // namespace

/// plan::check() checks a launch's limits, but not how many blocks fit at once: that depends on the device,
/// which only the recorder knows.
bool Recorder::fits_at_once(const KernelState& state, const LaunchWish& wish, std::string_view function) {
  const std::uint64_t together = value_of(device(), kMultiprocessors) *
                                 blocks_per_multiprocessor(device(), state.kernel, product(wish.block),
                                                           wish.dynamic_shared, state.carveout);
  if (product(wish.grid) <= together) return true;
  refuse(function,
         "kernel " + state.kernel.name + ": a cooperative grid of " + std::to_string(product(wish.grid)) +
             " blocks, of which " + std::to_string(together) +
             in_runtime_names(" fit on the device at once: ask $OccupancyMaxActiveBlocksPerMultiprocessor",
                              runtime_names()));
  return false;
}

bool Recorder::collect_parameters(const plan::Kernel& kernel, const LaunchWish& wish, plan::Launch& launch,
                                  std::string_view function) {
  launch.parameters.resize(parameter_bytes(kernel));
  if (kernel.parameters.empty()) return true;
  if (wish.arguments == nullptr) {
    refuse(function, "kernel " + kernel.name + ": no arguments were given");
    return false;
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const plan::Parameter& parameter = kernel.parameters[i];
    std::memcpy(launch.parameters.data() + parameter.offset, wish.arguments[i], parameter.size);
  }
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= launch.parameters.size();
       at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, launch.parameters.data() + at, sizeof word);
    auto piece = pinned_.upper_bound(word);
    if (piece == pinned_.begin()) continue;
    --piece;
    if (word - piece->first >= piece->second) continue;
    refuse(function,
           "kernel " + kernel.name +
               in_runtime_names(" is given host memory ($MallocHost, $HostAlloc), which it cannot reach "
                                "from a plan: use the tensors, $MallocAsync or $Malloc",
                                runtime_names()));
    return false;
  }
  return true;
}

bool Recorder::find_tokens(plan::Launch& launch, std::string_view function) {
  // A map may be at any multiple of 8 bytes in the parameters, whatever alignment the map has.
  for (std::uint32_t at = 0; at + kTensorMapBytes <= launch.parameters.size(); at += 8) {
    const std::byte* const map = launch.parameters.data() + at;
    const auto token = token_in({map, kTensorMapBytes});
    if (!token) continue;
    const plan::TensorMap* const arguments = behind_token(map);
    if (arguments == nullptr) {
      refuse(function, "a tensor map was encoded too long ago: encode it in the call that uses it");
      return false;
    }
    const auto [entry, is_new] =
        map_numbers_.emplace(*token, static_cast<std::uint32_t>(call_.tensor_maps.size()));
    if (is_new) call_.tensor_maps.push_back(*arguments);
    launch.tensor_maps.push_back({at, entry->second});
    // The runner encodes the map, so the bytes in its place are irrelevant, and they differ from call to
    // call.
    std::fill_n(launch.parameters.begin() + at, kTensorMapBytes, std::byte{0});
  }
  return true;
}

Code Recorder::launch(const void* host, const LaunchWish& wish, std::string_view function) {
  if (!may_work(function)) return kNotSupported;
  const KernelState* const state = kernel(host, function);
  if (state == nullptr) return kNotSupported;
  if (wish.cooperative && !fits_at_once(*state, wish, function)) return kNotSupported;
  const auto stream = number_for_work(wish.stream, function);
  if (!stream) return kNotSupported;
  plan::Launch launch;
  launch.kernel = static_cast<std::uint32_t>(state - kernels_.data());
  launch.grid = dim3_of(wish.grid);
  launch.block = dim3_of(wish.block);
  launch.cluster = wish.cluster;
  launch.dynamic_shared = static_cast<std::uint32_t>(wish.dynamic_shared);
  launch.max_dynamic_shared =
      std::max(state->max_dynamic_shared, given_unasked(device(), state->kernel, wish.dynamic_shared));
  launch.shared_carveout = wish.carveout.value_or(state->carveout);
  launch.nonportable_cluster = state->nonportable_cluster;
  launch.cooperative = wish.cooperative;
  launch.programmatic = wish.programmatic;
  if (!collect_parameters(state->kernel, wish, launch, function)) return kNotSupported;
  if (!find_tokens(launch, function)) return kNotSupported;
  return push(*stream, std::move(launch));
}

}  // namespace kernelsmith::cuda::planner
