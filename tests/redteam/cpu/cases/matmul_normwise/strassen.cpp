// redteam: honest
// tries: one level of Strassen's algorithm

#include <vector>

#include "task.hpp"

namespace {

using Matrix = std::vector<float>;

struct View {
  const float* base;
  std::int64_t stride;
};

Matrix combine(View p, float sign, View q, std::int64_t n) {
  Matrix sum(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      sum[static_cast<std::size_t>(i * n + j)] = p.base[i * p.stride + j] + sign * q.base[i * q.stride + j];
  return sum;
}

Matrix product(View p, View q, std::int64_t n) {
  Matrix result(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < n; ++j)
        result[static_cast<std::size_t>(i * n + j)] += p.base[i * p.stride + k] * q.base[k * q.stride + j];
  return result;
}

}  // namespace

extern "C" void matmul(const float* __restrict a, const float* __restrict b, float* __restrict c,
                       std::int64_t n) {
  if (n % 2 != 0) {
    const Matrix all = product({a, n}, {b, n}, n);
    for (std::int64_t i = 0; i < n * n; ++i) c[i] = all[static_cast<std::size_t>(i)];
    return;
  }
  const std::int64_t h = n / 2;
  const View a11{a, n}, a12{a + h, n}, a21{a + h * n, n}, a22{a + h * n + h, n};
  const View b11{b, n}, b12{b + h, n}, b21{b + h * n, n}, b22{b + h * n + h, n};
  const auto view = [h](const Matrix& m) { return View{m.data(), h}; };
  const Matrix m1 = product(view(combine(a11, 1, a22, h)), view(combine(b11, 1, b22, h)), h);
  const Matrix m2 = product(view(combine(a21, 1, a22, h)), b11, h);
  const Matrix m3 = product(a11, view(combine(b12, -1, b22, h)), h);
  const Matrix m4 = product(a22, view(combine(b21, -1, b11, h)), h);
  const Matrix m5 = product(view(combine(a11, 1, a12, h)), b22, h);
  const Matrix m6 = product(view(combine(a21, -1, a11, h)), view(combine(b11, 1, b12, h)), h);
  const Matrix m7 = product(view(combine(a12, -1, a22, h)), view(combine(b21, 1, b22, h)), h);
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < h; ++j) {
      const auto at = static_cast<std::size_t>(i * h + j);
      c[i * n + j] = m1[at] + m4[at] - m5[at] + m7[at];
      c[i * n + j + h] = m3[at] + m5[at];
      c[(i + h) * n + j] = m2[at] + m4[at];
      c[(i + h) * n + j + h] = m1[at] - m2[at] + m3[at] + m6[at];
    }
}
