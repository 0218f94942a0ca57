// The inputs that are drawn for checks and timed calls: their ranges and their kinds.
#include <cmath>

#include "fake_oracle.hpp"

namespace kernelsmith::fake {
namespace {

/// Draws the tensor "x", of `rows` rows of `cols` elements, many times.
class Drawn {
 public:
  Drawn(Dtype dtype, TensorInit init, std::int64_t rows, std::int64_t cols)
      : task(task_of({tensor("x", TensorRole::in, {"rows", "cols"}, dtype, init)},
                     {{{"rows", rows}, {"cols", cols}}})) {}

  Result<Inputs> draw(const InputRecipe& recipe, InputGenerator* generator = nullptr) const {
    return draw_inputs(task, shapes_of(task), 0, recipe, generator);
  }

  template <class T>
  std::vector<T> values(bool specials = false) const {
    return values_of<T>(draw({draw_key(), draw_key(), specials}).value()[0]);
  }

  TensorSpec& spec() { return task.tensors[0]; }

  Task task;
};

template <class T>
struct Ends {
  T least, most;
};

/// Over many tensors: what a mixture draws is in some of them.
template <class T>
Ends<T> ends_of(Dtype dtype, TensorInit init) {
  const Drawn drawn(dtype, init, 1, 4096);
  std::vector<T> all;
  for (int i = 0; i < 40; ++i) std::ranges::copy(drawn.values<T>(), std::back_inserter(all));
  const auto [least, most] = std::ranges::minmax(all);
  return {least, most};
}

TEST(Inputs, IntegersGoBeyondAByte) {
  const auto plain = ends_of<std::int32_t>(Dtype::i32, TensorInit::normal);
  EXPECT_LT(plain.least, -1900);
  EXPECT_GT(plain.most, 1900);
  const auto positive = ends_of<std::int64_t>(Dtype::i64, TensorInit::positive);
  EXPECT_EQ(positive.least, 1);
  EXPECT_GT(positive.most, 1900);
}

TEST(Inputs, BytesAreAnyBytes) {
  const auto signed_ends = ends_of<std::int8_t>(Dtype::i8, TensorInit::normal);
  EXPECT_EQ(signed_ends.least, -128);
  EXPECT_EQ(signed_ends.most, 127);
  const auto unsigned_ends = ends_of<std::uint8_t>(Dtype::u8, TensorInit::normal);
  EXPECT_EQ(unsigned_ends.least, 0);
  EXPECT_EQ(unsigned_ends.most, 255);
  const auto booleans = ends_of<std::uint8_t>(Dtype::boolean, TensorInit::integer);
  EXPECT_EQ(booleans.least, 0);
  EXPECT_EQ(booleans.most, 1);
}

TEST(Inputs, WholeNumbersOfARealTypeStayExactInShortProducts) {
  const auto whole = ends_of<float>(Dtype::f32, TensorInit::integer);
  EXPECT_EQ(whole.least, -100);
  EXPECT_EQ(whole.most, 100);
  for (const float value : Drawn(Dtype::f32, TensorInit::integer, 1, 100).values<float>())
    EXPECT_EQ(value, std::floor(value));
}

/// How unlike the values are in the two halves of each so many, by the ratio of their squares' sums.
double unlikeness(const std::vector<float>& values, std::size_t period) {
  double squares[2] = {};
  for (std::size_t i = 0; i < values.size(); ++i)
    squares[i / (period / 2) % 2] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return std::max(squares[0], squares[1]) / std::min(squares[0], squares[1]);
}

TEST(Inputs, SomeAreOfTwoKindsThatTakeTurns) {
  const Drawn drawn(Dtype::f32, TensorInit::normal, 1, 4096);
  int unlike = 0, alike = 0;
  for (int i = 0; i < 600; ++i) {
    const double seen = unlikeness(drawn.values<float>(), 128);
    unlike += seen > 4 ? 1 : 0;
    alike += seen < 1.5 ? 1 : 0;
  }
  EXPECT_GT(unlike, 0);
  EXPECT_GT(alike, 100);
}

/// What can be seen of a tensor of 16 rows.
struct Looks {
  double most = 0, least_row = 1e9, most_row = 0, most_mean = 0, least_peak = 1e9;
};

Looks looks_of(const std::vector<float>& values) {
  Looks looks;
  const std::size_t cols = values.size() / 16;
  for (std::size_t row = 0; row < 16; ++row) {
    double squares = 0, sum = 0, peak = 0;
    for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
      const auto x = static_cast<double>(values[i]);
      squares += x * x / static_cast<double>(cols);
      sum += x / static_cast<double>(cols);
      peak = std::max(peak, x);
    }
    looks.most = std::max(looks.most, peak);
    looks.least_row = std::min(looks.least_row, squares);
    looks.most_row = std::max(looks.most_row, squares);
    looks.most_mean = std::max(looks.most_mean, std::fabs(sum));
    looks.least_peak = std::min(looks.least_peak, peak);
  }
  return looks;
}

TEST(Inputs, NormalsAreAMixtureOfSeveralKinds) {
  const Drawn drawn(Dtype::f32, TensorInit::normal, 16, 256);
  int plain = 0, scaled = 0, shifted = 0, peaks = 0, outliers = 0;
  for (int i = 0; i < 300; ++i) {
    const Looks looks = looks_of(drawn.values<float>());
    plain += looks.most < 6 && looks.most_row < 1.5 && looks.least_row > 0.6 ? 1 : 0;
    scaled += looks.most_row > 9 && looks.least_row < 0.2 && looks.most_mean < 2 ? 1 : 0;
    shifted += looks.most_mean > 1 && looks.most < 8 && looks.least_row > 0.6 ? 1 : 0;
    peaks += looks.least_peak > 5 && looks.most < 20 && looks.most_mean < 0.5 ? 1 : 0;
    outliers += looks.most > 20 && looks.least_row < 1.5 && looks.least_row > 0.6 ? 1 : 0;
  }
  for (const int kind : {plain, scaled, shifted, peaks, outliers}) EXPECT_GT(kind, 5);
}

TEST(Inputs, UniformsFillTheRangeWithoutItsUpperEnd) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2}) {
    const Drawn drawn(dtype, TensorInit::uniform, 1, 4096);
    double least = 0, most = 0;
    for (int i = 0; i < 20; ++i) {
      const Bytes bytes = drawn.draw({draw_key(), {}, false}).value()[0];
      for (std::size_t at = 0; at < 4096; ++at) {
        least = std::min(least, load_element(dtype, bytes.data(), at));
        most = std::max(most, load_element(dtype, bytes.data(), at));
      }
    }
    EXPECT_GE(least, -1) << name_of(dtype);
    EXPECT_LT(most, 1) << name_of(dtype);
    EXPECT_LT(least, -0.85) << name_of(dtype);
    EXPECT_GT(most, 0.85) << name_of(dtype);
  }
}

