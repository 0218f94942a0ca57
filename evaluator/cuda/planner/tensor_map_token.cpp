#include "planner/tensor_map_token.hpp"

#include <array>
#include <cstring>

namespace kernelsmith::cuda::planner {
namespace {

constexpr char kMark[17] = "kernelsmith tmap";

struct Token {
  std::array<char, 16> mark{};
  std::uint64_t number = 0;
  std::uint64_t inverse = 0;
};

}  // namespace

void write_token(std::span<std::byte, kTensorMapBytes> map, std::uint64_t number) {
  Token token;
  std::memcpy(token.mark.data(), kMark, token.mark.size());
  token.number = number;
  token.inverse = ~number;
  std::memset(map.data(), 0, map.size());
  std::memcpy(map.data(), &token, sizeof token);
}

std::optional<std::uint64_t> token_in(std::span<const std::byte> map) {
  Token token;
  if (map.size() < kTensorMapBytes) return {};
  std::memcpy(&token, map.data(), sizeof token);
  if (std::memcmp(token.mark.data(), kMark, token.mark.size()) != 0) return {};
  if (token.inverse != ~token.number) return {};
  return token.number;
}

}  // namespace kernelsmith::cuda::planner
