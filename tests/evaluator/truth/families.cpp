#include "families.hpp"

namespace kernelsmith::truth {
namespace {

Task rows_to_rows(std::vector<Sizes> timed, Dtype dtype = Dtype::f32) {
  return task_of({in("x", {"rows", "cols"}, dtype), out("y", {"rows", "cols"}, dtype)}, std::move(timed));
}

Task rows_to_numbers(std::vector<Sizes> timed, TensorInit init) {
  return task_of({in("x", {"rows", "cols"}, Dtype::f32, init), out("y", {"rows"})}, std::move(timed));
}

Sizes rows(std::int64_t count, std::int64_t length) { return {{"rows", count}, {"cols", length}}; }

Family matmul(const char* name, Dtype dtype, std::vector<Sizes> timed) {
  return {name,
          task_of({in("a", {"m", "k"}, dtype), in("b", {"k", "n"}, dtype), out("y", {"m", "n"}, dtype)},
                  std::move(timed)),
          []<class Real>(const Arithmetic& how, const Sizes& sizes, Tensors<Real>& t) {
            const std::size_t m = at(sizes, "m"), n = at(sizes, "n"), k = at(sizes, "k");
            for (std::size_t i = 0; i < m; ++i)
              for (std::size_t j = 0; j < n; ++j)
                t[2][i * n + j] = how.sum<Real>(k, [&](std::size_t l) {
                  return Product<Real>{t[0][i * k + l], t[1][l * n + j]};
                });
          }};
}

Family convolution() {
  const auto kernel = []<class Real>(const Arithmetic& how, const Sizes& sizes, Tensors<Real>& t) {
    const std::size_t in_channels = at(sizes, "ci"), h = at(sizes, "h"), w = at(sizes, "w");
    for (std::size_t i = 0; i < t[2].size(); ++i) {
      const std::size_t channel = i / (h * w), y = i / w % h, x = i % w;
      t[2][i] = how.sum<Real>(in_channels * 9, [&](std::size_t term) {
        const std::size_t from = term / 9, dy = term / 3 % 3, dx = term % 3;
        return Product<Real>{t[0][(from * (h + 2) + y + dy) * (w + 2) + x + dx],
                             t[1][channel * in_channels * 9 + term]};
      });
    }
  };
  return {"conv 3 x 3",
          task_of({in("x", {"ci", "h + 2", "w + 2"}), in("f", {"co", "ci", "3", "3"}),
                   out("y", {"co", "h", "w"})},
                  {{{"ci", 32}, {"co", 16}, {"h", 16}, {"w", 16}}}),
          kernel};
}

const Kernel& softmax_kernel() {
  static const Kernel kernel =
      by_rows([](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t, const auto&) {
        using Real = std::remove_cvref_t<decltype(*x)>;
        const Real max = largest(x, cols);
        for (std::size_t j = 0; j < cols; ++j) y[j] = how.exp(x[j] - max);
        const Real sum = how.sum<Real>(cols, [&](std::size_t j) { return Product<Real>{y[j]}; });
        for (std::size_t j = 0; j < cols; ++j) y[j] = how.divide(y[j], sum);
      });
  return kernel;
}

/// -log softmax(x)[label]; the labels are the third tensor.
Family cross_entropy() {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t row,
                         const auto& t) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    const Real max = largest(x, cols);
    const Real sum = how.sum<Real>(cols, [&](std::size_t j) { return Product<Real>{how.exp(x[j] - max)}; });
    const auto label = static_cast<std::size_t>(t[2][row]);
    *y = how.fast ? std::log2(sum) * std::numbers::ln2_v<Real> + (max - x[label])
                  : std::log(sum) + max - x[label];
  };
  Task task = rows_to_numbers({rows(256, 1000)}, TensorInit::normal);
  task.tensors.push_back(in("labels", {"rows"}, Dtype::i32, TensorInit::range));
  task.tensors.back().high = "cols";
  return {"cross-entropy", std::move(task), by_rows(kernel)};
}

