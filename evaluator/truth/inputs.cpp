#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/inputs.hpp>

#include "truth/elements.hpp"
#include "truth/mixture.hpp"

namespace kernelsmith {
namespace truth {
namespace {

/// The generator of one tensor.
struct Drawing {
  const TensorSpec& spec;
  const TensorExtent& extent;
  const Sizes& sizes;
  SecretStream& random;

  std::size_t row_length() const {
    return extent.shape.empty() ? 1 : static_cast<std::size_t>(extent.shape.back());
  }
  /// A bound of the spec; 0 if it has none.
  Result<std::int64_t> bound(const std::string& expression) const {
    if (expression.empty()) return std::int64_t{0};
    return evaluate_expression(expression, sizes);
  }
};

void store_integer(const Drawing& draw, Bytes& bytes, std::size_t i, std::int64_t value) {
  store_element(draw.spec.dtype, bytes.data(), i, static_cast<double>(value));
}

/// Reals are drawn as floats, which are already in place if the tensor is f32.
template <class Fill>
void fill_reals(const Drawing& draw, Bytes& bytes, const Fill& fill) {
  if (draw.spec.dtype == Dtype::f32)
    return fill(std::span(reinterpret_cast<float*>(bytes.data()), draw.extent.elements));
  std::vector<float> values(draw.extent.elements);
  fill(std::span(values));
  if (draw.spec.dtype == Dtype::f64) {
    // Adds digits below f32's, so that inputs are not exact in f32; towards zero, so that uniform numbers
    // stay above -1.
    for (std::size_t i = 0; i < values.size(); ++i)
      store(bytes.data(), i, static_cast<double>(values[i]) * (1 - 0x1p-25 * draw.random.uniform()));
    return;
  }
  const DtypeTraits& traits = traits_of(draw.spec.dtype);
  for (std::size_t i = 0; i < values.size(); ++i)
    store_element(draw.spec.dtype, bytes.data(), i,
                  std::clamp(static_cast<double>(values[i]), traits.lowest, traits.highest));
}

/// Byte types use their full range. Every second tensor of wider integers exceeds a byte, but sums of some
/// hundred products fit in 32 bits: this detects kernels that truncate inputs or use look-up tables. In a
/// real type the values stay exact in a lower precision.
void draw_integers(const Drawing& draw, Bytes& bytes) {
  const DtypeTraits& traits = traits_of(draw.spec.dtype);
  double most = traits.real ? std::min(100.0, std::ldexp(1.0, traits.digits)) : traits.highest;
  if (!traits.real && traits.bytes > 1) most = draw.random.below(2) == 0 ? 2000 : 100;
  const double least =
      draw.spec.init == TensorInit::positive
          ? std::min(most, 1.0)
          : std::max(traits.lowest, traits.bytes == 1 && !traits.real ? traits.lowest : -most);
  const auto count = static_cast<std::uint64_t>(most - least + 1);
  for (std::size_t i = 0; i < draw.extent.elements; ++i)
    store_element(draw.spec.dtype, bytes.data(), i, least + static_cast<double>(draw.random.below(count)));
}

Status draw_range(const Drawing& draw, Bytes& bytes) {
  const auto low = draw.bound(draw.spec.low), high = draw.bound(draw.spec.high);
  if (!low) return low.error();
  if (!high) return high.error();
  if (*low >= *high)
    return fail(ErrorCode::bad_input,
                "the range from " + std::to_string(*low) + " to " + std::to_string(*high) + " is empty",
                "tensor '" + draw.spec.name + "'", "`high` itself is not drawn");
  const auto count = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
  for (std::size_t i = 0; i < draw.extent.elements; ++i)
    store_integer(draw, bytes, i, *low + static_cast<std::int64_t>(draw.random.below(count)));
  return {};
}

/// The offsets of each row are sorted; the first is 0, and the last is `high`. One in kEmptyOneIn repeats
/// another, so that some segments are empty.
Status draw_offsets(const Drawing& draw, Bytes& bytes) {
  constexpr std::uint64_t kEmptyOneIn = 8;
  const auto high = draw.bound(draw.spec.high);
  if (!high) return high.error();
  if (*high < 0) return fail(ErrorCode::bad_input, "`high` is negative", "tensor '" + draw.spec.name + "'");
  std::vector<std::int64_t> row(draw.row_length());
  for (std::size_t begin = 0; begin < draw.extent.elements; begin += row.size()) {
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = i > 0 && draw.random.below(kEmptyOneIn) == 0
                   ? row[i - 1]
                   : static_cast<std::int64_t>(draw.random.below(static_cast<std::uint64_t>(*high) + 1));
    std::ranges::sort(row);
    row.back() = *high;
    row.front() = 0;
    for (std::size_t i = 0; i < row.size(); ++i) store_integer(draw, bytes, begin + i, row[i]);
  }
  return {};
}

void draw_permutations(const Drawing& draw, Bytes& bytes) {
  const std::size_t length = draw.row_length();
  std::vector<std::int64_t> row(length);
  for (std::size_t begin = 0; begin < draw.extent.elements; begin += length) {
    for (std::size_t i = 0; i < length; ++i) row[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = length; i > 1; --i) std::swap(row[i - 1], row[draw.random.below(i)]);
    for (std::size_t i = 0; i < length; ++i) store_integer(draw, bytes, begin + i, row[i]);
  }
}

void draw_one_hot(const Drawing& draw, Bytes& bytes) {
  for (std::size_t begin = 0; begin < draw.extent.elements; begin += draw.row_length())
    store_integer(draw, bytes, begin + draw.random.below(draw.row_length()), 1);
}

/// Along each dimension half of the slices repeat earlier ones: for example, in a third of all lines the
/// largest value is duplicated.
void put_ties(const Drawing& draw, Bytes& bytes) {
  std::size_t slice = bytes.size();
  for (const std::int64_t length : draw.extent.shape) {
    const std::size_t whole = slice;
    slice /= static_cast<std::size_t>(length);
    std::vector<std::pair<std::size_t, std::size_t>> copies;
    for (std::size_t i = 1; i < static_cast<std::size_t>(length); ++i)
      if (draw.random.below(2) == 0) copies.emplace_back(i * slice, draw.random.below(i) * slice);
    for (std::size_t begin = 0; begin < bytes.size(); begin += whole)
      for (const auto& [to, from] : copies)
        std::memcpy(bytes.data() + begin + to, bytes.data() + begin + from, slice);
  }
}

Status draw_values(const Drawing& draw, Bytes& bytes) {
  const auto uniform = [&](std::span<float> values) {
    // A narrow type would round the largest ones to 1, where functions such as atanh() are undefined.
    const float most = 1 - static_cast<float>(traits_of(draw.spec.dtype).unit_roundoff);
    draw.random.fill_uniform(values);
    for (float& value : values) value = std::min(2 * value - 1, most);
  };
  const auto mixture = [&](std::span<float> values) { draw_mixture(values, draw.row_length(), draw.random); };
  const auto positive = [&](std::span<float> values) {
    mixture(values);
    for (float& value : values) value = std::fabs(value) + kLeastPositive;
  };
  const bool real = traits_of(draw.spec.dtype).real;
  switch (draw.spec.init) {
    case TensorInit::normal:
      real ? fill_reals(draw, bytes, mixture) : draw_integers(draw, bytes);
      return {};
    case TensorInit::ties:
      real ? fill_reals(draw, bytes, mixture) : draw_integers(draw, bytes);
      put_ties(draw, bytes);
      return {};
    case TensorInit::uniform:
      real ? fill_reals(draw, bytes, uniform) : draw_integers(draw, bytes);
      return {};
    case TensorInit::positive:
      real ? fill_reals(draw, bytes, positive) : draw_integers(draw, bytes);
      return {};
    case TensorInit::integer:
      draw_integers(draw, bytes);
      return {};
    case TensorInit::range:
      return draw_range(draw, bytes);
    case TensorInit::offsets:
      return draw_offsets(draw, bytes);
    case TensorInit::permutation:
      draw_permutations(draw, bytes);
      return {};
    case TensorInit::one_hot:
      draw_one_hot(draw, bytes);
      return {};
    case TensorInit::zeros:
    case TensorInit::generated:
      break;
  }
  return {};
}

/// One value of each declared kind.
std::vector<double> draw_kinds(const TensorSpec& spec, SecretStream& random) {
  const DtypeTraits& traits = traits_of(spec.dtype);
  // Large values are between a thousand and a thousand million, or the type's maximum.
  const double most = std::min(30.0, std::log2(traits.highest) - 1), least = std::min(10.0, most - 2);
  std::vector<double> kinds;
  if (spec.specials.nan) kinds.push_back(std::numeric_limits<double>::quiet_NaN());
  for (const int sign : {1, -1}) {
    if (spec.specials.infinities) kinds.push_back(sign * std::numeric_limits<double>::infinity());
    if (spec.specials.large) kinds.push_back(sign * std::exp2(least + (most - least) * random.uniform()));
  }
  if (spec.specials.denormals)
    kinds.push_back((traits.least_denormal + random.uniform() * (traits.least_normal / 2)) *
                    (random.below(2) == 0 ? 1 : -1));
  return kinds;
}

/// Special values in a sixteenth of the rows leave most row and column results finite. If there are few rows,
/// up to a quarter have them, so that a set has each kind. Such a row has one or two special values.
void put_specials(const Drawing& draw, Bytes& bytes) {
  constexpr std::size_t kRowsForOne = 16, kLeastRowsForOne = 4;
  SecretStream& random = draw.random;
  const std::size_t length = draw.row_length(), rows = draw.extent.elements / length;
  const std::size_t kinds = draw_kinds(draw.spec, random).size();
  const std::size_t wanted = std::max(1 + rows / kRowsForOne, std::min(kinds, rows / kLeastRowsForOne));
  const std::size_t first = random.below(kinds);
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t row = random.below(rows) * length;
    const auto put = [&](std::size_t kind) {
      const double value = draw_kinds(draw.spec, random)[kind];
      store_element(draw.spec.dtype, bytes.data(), row + random.below(length), value);
    };
    put((first + i) % kinds);
    if (random.below(2) == 0) put(random.below(kinds));
  }
}

}  // namespace
}  // namespace truth

