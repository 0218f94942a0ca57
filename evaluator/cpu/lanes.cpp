#include "lanes.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace kernelsmith {
namespace {

/// A thread starts in some tens of microseconds, in which a core moves some hundred kilobytes.
constexpr std::size_t kBytesOfLane = std::size_t{1} << 20;
/// A few cores take all of a memory's bandwidth.
constexpr std::size_t kMostLanes = 4;
constexpr std::size_t kLine = 64;

}  // namespace

std::size_t lanes_for(std::size_t bytes) {
  static const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostLanes);
  return std::clamp<std::size_t>(bytes / kBytesOfLane, 1, most);
}

void in_lanes(std::size_t lanes, const std::function<void(std::size_t lane)>& work) {
  std::vector<std::future<void>> others;
  for (std::size_t lane = 1; lane < lanes; ++lane)
    others.push_back(std::async(std::launch::async, [&work, lane] { work(lane); }));
  work(0);
  for (std::future<void>& other : others) other.get();
}

std::span<std::byte> part_of(std::span<std::byte> bytes, std::size_t lane, std::size_t lanes) {
  const auto edge = [&](std::size_t i) {
    return i == lanes ? bytes.size() : bytes.size() * i / lanes / kLine * kLine;
  };
  return bytes.subspan(edge(lane), edge(lane + 1) - edge(lane));
}

}  // namespace kernelsmith
