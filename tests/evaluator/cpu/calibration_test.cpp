// The error budget, calibrated: for each family of operations, honest kernels that sum in four orders must
// stay far within it, and kernels whose inputs or sums are rounded to a lower precision must be far beyond
// it. The table that it prints is the evidence behind the constants of budget.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

#include "bank.hpp"
#include "check.hpp"
#include "compiler.hpp"
#include "locate_runner.hpp"

namespace kernelsmith {
namespace {

enum class Order { sequential, reversed, pairwise, blocked_fma };
constexpr Order kOrders[] = {Order::sequential, Order::reversed, Order::pairwise, Order::blocked_fma};
constexpr const char* kOrderNames[] = {"sequential", "reversed", "pairwise", "blocked fma"};

/// Rounds to so many significant bits, to nearest.
float rounded(float x, unsigned bits) {
  if (bits >= 24 || !std::isfinite(x)) return x;
  const auto word = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t half = 1U << (23U - bits);
  return std::bit_cast<float>((word + half) & ~(2 * half - 1));
}

/// How a kernel computes: its order of summation, the significant bits of its inputs, and those of its sums.
struct Arithmetic {
  Order order = Order::sequential;
  unsigned input_bits = 24, sum_bits = 24;

  float input(float x) const { return rounded(x, input_bits); }

  /// The sum of term(i, 0) over i; term(i, sum) adds its product to the sum.
  template <class Term>
  float sum(std::size_t n, const Term& term) const {
    return sum_of(0, n, term);
  }

 private:
  template <class Term>
  float sum_of(std::size_t begin, std::size_t end, const Term& term) const {
    constexpr std::size_t kLeaf = 8;
    if (order == Order::pairwise && end - begin > kLeaf) {
      const std::size_t middle = begin + (end - begin) / 2;
      return rounded(sum_of(begin, middle, term) + sum_of(middle, end, term), sum_bits);
    }
    if (order == Order::blocked_fma) {
      float lanes[8] = {};
      for (std::size_t i = begin; i < end; ++i) lanes[i % 8] = rounded(term(i, lanes[i % 8], true), sum_bits);
      float total = 0;
      for (const float lane : lanes) total += lane;
      return total;
    }
    float total = 0;
    for (std::size_t i = 0; i < end - begin; ++i)
      total = rounded(term(order == Order::reversed ? end - 1 - i : begin + i, total, false), sum_bits);
    return total;
  }
};

float add_product(float a, float b, float sum, bool fused) {
  return fused ? std::fma(a, b, sum) : static_cast<float>(a * b) + sum;
}

/// Inputs by tensor, the output, sizes by name in alphabetical order.
using Kernel = std::function<void(const Arithmetic&, const std::vector<std::vector<float>>&,
                                  std::vector<float>&, const std::vector<std::int64_t>&)>;

/// Up to so many terms, a budget that is wide enough for the plainest order of summation tells precisions
/// apart.
constexpr std::int64_t kTelling = 4096;

struct Family {
  const char* name;
  std::string tensors;    ///< of task.yaml
  std::string sizes;      ///< the timed shapes
  std::string signature;  ///< the reference's
  std::string reference;  ///< its body
  Kernel kernel;
};

Kernel matmul() {
  return [](const Arithmetic& how, const auto& in, auto& y, const auto& sizes) {
    const auto k = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]),
               n = static_cast<std::size_t>(sizes[2]);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        y[i * n + j] = how.sum(k, [&](std::size_t l, float sum, bool fused) {
          return add_product(how.input(in[0][i * k + l]), how.input(in[1][l * n + j]), sum, fused);
        });
  };
}

Kernel rowsum() {
  return [](const Arithmetic& how, const auto& in, auto& y, const auto& sizes) {
    const auto cols = static_cast<std::size_t>(sizes[0]);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] =
          how.sum(cols, [&](std::size_t j, float sum, bool) { return sum + how.input(in[0][i * cols + j]); });
  };
}