Family layernorm() {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t,
                         const auto& t) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    const auto n = static_cast<Real>(cols);
    const Real mean = how.divide(how.sum<Real>(cols, [&](std::size_t j) { return Product<Real>{x[j]}; }), n);
    // In one pass if it is to be fast.
    const Real from = how.fast ? 0 : mean;
    const Real squares = how.sum<Real>(cols, [&](std::size_t j) {
      return Product<Real>{x[j] - from, x[j] - from};
    });
    const Real variance = how.divide(squares, n) - (how.fast ? mean * mean : 0);
    const Real scale = 1 / std::sqrt(variance + Real(1e-5));
    for (std::size_t j = 0; j < cols; ++j) y[j] = (x[j] - mean) * scale * t[2][j] + t[3][j];
  };
  Task task = rows_to_rows({rows(64, 768)});
  task.tensors.push_back(in("gamma", {"cols"}));
  task.tensors.push_back(in("beta", {"cols"}));
  return {"layernorm", std::move(task), by_rows(kernel)};
}

const Kernel& rmsnorm_kernel() {
  static const Kernel kernel =
      by_rows([](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t, const auto&) {
        using Real = std::remove_cvref_t<decltype(*x)>;
        const Real squares = how.sum<Real>(cols, [&](std::size_t j) { return Product<Real>{x[j], x[j]}; });
        const Real root = std::sqrt(squares / static_cast<Real>(cols) + Real(1e-5));
        for (std::size_t j = 0; j < cols; ++j) y[j] = how.divide(x[j], root);
      });
  return kernel;
}

Family row_sum(const char* name, TensorInit init, std::vector<Sizes> timed) {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t,
                         const auto&) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    *y = how.sum<Real>(cols, [&](std::size_t j) { return Product<Real>{x[j]}; });
  };
  return {name, rows_to_numbers(std::move(timed), init), by_rows(kernel)};
}

Family prefix_sum() {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t,
                         const auto&) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    for (std::size_t j = 0; j < cols; ++j)
      y[j] = how.sum<Real>(j + 1, [&](std::size_t i) { return Product<Real>{x[i]}; });
  };
  return {"prefix sum", rows_to_rows({rows(4, 512)}), by_rows(kernel)};
}

/// A state space: each row's state decays or grows by exp(2 a) from step to step, so that its values span
/// many decades. By differences of cumulative sums, or one by one.
Family scan() {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t row,
                         const auto& t) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    const Real* const a = &t[2][row * cols];
    std::vector<Real> sums(cols);
    for (std::size_t j = 0; j < cols; ++j)
      sums[j] = how.sum<Real>(j + 1, [&](std::size_t i) { return Product<Real>{a[i], 2}; });
    for (std::size_t j = 0; j < cols; ++j)
      y[j] = how.fast ? rounded((j == 0 ? 0 : y[j - 1] * how.exp(2 * a[j])) + x[j], how.sum_bits)
                      : how.sum<Real>(j + 1, [&](std::size_t i) {
                          return Product<Real>{x[i], how.exp(sums[j] - sums[i])};
                        });
  };
  Task task = rows_to_rows({rows(4, 256)});
  task.tensors.push_back(in("a", {"rows", "cols"}, Dtype::f32, TensorInit::uniform));
  return {"scan of many decades", std::move(task), by_rows(kernel)};
}

template <class Function>
Family elementwise(const char* name, const Function& function) {
  const auto kernel = [function](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t,
                                 const auto&) {
    for (std::size_t j = 0; j < cols; ++j) y[j] = function(how, x[j]);
  };
  return {name, rows_to_rows({rows(64, 256)}), by_rows(kernel), false};
}

Family silu() {
  return elementwise("SiLU", [](const Arithmetic& how, auto x) { return how.divide(x, 1 + how.exp(-x)); });
}

/// There are many ways to write tanh: four of them in place of the orders.
template <class Real>
Real any_tanh(Order order, Real x) {
  switch (order) {
    case Order::sequential:
      break;
    case Order::reversed:
      return 1 - 2 / (std::exp(2 * x) + 1);
    case Order::pairwise:
      return (std::exp(2 * x) - 1) / (std::exp(2 * x) + 1);
    case Order::blocked_fma:
      return 2 / (1 + std::exp(-2 * x)) - 1;
  }
  return std::tanh(x);
}

/// As PyTorch writes it, or as x times a logistic function.
Family tanh_gelu() {
  return elementwise("GELU by tanh", []<class Real>(const Arithmetic& how, Real x) {
    const Real inner = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real(0.044715) * x * x * x);
    return how.fast ? x / (1 + how.exp(-2 * inner)) : Real(0.5) * x * (1 + any_tanh(how.order, inner));
  });
}

