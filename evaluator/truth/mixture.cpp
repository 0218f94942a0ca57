#include "truth/mixture.hpp"

#include <cmath>

namespace kernelsmith::truth {
namespace {

enum class Flavour { plain, scaled_rows, shifted_rows, peaks, outliers, bands, scattered_bands, count };

float between(double low, double high, SecretStream& random) {
  return static_cast<float>(low + (high - low) * random.uniform());
}
float draw_scale(SecretStream& random) { return std::exp2(between(-3, 3, random)); }
float draw_shift(SecretStream& random) { return between(-2, 2, random); }

/// Two kinds of values alternate along the tensor, every few places or at random. So neighbours may differ,
/// and a sample at equal distances may find only one kind.
void draw_bands(std::span<float> values, bool scattered, SecretStream& random) {
  constexpr std::size_t kNarrowest = 4, kWidths = 6;
  const std::size_t width = kNarrowest << random.below(kWidths), phase = random.below(2 * width);
  const float scale = draw_scale(random), shift = draw_shift(random);
  for (std::size_t begin = 0; begin < values.size();) {
    const std::size_t place = begin + phase, end = std::min(begin + width - place % width, values.size());
    const bool other = scattered ? random.below(2) == 0 : place / width % 2 == 0;
    for (std::size_t i = begin; other && i < end; ++i) values[i] = scale * values[i] + shift;
    begin = end;
  }
}

/// Outliers are sometimes above 88, where the exponential of an f32 overflows.
void draw_outliers(std::span<float> values, SecretStream& random) {
  constexpr std::size_t kOneIn = 1000;
  for (std::size_t i = 0; i < 1 + values.size() / kOneIn; ++i)
    values[random.below(values.size())] *= std::exp2(between(3, 7, random));
}

void draw_row(Flavour flavour, std::span<float> row, SecretStream& random) {
  const float scale = flavour == Flavour::scaled_rows ? draw_scale(random) : 1;
  const float shift = flavour == Flavour::shifted_rows ? draw_shift(random) : 0;
  if (flavour == Flavour::scaled_rows || flavour == Flavour::shifted_rows)
    for (float& value : row) value = scale * value + shift;
  if (flavour == Flavour::peaks) row[random.below(row.size())] += between(6, 12, random);
}

}  // namespace

void draw_mixture(std::span<float> values, std::size_t row_length, SecretStream& random) {
  const auto flavour = static_cast<Flavour>(random.below(static_cast<std::uint64_t>(Flavour::count)));
  random.fill_normal(values);
  for (std::size_t begin = 0; begin < values.size(); begin += row_length)
    draw_row(flavour, values.subspan(begin, row_length), random);
  if (flavour == Flavour::outliers) draw_outliers(values, random);
  if (flavour == Flavour::bands || flavour == Flavour::scattered_bands)
    draw_bands(values, flavour == Flavour::scattered_bands, random);
}

}  // namespace kernelsmith::truth