TEST(Inputs, PositivesAreNoLessThanAThousandth) {
  const auto ends = ends_of<float>(Dtype::f32, TensorInit::positive);
  EXPECT_GE(ends.least, 1e-3F);
  EXPECT_GT(ends.most, 4);
}

TEST(Inputs, DoublesHaveDigitsOfTheirOwn) {
  std::size_t beyond = 0;
  const auto values = Drawn(Dtype::f64, TensorInit::normal, 4, 256).values<double>();
  for (const double value : values)
    beyond += static_cast<double>(static_cast<float>(value)) != value ? 1U : 0U;
  EXPECT_GT(beyond, 1000U);
}

TEST(Inputs, NarrowRealsAreFinite) {
  const Drawn drawn(Dtype::f8e4m3, TensorInit::normal, 4, 256);
  for (int i = 0; i < 100; ++i) {
    const Bytes bytes = drawn.draw({draw_key(), {}, false}).value()[0];
    for (std::size_t at = 0; at < 1024; ++at)
      ASSERT_TRUE(std::isfinite(load_element(Dtype::f8e4m3, bytes.data(), at)));
  }
}

/// A dimension, by how far its lines and the values in one are apart.
struct Lines {
  std::size_t count, step, length, stride;
};

/// The share of lines in which the largest value is there twice.
double tied(const std::vector<float>& values, const Lines& lines) {
  std::size_t ties = 0;
  for (std::size_t line = 0; line < lines.count; ++line) {
    std::vector<float> along;
    for (std::size_t i = 0; i < lines.length; ++i)
      along.push_back(values[line * lines.step + i * lines.stride]);
    ties += std::ranges::count(along, std::ranges::max(along)) > 1 ? 1U : 0U;
  }
  return static_cast<double>(ties) / static_cast<double>(lines.count);
}

TEST(Inputs, TiesStandAlongEveryDimension) {
  constexpr std::uint64_t kSets = 20;
  const Lines rows{64, 96, 96, 1}, columns{96, 1, 64, 96};
  const auto share = [&](TensorInit init, const Lines& lines) {
    const Drawn drawn(Dtype::f32, init, 64, 96);
    double sum = 0;
    for (std::uint64_t key = 0; key < kSets; ++key)
      sum += tied(values_of<float>(drawn.draw({{key, 1}, {}, false}).value()[0]), lines);
    return sum / kSets;
  };
  for (const Lines& lines : {rows, columns}) {
    EXPECT_GT(share(TensorInit::ties, lines), 0.25);
    EXPECT_LT(share(TensorInit::ties, lines), 0.5) << "largest values that are there once stay";
    EXPECT_LT(share(TensorInit::normal, lines), 0.05);
  }
}