Kernel rmsnorm() {
  return [](const Arithmetic& how, const auto& in, auto& y, const auto& sizes) {
    const auto cols = static_cast<std::size_t>(sizes[0]);
    for (std::size_t row = 0; row < y.size(); row += cols) {
      const auto x = [&](std::size_t j) { return how.input(in[0][row + j]); };
      const float squares = how.sum(
          cols, [&](std::size_t j, float sum, bool fused) { return add_product(x(j), x(j), sum, fused); });
      const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + 1e-5F);
      for (std::size_t j = 0; j < cols; ++j) y[row + j] = x(j) * scale;
    }
  };
}

Kernel softmax() {
  return [](const Arithmetic& how, const auto& in, auto& y, const auto& sizes) {
    const auto cols = static_cast<std::size_t>(sizes[0]);
    for (std::size_t row = 0; row < y.size(); row += cols) {
      float max = how.input(in[0][row]);
      for (std::size_t j = 1; j < cols; ++j) max = std::max(max, how.input(in[0][row + j]));
      for (std::size_t j = 0; j < cols; ++j) y[row + j] = std::exp(how.input(in[0][row + j]) - max);
      const float sum =
          how.sum(cols, [&](std::size_t j, float partial, bool) { return partial + y[row + j]; });
      for (std::size_t j = 0; j < cols; ++j) y[row + j] /= sum;
    }
  };
}

Kernel silu() {
  return [](const Arithmetic& how, const auto& in, auto& y, const auto&) {
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = how.input(in[0][i]) / (1 + std::exp(-how.input(in[0][i])));
  };
}

const std::string kRows = "  - {name: x, role: in, dtype: f32, shape: [rows, cols]}\n";
const std::string kSameShape = kRows + "  - {name: y, role: out, dtype: f32, shape: [rows, cols]}\n";
const std::string kRowwise = "const float* x, float* y, std::int64_t cols, std::int64_t rows";

std::vector<Family> families() {
  return {
      {"contraction",
       "  - {name: a, role: in, dtype: f32, shape: [m, k]}\n"
       "  - {name: b, role: in, dtype: f32, shape: [k, n]}\n"
       "  - {name: y, role: out, dtype: f32, shape: [m, n]}\n",
       "[{m: 192, n: 192, k: 192}, {m: 17, n: 31, k: 65}, {m: 8, n: 9, k: 4096}, {m: 4, n: 5, k: 65536}]",
       "const float* a, const float* b, float* y, std::int64_t k, std::int64_t m, std::int64_t n",
       "for (std::int64_t i = 0; i < m; ++i) for (std::int64_t j = 0; j < n; ++j) { float sum = 0;"
       "for (std::int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j]; y[i * n + j] = sum; }",
       matmul()},
      {"reduction", kRows + "  - {name: y, role: out, dtype: f32, shape: [rows]}\n",
       "[{rows: 32, cols: 1024}, {rows: 300, cols: 4096}, {rows: 16, cols: 65536}]", kRowwise,
       "for (std::int64_t i = 0; i < rows; ++i) { float sum = 0;"
       "for (std::int64_t j = 0; j < cols; ++j) sum += x[i * cols + j]; y[i] = sum; }",
       rowsum()},
      {"rmsnorm", kSameShape, "[{rows: 768, cols: 768}, {rows: 5, cols: 16384}]", kRowwise,
       "for (std::int64_t i = 0; i < rows; ++i) { float sum = 0; const float* row = x + i * cols;"
       "for (std::int64_t j = 0; j < cols; ++j) sum += row[j] * row[j];"
       "for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = row[j] / std::sqrt(sum / cols + 1e-5f); }",
       rmsnorm()},
      {"softmax", kSameShape, "[{rows: 300, cols: 1024}, {rows: 5, cols: 16384}]", kRowwise,
       "for (std::int64_t i = 0; i < rows; ++i) { const float* row = x + i * cols; float max = row[0], sum = "
       "0;"
       "for (std::int64_t j = 1; j < cols; ++j) max = row[j] > max ? row[j] : max;"
       "for (std::int64_t j = 0; j < cols; ++j) sum += std::exp(row[j] - max);"
       "for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = std::exp(row[j] - max) / sum; }",
       softmax()},
      {"elementwise", kSameShape, "[{rows: 256, cols: 256}]", kRowwise,
       "for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = x[i] / (1 + std::exp(-x[i]));", silu()},
  };
}