std::size_t TaskShape::bytes() const {
  std::size_t total = 0;
  for (const TensorExtent& extent : extents) total += extent.bytes;
  return total;
}

std::vector<TaskShape> shapes_of(const Task& task) {
  std::vector<TaskShape> shapes;
  const auto add = [&](const Sizes& sizes, bool timed) {
    TaskShape& shape = shapes.emplace_back();
    shape.name = describe(sizes);
    shape.sizes = sizes;
    shape.timed = timed;
    for (const std::string& name : task.size_order)
      if (const auto size = sizes.find(name); size != sizes.end()) shape.arguments.push_back(size->second);
    // The loader has checked the bounds.
    shape.extents = extents_of(task, sizes).value();
  };
  for (const Sizes& sizes : task.timed) add(sizes, true);
  for (std::size_t shape = 0; shape < task.timed_weights.size(); ++shape)
    shapes[shape].weight = task.timed_weights[shape];
  for (const Sizes& sizes : task.check) add(sizes, false);
  return shapes;
}

Result<Inputs> draw_inputs(const Task& task, const std::vector<TaskShape>& shapes, std::size_t shape,
                           const InputRecipe& recipe, InputGenerator* generator) {
  Inputs inputs(task.tensors.size());
  bool generate = false;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    const TensorSpec& spec = task.tensors[t];
    const TensorExtent& extent = shapes[shape].extents[t];
    if (spec.role == TensorRole::out) continue;
    inputs[t].resize(extent.bytes);
    if (spec.init == TensorInit::generated) {
      if (spec.constant)
        return fail(ErrorCode::bad_input, "a tensor cannot be both `constant` and `init: generated`",
                    "tensor '" + spec.name + "'");
      generate = true;
      continue;
    }
    const auto& key = spec.constant ? recipe.constants_key : recipe.key;
    SecretStream random({key[0], key[1] + t});
    const truth::Drawing draw{spec, extent, shapes[shape].sizes, random};
    if (auto s = truth::draw_values(draw, inputs[t]); !s) return s.error();
    // Constants get no special values, because sets without special values share the constants.
    if (recipe.specials && spec.specials.any() && !spec.constant) truth::put_specials(draw, inputs[t]);
  }
  if (!generate) return inputs;
  if (generator == nullptr)
    return fail(ErrorCode::refused, "a tensor is `generated`, but nothing generates it", "files: inputs");
  SecretStream random({recipe.key[0], recipe.key[1] + task.tensors.size()});
  if (auto s = generator->generate(shape, random.word(), inputs); !s) return s.error();
  return inputs;
}

}  // namespace kernelsmith