TEST(Inputs, ZerosAreZeros) {
  for (const float value : Drawn(Dtype::f32, TensorInit::zeros, 2, 8).values<float>()) EXPECT_EQ(value, 0);
}

TEST(Inputs, ARangeHasAllOfItsNumbersButTheLast) {
  Drawn drawn(Dtype::i32, TensorInit::range, 4, 256);
  drawn.spec().low = "0 - 2";
  drawn.spec().high = "rows";
  const auto values = drawn.values<std::int32_t>();
  EXPECT_EQ(std::set(values.begin(), values.end()), (std::set{-2, -1, 0, 1, 2, 3}));
}

TEST(Inputs, AnEmptyRangeIsBadInput) {
  Drawn drawn(Dtype::i32, TensorInit::range, 4, 4);
  drawn.spec().high = "rows - 4";
  const auto inputs = drawn.draw({});
  EXPECT_EQ(inputs.error().code, ErrorCode::bad_input);
  EXPECT_EQ(inputs.error().where, "tensor 'x'");
}

TEST(Inputs, OffsetsRiseFromZeroToTheHighestInEachRow) {
  Drawn drawn(Dtype::i64, TensorInit::offsets, 8, 200);
  drawn.spec().high = "3 * cols";
  const auto values = drawn.values<std::int64_t>();
  std::size_t empty = 0;
  for (std::size_t row = 0; row < 8; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 200);
    EXPECT_TRUE(std::is_sorted(begin, begin + 200));
    EXPECT_EQ(*begin, 0);
    EXPECT_EQ(*(begin + 199), 600);
    for (auto at = begin + 1; at != begin + 200; ++at) empty += *at == *(at - 1) ? 1U : 0U;
  }
  EXPECT_GT(empty, 100U) << "some parts are empty";
}

TEST(Inputs, OffsetsBelowZeroAreBadInput) {
  Drawn drawn(Dtype::i32, TensorInit::offsets, 1, 4);
  drawn.spec().high = "0 - 1";
  ASSERT_FALSE(drawn.draw({}));
  EXPECT_EQ(drawn.draw({}).error().code, ErrorCode::bad_input);
}

TEST(Inputs, EachRowOfAPermutationHasEveryPlaceOnce) {
  auto values = Drawn(Dtype::i32, TensorInit::permutation, 3, 100).values<std::int32_t>();
  EXPECT_FALSE(std::is_sorted(values.begin(), values.begin() + 100));
  for (std::ptrdiff_t row = 0; row < 3; ++row) {
    const auto begin = values.begin() + row * 100;
    std::sort(begin, begin + 100);
    for (std::int32_t i = 0; i < 100; ++i) EXPECT_EQ(*(begin + i), i);
  }
}

TEST(Inputs, EachRowOfOneHotHasASingleOne) {
  const auto values = Drawn(Dtype::f32, TensorInit::one_hot, 64, 10).values<float>();
  std::set<std::size_t> places;
  for (std::size_t row = 0; row < 64; ++row) {
    float sum = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      sum += values[row * 10 + i];
      if (values[row * 10 + i] == 1) places.insert(i);
    }
    EXPECT_EQ(sum, 1);
  }
  EXPECT_GT(places.size(), 5U);
}

TEST(Inputs, EachSetShowsEveryKindOfSpecialInAFewRows) {
  constexpr std::size_t kRows = 32, kCols = 512;
  Drawn drawn(Dtype::f32, TensorInit::normal, kRows, kCols);
  drawn.spec().specials = {true, true, true, true};
  int complete = 0;
  for (int tensor = 0; tensor < 100; ++tensor) {
    const auto values = drawn.values<float>(true);
    std::set<std::string> kinds;
    std::set<std::size_t> rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float x = values[i];
      const bool large = std::fabs(x) >= 1024 && std::isfinite(x);
      const bool denormal = std::fpclassify(x) == FP_SUBNORMAL;
      if (std::isfinite(x) && !large && !denormal) continue;
      rows.insert(i / kCols);
      const std::string kind = std::isnan(x) ? "nan" : denormal ? "denormal" : large ? "large" : "infinite";
      kinds.insert(x < 0 && !denormal ? "-" + kind : kind);
    }
    EXPECT_LE(rows.size(), kRows / 4);
    if (kinds.size() == 6) ++complete;
  }
  EXPECT_GE(complete, 90) << "one may come to lie on another";
}

