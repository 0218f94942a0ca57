// The error budget, calibrated: for each family of operations, honest kernels must stay well within it, and
// kernels whose inputs or sums are rounded to a lower precision must be beyond it, unless the reference's own
// error hides them. Prints the table of docs/tolerance.md. The inputs are the same every time; of other keys:
// --gtest_random_seed=N.
#include <cctype>
#include <cstdio>
#include <cstring>
#include <span>

#include "families.hpp"
#include "truth/elements.hpp"
#include "truth/truth.hpp"

namespace kernelsmith::truth {
namespace {

/// What honest kernels may be of their budget, at most. The reference itself is at 0.5 if its own error
/// decides.
constexpr double kWellWithin = 0.75;
constexpr std::uint32_t kPoison = 0x7fa12345;

/// The elements of a buffer.
template <class Real>
std::vector<Real> decoded(Dtype dtype, std::span<const std::byte> bytes) {
  std::vector<Real> values(bytes.size() / bytes_of(dtype));
  visit_dtype(dtype, [&]<class T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<Real>(widened(load<T>(bytes.data(), i)));
  });
  return values;
}

template <class Real>
void encode(Dtype dtype, const std::vector<Real>& values, std::span<std::byte> bytes) {
  visit_dtype(dtype, [&]<class T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) store(bytes.data(), i, element_from<T>(values[i]));
  });
}

bool computes_in_double(const Task& task) { return truth_precision(task) == OraclePrecision::long_double; }

/// A family's kernel as the reference. It computes with reals alone; integers are rounded as their type says.
auto reference_of(const Family& family, Order order) {
  return [&family, order, shapes = shapes_of(family.task)](auto& call) {
    using Real = typename std::remove_reference_t<decltype(call)>::Real;
    Tensors<Real> values = call.reals;
    for (std::size_t t = 0; t < values.size(); ++t)
      if (values[t].empty()) values[t].assign(call.integers[t].begin(), call.integers[t].end());
    family.kernel({order}, shapes[call.shape].sizes, values);
    for (std::size_t t = 0; t < values.size(); ++t) {
      const Dtype dtype = family.task.tensors[t].dtype;
      if (traits_of(dtype).real) {
        call.reals[t] = std::move(values[t]);
        continue;
      }
      Bytes rounded(values[t].size() * bytes_of(dtype));
      encode(dtype, values[t], rounded);
      for (std::size_t i = 0; i < values[t].size(); ++i)
        call.integers[t][i] = static_cast<std::int64_t>(load_element(dtype, rounded.data(), i));
    }
  };
}

using Sets = std::vector<InputSet>;

/// The same inputs every time, of a reference that adds up in `order`; by shape.
std::vector<Sets> draw_sets(const Family& family, Order order, const std::vector<TaskShape>& shapes) {
  Truth truth =
      Truth::create(family.task, shapes, fake::oracles_of(family.task, reference_of(family, order))).value();
  const auto seed = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed));
  std::vector<Sets> bank(shapes.size());
  for (std::size_t shape = 0; shape < shapes.size(); ++shape)
    for (std::size_t i = 0; i < family.sets; ++i)
      bank[shape].push_back(truth.make_set(shape, {{seed, i << 32U}, {}, false}).value());
  return bank;
}

/// A kernel that a candidate could be: `input_bits` are the significant bits that it reads; 0: all.
struct Player {
  Arithmetic how;
  int input_bits = 0;
};

template <class Real>
double error_in(const Family& family, const Player& player, const TaskShape& shape, const InputSet& set) {
  const std::vector<TensorSpec>& tensors = family.task.tensors;
  Tensors<Real> values;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    values.push_back(decoded<Real>(tensors[t].dtype, set.inputs[t]));
    values.back().resize(shape.extents[t].elements);
    if (traits_of(tensors[t].dtype).real)
      for (Real& value : values.back()) value = rounded(value, player.input_bits);
  }
  family.kernel(player.how, shape.sizes, values);
  double worst = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == TensorRole::in) continue;
    Bytes written(shape.extents[t].bytes);
    encode(tensors[t].dtype, values[t], written);
    worst = std::max(worst, compare_output(set.outputs[t], written, kPoison).error);
  }
  return worst;
}

