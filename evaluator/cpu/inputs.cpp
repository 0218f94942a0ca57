#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include <sys/random.h>

namespace kernelsmith {
namespace {

std::uint64_t from_kernel() {
  std::uint64_t word = 0;
  while (::getrandom(&word, sizeof word, 0) != sizeof word) {
  }
  return word;
}

enum class Flavour { plain, scaled_rows, shifted_rows, peaks, outliers, bands, scattered_bands, count };

double draw_scale(SecretStream& random) { return std::exp2(random.uniform() * 6 - 3); }
double draw_shift(SecretStream& random) { return random.uniform() * 4 - 2; }

/// Values of one row are `scale * x + shift`, with one position of `peak` added.
struct Row {
  double scale = 1, shift = 0, peak = 0;
  std::size_t peak_at = 0;
};

Row draw_row(Flavour flavour, std::size_t length, SecretStream& random) {
  Row row;
  if (flavour == Flavour::scaled_rows) row.scale = draw_scale(random);
  if (flavour == Flavour::shifted_rows) row.shift = draw_shift(random);
  if (flavour == Flavour::peaks) {
    row.peak = 6 + random.uniform() * 6;
    row.peak_at = random.below(length);
  }
  return row;
}

/// Values of two kinds take turns along the tensor, every few places or at random: what is true of some need
/// not be true of those beside them, and a sample at equal distances can meet one kind alone.
void draw_bands(std::vector<double>& values, bool scattered, SecretStream& random) {
  constexpr std::size_t kNarrowest = 4, kWidths = 6;
  const std::size_t width = kNarrowest << random.below(kWidths), phase = random.below(2 * width);
  const double scale = draw_scale(random), shift = draw_shift(random);
  bool other = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = i + phase;
    if (i == 0 || place % width == 0) other = scattered ? random.below(2) == 0 : place / width % 2 == 0;
    if (other) values[i] = scale * values[i] + shift;
  }
}

void draw_mixture(std::vector<double>& values, std::size_t row_length, SecretStream& random) {
  const auto flavour = static_cast<Flavour>(random.below(static_cast<std::uint64_t>(Flavour::count)));
  for (std::size_t begin = 0; begin < values.size(); begin += row_length) {
    const Row row = draw_row(flavour, row_length, random);
    for (std::size_t i = 0; i < row_length; i += 2) {
      const auto pair = random.normals();
      values[begin + i] = row.scale * static_cast<double>(pair[0]) + row.shift;
      if (i + 1 < row_length) values[begin + i + 1] = row.scale * static_cast<double>(pair[1]) + row.shift;
    }
    values[begin + row.peak_at] += row.peak;
  }
  if (flavour == Flavour::bands || flavour == Flavour::scattered_bands)
    draw_bands(values, flavour == Flavour::scattered_bands, random);
  if (flavour != Flavour::outliers) return;
  const std::size_t outliers = 1 + values.size() / 1000;
  // Beyond where the exponential of an f32 overflows now and then, about 88.
  for (std::size_t i = 0; i < outliers; ++i)
    values[random.below(values.size())] *= std::exp2(3 + 4 * random.uniform());
}

/// Of each kind that the task declares one.
std::vector<double> draw_kinds(const Specials& specials, SecretStream& random) {
  std::vector<double> kinds;
  if (specials.nan) kinds.push_back(std::numeric_limits<double>::quiet_NaN());
  for (const int sign : {1, -1}) {
    if (specials.infinities) kinds.push_back(sign * std::numeric_limits<double>::infinity());
    if (specials.large) kinds.push_back(sign * std::exp2(10 + 20 * random.uniform()));
  }
  // Any denormal f32, of either sign.
  if (specials.denormals)
    kinds.push_back(std::ldexp(static_cast<double>(1 + random.below((1U << 23U) - 1)), -149) *
                    (random.below(2) == 0 ? 1 : -1));
  return kinds;
}

struct Special {
  std::size_t place;
  double value;
};

/// In a sixteenth of the rows, most of what depends on a row or a column stays finite; in more where there
/// are few, but not in more than a fourth, so that a set shows each kind. One or two to a row.
std::vector<Special> draw_specials(const Specials& specials, std::size_t elements, std::size_t row_length,
                                   SecretStream& random) {
  constexpr std::size_t kRowsForOne = 16, kLeastRowsForOne = 4;
  const std::size_t rows = elements / row_length, kinds = draw_kinds(specials, random).size();
  const std::size_t wanted = std::max(1 + rows / kRowsForOne, std::min(kinds, rows / kLeastRowsForOne));
  const std::size_t first = random.below(kinds);
  std::vector<Special> drawn;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t row = random.below(rows) * row_length;
    const auto put = [&](std::size_t kind) {
      drawn.push_back({row + random.below(row_length), draw_kinds(specials, random)[kind]});
    };
    put((first + i) % kinds);
    if (random.below(2) == 0) put(random.below(kinds));
  }
  return drawn;
}