TEST(Inputs, SpecialsAreThereOnlyWhereTheRecipeAndTheTensorSaySo) {
  const auto any_nan = [](const Drawn& drawn, bool specials) {
    return std::ranges::any_of(drawn.values<float>(specials), [](float x) { return std::isnan(x); });
  };
  Drawn drawn(Dtype::f32, TensorInit::normal, 4, 16);
  EXPECT_FALSE(any_nan(drawn, true)) << "none declared";
  drawn.spec().specials.nan = true;
  EXPECT_TRUE(any_nan(drawn, true));
  EXPECT_FALSE(any_nan(drawn, false));
  drawn.spec().constant = true;
  EXPECT_FALSE(any_nan(drawn, true)) << "sets without special values have the same constants";
}

TEST(Inputs, EqualRecipesGiveEqualInputs) {
  const Drawn drawn(Dtype::f32, TensorInit::normal, 4, 16);
  const InputRecipe recipe{{1, 2}, {3, 4}, false};
  EXPECT_EQ(drawn.draw(recipe).value(), drawn.draw(recipe).value());
  EXPECT_NE(drawn.draw(recipe).value(), drawn.draw({{1, 9}, {3, 4}, false}).value());
}

TEST(Inputs, ConstantsComeOfTheirOwnKeyAndOutputsAreEmpty) {
  Task task = task_of({tensor("w", TensorRole::in, {"n"}), tensor("x", TensorRole::inout, {"n"}),
                       tensor("y", TensorRole::out, {"n"})},
                      {{{"n", 64}}});
  task.tensors[0].constant = true;
  const auto draw = [&](std::uint64_t key) {
    return draw_inputs(task, shapes_of(task), 0, {{key, 0}, {7, 7}, false}, nullptr).value();
  };
  const Inputs one = draw(1), other = draw(2);
  EXPECT_EQ(one[0], other[0]);
  EXPECT_NE(one[1], other[1]);
  EXPECT_TRUE(one[2].empty());
}

/// Twice the first tensor, and the seed in the first place.
class Twice final : public InputGenerator {
 public:
  Status generate(std::size_t, std::uint64_t seed, Inputs& inputs) override {
    zeroed = std::ranges::all_of(inputs[1], [](std::byte byte) { return byte == std::byte{0}; });
    auto values = values_of<float>(inputs[0]);
    for (float& value : values) value *= 2;
    inputs[1] = bytes_from(values);
    seeds.insert(seed);
    return {};
  }
  bool zeroed = false;
  std::set<std::uint64_t> seeds;
};

TEST(Inputs, AGeneratorSeesTheOthersAndASecretSeed) {
  const Task task = task_of({tensor("x", TensorRole::in, {"n"}),
                             tensor("twice", TensorRole::in, {"n"}, Dtype::f32, TensorInit::generated)},
                            {{{"n", 64}}});
  Twice twice;
  for (std::uint64_t key = 0; key < 3; ++key) {
    const Inputs inputs = draw_inputs(task, shapes_of(task), 0, {{key, 0}, {}, false}, &twice).value();
    EXPECT_EQ(values_of<float>(inputs[1])[5], 2 * values_of<float>(inputs[0])[5]);
    EXPECT_TRUE(twice.zeroed);
  }
  EXPECT_EQ(twice.seeds.size(), 3U);
  EXPECT_EQ(draw_inputs(task, shapes_of(task), 0, {}, nullptr).error().code, ErrorCode::refused);
}

TEST(Inputs, AGeneratedTensorIsNotConstant) {
  Drawn drawn(Dtype::f32, TensorInit::generated, 1, 4);
  drawn.spec().constant = true;
  Twice twice;
  EXPECT_EQ(drawn.draw({}, &twice).error().code, ErrorCode::bad_input);
}

TEST(Shapes, AreTheTimedOnesThenThoseThatAreChecked) {
  Task task = task_of({tensor("x", TensorRole::in, {"b", "a + 1"}, Dtype::f16)}, {{{"a", 3}, {"b", 2}}},
                      {{{"a", 1}, {"b", 1}}});
  task.size_order = {"b", "a"};
  const auto shapes = shapes_of(task);
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_TRUE(shapes[0].timed);
  EXPECT_FALSE(shapes[1].timed);
  EXPECT_EQ(shapes[0].arguments, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(shapes[0].name, "a=3 b=2");
  EXPECT_EQ(shapes[0].bytes(), 16U);
}

}  // namespace
}  // namespace kernelsmith::fake
