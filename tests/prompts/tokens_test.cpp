// The estimate against what tokenizers counted: cl100k, o200k and those of Anthropic and DeepSeek, as
// LiteLLM 1.x ships them; the largest of the four stands beside each text.
#include <string>

#include <gtest/gtest.h>

#include <kernelsmith/prompts/tokens.hpp>

namespace kernelsmith {
namespace {

struct Sample {
  const char* name;
  double counted;  // tokens
  const char* text;
};

const Sample kSamples[] = {
    {"kernel code", 125,
     "  for (std::int64_t i = 0; i < rows; ++i) {\n"
     "    float peak = -INFINITY;\n"
     "    for (std::int64_t j = 0; j < cols; ++j) peak = std::max(peak, x[i * cols + j]);\n"
     "    __m256 sum = _mm256_setzero_ps();  // eight partial sums\n"
     "    y[i * kColumns + j] = out ? c_copy[r * kColumns] * 0.0078125f : 1e-5f;\n"
     "  }\n"},
    {"CUDA", 110,
     "template <int kTile> __global__ void gemm(const half* __restrict__ A, float* C, int M, int N, int K) "
     "{\n"
     "  __shared__ half As[kTile][kTile + 8];\n"
     "  const int row = blockIdx.y * kTile + threadIdx.y;\n"
     "  if (row < M) atomicAdd(&C[row * N + threadIdx.x], __half2float(As[threadIdx.y][0x1f]));\n"
     "}\n"},
    {"Python", 90,
     "@triton.jit\n"
     "def softmax_kernel(x_ptr, y_ptr, stride, n_cols, BLOCK_SIZE: tl.constexpr):\n"
     "    row = tl.program_id(0)\n"
     "    cols = tl.arange(0, BLOCK_SIZE)\n"
     "    x = tl.load(x_ptr + row * stride + cols, mask=cols < n_cols, other=-float('inf'))\n"},
    {"prose", 39,
     "Reply with the program in one fenced code block. Inputs differ in every call, so nothing may be cached "
     "between calls; a kernel whose data exceed the caches is bound by memory.\n"},
    {"a compiler's error", 75,
     "kernel.cpp:12:17: error: 'multiply_in_registrs' was not declared in this scope; did you mean "
     "'multiply_in_registers'?\n"
     "   12 |     if (kSums == in_registers) multiply_in_registrs(a, b, c, m, n, k);\n"
     "      |                                ^~~~~~~~~~~~~~~~~~~~\n"},
    {"a linker's error", 55,
     "/usr/bin/ld: /tmp/ccX0Jq1f.o: in function `_ZN12_GLOBAL__N_14tileEPKflS1_lPfllb': undefined reference "
     "to `cblas_sgemm'\n"},
    {"Chinese", 32, "把两个矩阵相乘，结果写入输出。性能取决于缓存和向量化。\n"},
    {"numbers", 39, "192 x 255: 3.14159 us, 2.41x (2.38 to 2.44), 0x7fffffff, 1048576\n"},
};

TEST(Tokens, AreEstimatedALittleAboveTheCount) {
  for (const Sample& sample : kSamples) {
    const auto estimate = static_cast<double>(estimate_tokens(sample.text));
    EXPECT_GE(estimate, 0.95 * sample.counted) << sample.name;
    EXPECT_LE(estimate, 1.4 * sample.counted) << sample.name;
  }
}

TEST(Tokens, AddUp) {
  EXPECT_EQ(estimate_tokens(""), 0);
  EXPECT_EQ(estimate_tokens(std::string(1000, '=')), 250);
  std::string all;
  std::size_t sum = 0;
  for (const Sample& sample : kSamples) {
    all += sample.text;
    sum += estimate_tokens(sample.text);
  }
  EXPECT_NEAR(static_cast<double>(estimate_tokens(all)), static_cast<double>(sum), std::size(kSamples));
}

TEST(Tokens, GrowWithAnyText) {
  std::string text;
  std::size_t last = 0;
  for (int i = 0; i < 4096; ++i) {
    text += static_cast<char>((i * 89 + i / 7) % 256);
    const std::size_t now = estimate_tokens(text);
    EXPECT_LE(now, text.size());
    EXPECT_GE(now + 1, last);
    last = now;
  }
}

}  // namespace
}  // namespace kernelsmith
