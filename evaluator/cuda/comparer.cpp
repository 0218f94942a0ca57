#include "comparer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <kernelsmith/evaluator/dtypes.hpp>

namespace kernelsmith::cuda {
namespace {

constexpr std::uint32_t kThreads = 256;
/// Enough blocks to fill any device. Threads stride over further elements.
constexpr std::uint32_t kMostBlocks = 2048;

/// The layout that judge_kernels.cu writes.
struct Found {
  std::uint64_t suspects = 0;
  std::uint64_t worst_bits = 0;
  double squares = 0;
};

std::string kernel_of(const Look& look) {
  if (look.kind == Look::Kind::same_bytes) return "same_bytes";
  if (look.kind == Look::Kind::untouched) return "untouched";
  const bool wide = look.wide_weights && look.dtype != Dtype::f64;
  return "compare_" + std::string(name_of(look.dtype)) + (wide ? "_wide" : "");
}

std::uint32_t blocks_for(std::size_t threads) {
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>((threads + kThreads - 1) / kThreads, 1, kMostBlocks));
}

}  // namespace

Result<std::unique_ptr<Comparer>> Comparer::create(Device& device, std::span<const std::byte> image) {
  std::unique_ptr<Comparer> comparer(new Comparer(device));
  if (auto loaded = device.load(image); !loaded) return loaded.error();
  return comparer;
}

Status Comparer::make_room(std::size_t looks) {
  if (looks * sizeof(Found) <= found_.bytes()) return {};
  auto memory = device_.allocate(looks * sizeof(Found));
  if (!memory) return memory.error();
  found_ = std::move(*memory);
  return {};
}

Result<Device::Launch> Comparer::launch_for(const Look& look, std::uint64_t found) {
  const std::string name = kernel_of(look);
  auto known = functions_.find(name);
  if (known == functions_.end()) {
    auto function = device_.function(name);
    if (!function) return function.error();
    known = functions_.emplace(name, *function).first;
  }
  Device::Launch launch{known->second, {1, 1, 1}, {kThreads, 1, 1}, {}};
  switch (look.kind) {
    case Look::Kind::within_weights: {
      const std::size_t count = look.bytes / bytes_of(look.dtype);
      launch.grid[0] = blocks_for(count);
      launch.arguments = {look.actual, look.expected, look.weights, count, look.poison, found};
      break;
    }
    case Look::Kind::same_bytes:
      launch.grid[0] = blocks_for(look.bytes / 16 + 1);
      launch.arguments = {look.actual, look.expected, look.bytes, found};
      break;
    case Look::Kind::untouched:
      // One thread per byte, because margins are small.
      launch.grid[0] = static_cast<std::uint32_t>((look.bytes + kThreads - 1) / kThreads);
      launch.arguments = {look.actual, look.bytes, look.poison, look.phase, found};
      break;
  }
  return launch;
}

Result<std::vector<LookResult>> Comparer::look(std::span<const Look> looks) {
  if (looks.empty()) return std::vector<LookResult>();
  if (auto room = make_room(looks.size()); !room) return room.error();
  std::vector<Device::Launch> launches;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    auto launch = launch_for(looks[i], found_.address() + i * sizeof(Found));
    if (!launch) return launch.error();
    launches.push_back(std::move(*launch));
  }
  const Device::Move clear{found_.address(), 0, looks.size() * sizeof(Found), 0};
  if (auto done = device_.move({&clear, 1}); !done) return done.error();
  if (auto done = device_.launch(launches); !done) return done.error();
  std::vector<Found> found(looks.size());
  if (auto done = device_.download(std::as_writable_bytes(std::span(found)), found_.address()); !done)
    return done.error();
  std::vector<LookResult> results;
  for (const Found& one : found)
    results.push_back({one.suspects > 0, std::bit_cast<double>(one.worst_bits), one.squares});
  return results;
}

}  // namespace kernelsmith::cuda
