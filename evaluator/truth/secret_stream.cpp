// Random numbers from a secret key, by a counter-based generator.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <sys/random.h>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith {
namespace {

std::uint64_t from_kernel() {
  std::uint64_t word = 0;
  while (::getrandom(&word, sizeof word, 0) != sizeof word) {
  }
  return word;
}

/// Values that are computed together, so that the compiler vectorises the arithmetic.
constexpr std::size_t kBlock = 256;

/// Box and Muller with polynomials, because library functions are not vectorised. They are accurate to 1e-6,
/// which is normal enough. Uses 24 bits for the radius and 24 for the angle.
void normals_from(const std::array<std::uint64_t, kBlock>& words, std::array<float, kBlock>& cosines,
                  std::array<float, kBlock>& sines) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto high = static_cast<std::uint32_t>(words[i] >> 40);
    const auto low = static_cast<std::uint32_t>(words[i] >> 8) & 0xffffffU;
    // u = m 2^e, m in [1, 2); log m = 2 atanh((m - 1) / (m + 1)).
    const auto u =
        std::bit_cast<std::uint32_t>((static_cast<float>(static_cast<int>(high)) + 0.5F) * 0x1p-24F);
    const float m = std::bit_cast<float>((u & 0x7fffffU) | 0x3f800000U), z = (m - 1) / (m + 1), w = z * z;
    const float log_m = z * (2 + w * (2 / 3.0F + w * (2 / 5.0F + w * (2 / 7.0F + w * (2 / 9.0F)))));
    const float log_u = static_cast<float>(static_cast<int>(u >> 23) - 127) * 0.693147181F + log_m;
    const float radius = std::sqrt(-2 * log_u);
    // An angle of up to an eighth of a turn around one of four directions.
    const auto quadrant = ((low + 0x200000U) >> 22) & 3U;
    const float a = static_cast<float>(static_cast<int>(((low + 0x200000U) & 0x3fffffU)) - 0x200000) *
                    (1.570796327F * 0x1p-22F);
    const float b = a * a;
    const float sine = a * (1 - b * (1 / 6.0F - b * (1 / 120.0F - b * (1 / 5040.0F))));
    const float cosine = 1 - b * (0.5F - b * (1 / 24.0F - b * (1 / 720.0F - b * (1 / 40320.0F))));
    const float x = (quadrant & 1U) != 0 ? sine : cosine, y = (quadrant & 1U) != 0 ? cosine : sine;
    cosines[i] = radius * (quadrant == 1 || quadrant == 2 ? -x : x);
    sines[i] = radius * (quadrant >= 2 ? -y : y);
  }
}

}  // namespace

std::array<std::uint64_t, 2> draw_key() { return {from_kernel(), from_kernel()}; }

SecretStream::SecretStream() : SecretStream(draw_key()) {}
SecretStream::SecretStream(std::array<std::uint64_t, 2> key) : rng_(key[0], key[1], Purpose::evaluation) {}

std::uint64_t SecretStream::word() { return rng_(); }
double SecretStream::uniform() { return rng_.uniform(); }
std::uint64_t SecretStream::below(std::uint64_t n) { return rng_.below(n); }

void SecretStream::fill_uniform(std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const std::uint64_t bits = word();
    values[i] = static_cast<float>(bits >> 40) * 0x1p-24F;
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(bits >> 16 & 0xffffffU) * 0x1p-24F;
  }
}

void SecretStream::fill_normal(std::span<float> values) {
  std::array<std::uint64_t, kBlock> words{};
  std::array<float, kBlock> cosines{}, sines{};
  for (std::size_t begin = 0; begin < values.size(); begin += 2 * kBlock) {
    const std::size_t count = std::min(values.size() - begin, 2 * kBlock);
    for (std::size_t i = 0; i < (count + 1) / 2; ++i) words[i] = word();
    normals_from(words, cosines, sines);
    for (std::size_t i = 0; i < count; ++i) values[begin + i] = i % 2 == 0 ? cosines[i / 2] : sines[i / 2];
  }
}

std::uint32_t draw_poison(SecretStream& random) {
  return 0x7ff00000U | static_cast<std::uint32_t>(random.below(1U << 20U));
}

}  // namespace kernelsmith