bool is_integer(Dtype dtype) { return dtype != Dtype::f64 && dtype != Dtype::f32; }

struct Range {
  std::int64_t least, most;
};

Range range_of(Dtype dtype) {
  if (dtype == Dtype::u8) return {0, 255};
  if (dtype == Dtype::i8) return {-128, 127};
  return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
}

/// Every other tensor goes beyond a byte, as far as sums of some hundred products stay within 32 bits: a
/// kernel that cuts its inputs short, or looks them up, is wrong there. What has the type of a byte takes all
/// of it.
void draw_integers(TensorInit init, Dtype dtype, std::vector<double>& values, SecretStream& random) {
  // In a real type they are there to be exact in a lower precision too.
  const std::int64_t reach = is_integer(dtype) && random.below(2) == 0 ? 2000 : 100;
  Range range = range_of(dtype);
  range.least = std::max(range.least, init == TensorInit::positive ? 1 : -reach);
  range.most = std::min(range.most, reach);
  const auto count = static_cast<std::uint64_t>(range.most - range.least + 1);
  std::ranges::generate(values, [&] {
    return static_cast<double>(range.least + static_cast<std::int64_t>(random.below(count)));
  });
}

void draw_values(TensorInit init, Dtype dtype, std::vector<double>& values, std::size_t row_length,
                 SecretStream& random) {
  if (init == TensorInit::zeros) return;
  if (init == TensorInit::integer || is_integer(dtype)) return draw_integers(init, dtype, values, random);
  if (init == TensorInit::uniform)
    return static_cast<void>(std::ranges::generate(values, [&] { return random.uniform() * 2 - 1; }));
  draw_mixture(values, row_length, random);
  if (init == TensorInit::positive)
    for (double& value : values) value = std::fabs(value) + 1e-3;
}

template <class T>
void put(std::byte* to, double value) {
  if constexpr (std::numeric_limits<T>::is_integer)
    value = std::clamp(value, static_cast<double>(std::numeric_limits<T>::min()),
                       static_cast<double>(std::numeric_limits<T>::max()));
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof(T));
}

/// Calls `visit` with the C++ type of the elements.
template <class Visit>
void with_type_of(Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::f64:
      return visit(double{});
    case Dtype::f32:
      return visit(float{});
    case Dtype::i64:
      return visit(std::int64_t{});
    case Dtype::i32:
      return visit(std::int32_t{});
    case Dtype::i8:
      return visit(std::int8_t{});
    case Dtype::u8:
      return visit(std::uint8_t{});
    case Dtype::f16:
    case Dtype::bf16:
      break;
  }
}

std::size_t row_length_of(const TensorExtent& extent) {
  return extent.shape.empty() ? 1 : static_cast<std::size_t>(extent.shape.back());
}

}  // namespace

SecretStream::SecretStream() : rng_(from_kernel(), from_kernel(), Purpose::evaluation) {}

std::uint64_t SecretStream::word() { return rng_(); }
double SecretStream::uniform() { return rng_.uniform(); }
std::uint64_t SecretStream::below(std::uint64_t n) { return rng_.below(n); }

/// Box and Muller from the two halves of one word.
std::array<float, 2> SecretStream::normals() {
  const std::uint64_t bits = word();
  const float u = (static_cast<float>(bits >> 40) + 0.5F) * 0x1p-24F;
  const float v = static_cast<float>((bits >> 8) & 0xffffffU) * 0x1p-24F;
  const float radius = std::sqrt(-2 * std::log(u));
  const float angle = 2 * std::numbers::pi_v<float> * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

Bytes draw_tensor(const TensorSpec& spec, const TensorExtent& extent, SecretStream& random) {
  std::vector<double> values(extent.elements, 0.0);
  draw_values(spec.init, spec.dtype, values, row_length_of(extent), random);
  Bytes bytes;
  with_type_of(spec.dtype, [&]<class T>(T) {
    bytes.resize(values.size() * sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) put<T>(bytes.data() + i * sizeof(T), values[i]);
  });
  return bytes;
}

Bytes with_specials(const TensorSpec& spec, const TensorExtent& extent, Bytes values, SecretStream& random) {
  if (!spec.specials.any()) return values;
  with_type_of(spec.dtype, [&]<class T>(T) {
    for (const Special& special :
         draw_specials(spec.specials, extent.elements, row_length_of(extent), random))
      put<T>(values.data() + special.place * sizeof(T), special.value);
  });
  return values;
}

}  // namespace kernelsmith
