// The token that a CUtensorMap holds until the runner, which has a device, encodes the map. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kernelsmith::cuda::planner {

inline constexpr std::size_t kTensorMapBytes = 128;  ///< of a CUtensorMap

/// Writes the token of map `number` into the bytes.
void write_token(std::span<std::byte, kTensorMapBytes> map, std::uint64_t number);
/// The map's number if the bytes are a token.
std::optional<std::uint64_t> token_in(std::span<const std::byte> map);

}  // namespace kernelsmith::cuda::planner
