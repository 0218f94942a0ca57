// Checks tensor maps against the requirements of cuTensorMapEncodeTiled (cuda.h). The driver checks
// combinations of arguments when the runner encodes the map.
#include <array>
#include <limits>
#include <string>

#include "plan/checks.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kMaxRank = 5, kMaxBox = 256, kMaxElementStride = 8;
constexpr std::uint64_t kMaxDimension = std::uint64_t{1} << 32, kStrideLimit = std::uint64_t{1} << 40;
constexpr std::uint64_t kAlignment = 16;  ///< bytes, of addresses and strides

/// Bits of an element in memory, by CUtensorMapDataType; the last three are packed.
constexpr std::array<std::uint64_t, 16> kElementBits{8,  16, 32, 32, 64, 64, 16, 32,
                                                     64, 16, 32, 32, 32, 4,  4,  6};

/// An overflow gives the largest number, which exceeds any memory.
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > kMost - b ? kMost : a + b; }

/// Bytes from the first to the end of the last element. With an interleaved layout a row is one slice of 16
/// or 32 bytes.
std::uint64_t span_of(const TensorMap& map) {
  const std::uint64_t row = map.interleave == 0
                                ? plus(times(map.dimensions[0], kElementBits[map.data_type]), 7) / 8
                                : kAlignment * map.interleave;
  std::uint64_t bytes = row;
  for (std::size_t i = 1; i < map.rank; ++i)
    bytes = plus(bytes, times(map.dimensions[i] - 1, map.strides[i - 1]));
  return bytes;
}

Status check_enumerations(const TensorMap& map) {
  struct Choice {
    const char* name;
    std::uint32_t value, last;
  };
  for (const Choice& choice :
       {Choice{"tensorDataType", map.data_type, kElementBits.size() - 1},
        Choice{"interleave", map.interleave, 2}, Choice{"swizzle", map.swizzle, 6},
        Choice{"l2Promotion", map.l2_promotion, 3}, Choice{"oobFill", map.out_of_bounds_fill, 1}})
    if (choice.value > choice.last)
      return refuse(std::string(choice.name) + " is " + std::to_string(choice.value) +
                        "; the last known is " + std::to_string(choice.last),
                    "Use the enumerators of cuda.h");
  return {};
}

Status check_dimension(const TensorMap& map, std::size_t i) {
  const auto wrong = [&](const char* name, std::uint64_t value, const char* allowed) {
    return refuse(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(value) +
                      "; allowed: " + allowed,
                  "See the requirements of cuTensorMapEncodeTiled");
  };
  if (map.dimensions[i] == 0 || map.dimensions[i] > kMaxDimension)
    return wrong("globalDim", map.dimensions[i], "1 to 2^32");
  if (map.box[i] == 0 || map.box[i] > kMaxBox) return wrong("boxDim", map.box[i], "1 to 256");
  if (map.element_strides[i] == 0 || map.element_strides[i] > kMaxElementStride)
    return wrong("elementStrides", map.element_strides[i], "1 to 8");
  if (i + 1 < map.rank && (map.strides[i] % kAlignment != 0 || map.strides[i] >= kStrideLimit))
    return wrong("globalStrides", map.strides[i], "multiples of 16 below 2^40");
  return {};
}

}  // namespace

Status check_tensor_map(const TensorMap& map, const Places& places) {
  if (Status status = check_enumerations(map); !status) return status;
  if (map.rank == 0 || map.rank > kMaxRank)
    return refuse("tensorRank is " + std::to_string(map.rank) + "; allowed: 1 to 5",
                  "Fold dimensions that lie one behind the other into one");
  for (std::size_t i = 0; i < map.rank; ++i)
    if (Status status = check_dimension(map, i); !status) return status;
  if (map.address % kAlignment != 0)
    return refuse("globalAddress " + hexadecimal(map.address) + " is not a multiple of 16",
                  "Tensor maps need tensors that begin at a multiple of 16 bytes");
  return places.allow(Access::covers, map.address, span_of(map));
}

}  // namespace kernelsmith::plan