/// The errors of one kernel over all sets, as fractions of the budget, sorted.
std::vector<double> errors_of(const Family& family, const Player& player, const TaskShape& shape,
                              const Sets& sets) {
  std::vector<double> errors;
  for (const InputSet& set : sets)
    errors.push_back(computes_in_double(family.task) ? error_in<double>(family, player, shape, set)
                                                     : error_in<float>(family, player, shape, set));
  std::ranges::sort(errors);
  return errors;
}

struct Lower {
  const char* name;
  Player player;
};

/// Inputs one and two precisions below the family's, sums one.
std::vector<Lower> lower_precisions(const Family& family) {
  const auto inputs = [](int bits) { return Player{{Order::blocked_fma}, bits}; };
  const auto sums = [](int bits) { return Player{{Order::blocked_fma, false, bits}}; };
  std::vector<Lower> all;
  switch (family.task.tensors.front().dtype) {
    case Dtype::f64:
      all = {{"f32", inputs(24)}, {"tf32", inputs(11)}, {"f32", sums(24)}};
      break;
    case Dtype::f16:
      all = {{"bf16", inputs(8)}, {"f8", inputs(4)}, {"f16", sums(11)}};
      break;
    case Dtype::bf16:
      all = {{"5 bits", inputs(5)}, {"f8", inputs(4)}, {"bf16", sums(8)}};
      break;
    default:
      all = {{"tf32", inputs(11)}, {"bf16", inputs(8)}, {"f16", sums(11)}};
  }
  if (!family.sums) all.pop_back();
  return all;
}

/// The worst of honest kernels, on the worst set.
double worst_honest(const Family& family, const TaskShape& shape, const Sets& sets) {
  double worst = 0;
  for (const Order order : kOrders)
    for (const bool fast : {false, true})
      worst = std::max(worst, errors_of(family, {{order, fast}}, shape, sets).back());
  return worst;
}

class Calibration : public testing::TestWithParam<Family> {};

const char* format_of(double error) { return error >= 1e4 ? "%.0e" : error >= 10 ? "%.0f" : "%.2g"; }

/// Prints the median error, and on how many sets it is beyond the budget: on a third of them or more, but for
/// what is `seldom`.
void expect_caught(const Lower& lower, const std::vector<double>& errors, bool seldom) {
  const auto caught =
      static_cast<std::size_t>(std::ranges::count_if(errors, [](double error) { return error > 1; }));
  char median[32];
  std::snprintf(median, sizeof median, format_of(errors[errors.size() / 2]), errors[errors.size() / 2]);
  std::printf(" %s: %s, %zu of %zu |", lower.name, median, caught, errors.size());
  EXPECT_TRUE(seldom || 3 * caught >= errors.size()) << lower.name;
}

TEST_P(Calibration, HonestKernelsAreWellWithinTheBudgetAndLowerPrecisionsBeyond) {
  const Family& family = GetParam();
  const std::vector<TaskShape> shapes = shapes_of(family.task);
  const std::vector<Sets> plain = draw_sets(family, Order::sequential, shapes);
  const std::vector<Sets> exact = draw_sets(family, Order::pairwise, shapes);
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    SCOPED_TRACE(family.name + " at " + shapes[s].name);
    const double beside_plain = worst_honest(family, shapes[s], plain[s]);
    const double beside_exact = worst_honest(family, shapes[s], exact[s]);
    std::printf("| %s, %s | %.2f | %.2f |", family.name.c_str(), shapes[s].name.c_str(), beside_plain,
                beside_exact);
    EXPECT_LE(beside_plain, kWellWithin);
    EXPECT_TRUE(family.too_long || beside_exact <= kWellWithin);
    for (const Lower& lower : lower_precisions(family)) {
      const bool seldom = s < family.seldom.size() && family.seldom[s].contains(lower.name);
      expect_caught(lower, errors_of(family, lower.player, shapes[s], plain[s]), seldom);
    }
    std::printf("\n");
  }
}

std::string test_name(const testing::TestParamInfo<Family>& of) {
  std::string name = of.param.name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Families, Calibration, testing::ValuesIn(families()), test_name);

}  // namespace
}  // namespace kernelsmith::truth