Task task_of(const Family& family) {
  const std::string sizes =
      family.name == std::string("contraction") ? "{m: 1, n: 1, k: 1}" : "{rows: 1, cols: 1}";
  const std::string yaml =
      "version: 1\nname: calibration\nbackend: cpu\nentry: kernel\n"
      "files: {reference: reference.cpp}\nsizes: " +
      sizes + "\ntensors:\n" + family.tensors + "timed: " + family.sizes + "\n";
  const std::string reference = "#include \"task.hpp\"\n#include <cmath>\nextern \"C\" void kernel(" +
                                family.signature + ") {" + family.reference + "}\n";
  return parse_task(yaml, "task.yaml", [&](const std::string&) -> Result<std::string> { return reference; })
      .value();
}

Bank bank_of(const Task& task, const std::vector<TaskShape>& shapes) {
  const auto compiler = CpuCompiler::create(task, {}).value();
  const auto oracle = compiler->compile(task.reference, Precision::promoted, {});
  RunnerSettings settings;
  settings.files =
      RunnerFiles::create(locate_runner({}).value(), compiler->link_all_libraries().value()->object())
          .value();
  BankLimits limits;
  limits.seconds = 0;
  limits.least = 8;
  limits.bytes = std::size_t{64} << 20;
  return make_bank(task, shapes, *oracle->binary, settings, limits).value();
}

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The errors of one kernel over a shape's sets, as fractions of the budget, sorted.
std::vector<double> errors_of(const Family& family, const Arithmetic& how, const TaskShape& shape,
                              const std::vector<InputSet>& sets) {
  std::vector<double> errors;
  for (const InputSet& set : sets) {
    std::vector<std::vector<float>> inputs;
    for (const auto& bytes : set.inputs)
      if (!bytes.empty()) inputs.push_back(floats_of(bytes));
    std::vector<float> y(shape.extents.back().elements);
    family.kernel(how, inputs, y, shape.sizes);
    errors.push_back(check_output(set.outputs.back(), std::as_bytes(std::span(y)), 0x7fa12345U).error);
  }
  std::ranges::sort(errors);
  return errors;
}

void print(const Family& family, const TaskShape& shape, const char* kernel,
           const std::vector<double>& errors) {
  std::printf("%-12s %-20s %-14s %8.3f %8.3f %8.3f\n", family.name, shape.name.c_str(), kernel,
              errors.front(), errors[errors.size() / 2], errors.back());
}

TEST(Calibration, HonestOrdersAreWithinTheBudgetAndLowerPrecisionsBeyond) {
  std::printf("error over budget      (least, median, most of the sets)\n");
  for (const Family& family : families()) {
    const Task task = task_of(family);
    const std::vector<TaskShape> shapes = shapes_of(task);
    const Bank bank = bank_of(task, shapes);
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      SCOPED_TRACE(std::string(family.name) + " at " + shapes[s].name);
      for (std::size_t o = 0; o < std::size(kOrders); ++o) {
        const auto errors = errors_of(family, {kOrders[o]}, shapes[s], bank[s]);
        print(family, shapes[s], kOrderNames[o], errors);
        EXPECT_LE(errors.back(), 1) << kOrderNames[o];
      }
      const auto tf32 = errors_of(family, {Order::blocked_fma, 11}, shapes[s], bank[s]);
      const auto bf16 = errors_of(family, {Order::blocked_fma, 8}, shapes[s], bank[s]);
      print(family, shapes[s], "tf32 inputs", tf32);
      print(family, shapes[s], "bf16 inputs", bf16);
      // A kernel is shown a dozen sets and more, and must pass all.
      if (std::ranges::max(shapes[s].sizes) <= kTelling) {
        EXPECT_GT(tf32.back(), 1);
        EXPECT_GT(bf16.back(), 1);
      }
      if (family.name == std::string("elementwise")) continue;
      const auto f16 = errors_of(family, {Order::blocked_fma, 24, 11}, shapes[s], bank[s]);
      print(family, shapes[s], "f16 sums", f16);
      EXPECT_GT(f16.back(), 1);
    }
  }
}

}  // namespace
}  // namespace kernelsmith