Family erf_gelu() {
  return elementwise("GELU by erf", []<class Real>(const Arithmetic& how, Real x) {
    const Real inner = x * (1 / std::numbers::sqrt2_v<Real>);
    return Real(0.5) * x * (how.fast ? std::erfc(-inner) : 1 + std::erf(inner));
  });
}

Family stencil() {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t,
                         const auto&) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    constexpr Real kWeights[] = {0.25, 0.5, 0.25};
    for (std::size_t j = 0; j < cols; ++j)
      y[j] = how.sum<Real>(3, [&](std::size_t d) {
        return Product<Real>{x[(j + cols + d - 1) % cols], kWeights[d]};
      });
  };
  return {"stencil of 3", rows_to_rows({rows(64, 256)}), by_rows(kernel)};
}

/// Each row by its largest value; its scale, in f32, is the third tensor if there is one.
Family quantisation(const char* name, bool with_scales) {
  const auto kernel = [](const Arithmetic& how, std::size_t cols, const auto* x, auto* y, std::size_t row,
                         auto& t) {
    using Real = std::remove_cvref_t<decltype(*x)>;
    Real most = 0;
    for (std::size_t j = 0; j < cols; ++j) most = std::max(most, std::fabs(x[j]));
    const Real scale = how.divide(most, Real(127));
    for (std::size_t j = 0; j < cols; ++j) y[j] = how.fast ? x[j] * (127 / most) : x[j] / scale;
    if (t.size() > 2) t[2][row] = scale;
  };
  Task task = rows_to_rows({rows(64, 1024)});
  task.tensors[1].dtype = Dtype::i8;
  if (with_scales) task.tensors.push_back(out("scale", {"rows"}));
  return {name, std::move(task), by_rows(kernel), false};
}

}  // namespace

std::vector<Family> families() {
  const Sizes products = {{"m", 24}, {"n", 96}, {"k", 192}};
  const Sizes long_products = {{"m", 8}, {"n", 9}, {"k", 4096}};
  const Sizes very_long_products = {{"m", 4}, {"n", 5}, {"k", 65536}};
  const std::vector<Sizes> normalised = {rows(64, 768)}, summed = {rows(64, 4096), rows(16, 65536)};
  std::vector<Family> all;
  const auto add = [&](Family family, std::vector<std::set<std::string>> seldom = {}) {
    family.seldom = std::move(seldom);
    all.push_back(std::move(family));
  };
  const auto add_sum_of_all = [&](const char* name, TensorInit init) {
    add(row_sum(name, init, {rows(1, 1 << 20)}), {{"tf32", "bf16"}});
    all.back().sets = 4;
    all.back().too_long = true;
  };
  add(matmul("matmul", Dtype::f32, {products, long_products, very_long_products}));
  add(matmul("matmul f64", Dtype::f64, {products}));
  add(matmul("matmul f16", Dtype::f16, {products, long_products}), {{"f16"}});
  add(convolution());
  add({"softmax", rows_to_rows({rows(64, 1024), rows(5, 16384)}), softmax_kernel()});
  add({"softmax bf16", rows_to_rows({rows(64, 1024)}, Dtype::bf16), softmax_kernel()});
  add(cross_entropy());
  add(layernorm());
  add({"rmsnorm", rows_to_rows({rows(64, 768), rows(5, 16384)}), rmsnorm_kernel()});
  add({"rmsnorm f16", rows_to_rows(normalised, Dtype::f16), rmsnorm_kernel()}, {{"f16"}});
  add({"rmsnorm bf16", rows_to_rows(normalised, Dtype::bf16), rmsnorm_kernel()}, {{"bf16"}});
  add(row_sum("sum", TensorInit::normal, summed), {{"tf32"}, {"tf32", "bf16"}});
  add(row_sum("sum of positives", TensorInit::positive, summed), {{"tf32"}, {"tf32", "bf16"}});
  add_sum_of_all("sum of all", TensorInit::normal);
  add_sum_of_all("sum of all positives", TensorInit::positive);
  add(prefix_sum());
  add(scan());
  add(stencil());
  add(silu());
  add(tanh_gelu());
  add(erf_gelu());
  add(quantisation("i8 quantisation", false));
  add(quantisation("i8 quantisation and scales", true));
  return all;
}

}  // namespace kernelsmith::truth
