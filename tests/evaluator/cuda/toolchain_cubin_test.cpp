// What is read of cubins: of one that is kept, with and without damage, and of fresh ones.
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "toolchain_bench.hpp"

namespace kernelsmith::cuda {
namespace {

/// extern "C" __global__ void tiny(const float* x, float* y, short n), with 128 bytes of shared memory and
/// __constant__ float factor; by nvcc 13.0 -arch=sm_90.
std::vector<std::byte> tiny() {
  std::ifstream file(KERNELSMITH_SOURCE_DIR "/tests/regressions/cubin_fuzz/tiny_sm_90.cubin",
                     std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Cubin, TellsKernelsWithTheirParametersAndResources) {
  const auto facts = read_cubin(tiny()).value();
  EXPECT_EQ(facts.arch, 90U);
  EXPECT_THAT(facts.symbols, ElementsAre("factor"));
  ASSERT_EQ(facts.kernels.size(), 1U);
  const plan::Kernel& kernel = facts.kernels.front().kernel;
  EXPECT_EQ(kernel.name, "tiny");
  EXPECT_EQ(kernel.parameters, (std::vector<plan::Parameter>{{0, 8}, {8, 8}, {16, 2}}));
  EXPECT_EQ(kernel.static_shared, 128U);
  EXPECT_EQ(kernel.local, 0U);
  EXPECT_GT(kernel.registers, 4U);
  EXPECT_FALSE(facts.kernels.front().tensor_cores);
}

TEST(Cubin, OlderFilesTellTheArchitectureInTheLowestByte) {
  auto bytes = tiny();
  constexpr std::size_t kAbiVersion = 8, kFlags = 48;
  bytes[kAbiVersion] = std::byte{7};
  const std::uint32_t flags = 0x00500550;
  std::memcpy(bytes.data() + kFlags, &flags, sizeof flags);
  EXPECT_EQ(read_cubin(bytes)->arch, 80U);
}

TEST(Cubin, RefusesWhatIsNone) {
  EXPECT_FALSE(read_cubin({}));
  const auto whole = tiny();
  constexpr std::size_t kType = 16, kMachine = 18;
  for (const std::size_t at : {std::size_t{0}, std::size_t{4}, kType, kMachine}) {
    auto bytes = whole;
    bytes[at] = std::byte{1};
    EXPECT_EQ(read_cubin(bytes).error().code, ErrorCode::bad_input) << at;
  }
}

TEST(Cubin, DamageIsRefusedOrHarmless) {
  const auto whole = tiny();
  for (std::size_t size = 0; size < whole.size(); ++size) (void)read_cubin(std::span(whole).first(size));
  auto bytes = whole;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::byte value : {std::byte{0xff}, std::byte{0x80}, std::byte{0}}) {
      bytes[at] = value;
      const auto facts = read_cubin(bytes);
      if (!facts) continue;
      for (const KernelFacts& kernel : facts->kernels) EXPECT_LE(kernel.kernel.parameters.size(), 3U);
    }
    bytes[at] = whole[at];
  }
}

using FreshCubin = WithNvcc;

TEST_F(FreshCubin, TellsArchitecturesMatrixInstructionsAndLocalMemory) {
  const Source source = one_file(R"(
#include <mma.h>
__global__ void plain(float* y) { __shared__ float t[64]; t[threadIdx.x] = *y; __syncthreads(); *y = 2 / t[3]; }
__global__ void matrix(const half* a, float* y) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.f);
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, a, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(y, sum, 16, mem_row_major);
}
__global__ void array(const int* x, float* y) {
  volatile float kept[100];
  for (int i = 0; i < 100; ++i) kept[i] = y[i];
  *y = kept[*x];
}
__device__ __noinline__ int deeper(int n, volatile int* x) {
  int kept[20];
  for (int i = 0; i < 20; ++i) kept[i] = x[i] * n;
  return n <= 0 ? kept[x[3] % 20] : deeper(n - 1, x) + kept[x[1] % 20];
}
__global__ void recursion(int* x, int n) { *x = deeper(n, x); }
using Function = int (*)(int, volatile int*);
__device__ Function chosen[2] = {deeper, deeper};
__global__ void pointer(int* x, int n) { *x = chosen[n](n, x); }
)" + entry(""));
  for (const std::string arch : {"sm_80", "sm_90a", "sm_100a"}) {
    CompilerOptions options{.vendor = &nvidia()};
    options.arch = arch;
    const auto output = compiler(small_task(), options)->compile(source, {});
    ASSERT_TRUE(output) << arch;
    const ImageFacts& facts = output->binary->facts();
    EXPECT_EQ("sm_" + std::to_string(facts.arch), arch.substr(0, arch.find('a')));
    EXPECT_TRUE(find_kernel(facts, "matrix")->tensor_cores) << arch;
    EXPECT_FALSE(find_kernel(facts, "plain")->tensor_cores) << arch;
    EXPECT_EQ(find_kernel(facts, "plain")->kernel.static_shared, 256U) << arch;
    EXPECT_EQ(find_kernel(facts, "plain")->kernel.local, 0U) << arch;
    EXPECT_EQ(find_kernel(facts, "array")->kernel.local, 400U) << arch;
    for (const char* unknown : {"recursion", "pointer"})
      EXPECT_EQ(find_kernel(facts, unknown)->kernel.local, 1024U)
          << arch << ": the compiler does not know how much";
  }
}

TEST_F(FreshCubin, TellsWarpgroupMatrixInstructions) {
  const auto output = compiler()->compile(one_file(R"(
__global__ void matrix(unsigned long long a, unsigned long long b, float* y) {
  float f[4] = {y[0], y[1], y[2], y[3]};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;}"
               : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "l"(a), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  y[0] = f[0] + f[1] + f[2] + f[3];
}
)" + entry("matrix<<<1, 128>>>(0, 0, y);")),
                                          {});
  ASSERT_TRUE(output) << words(output.error());
  EXPECT_TRUE(output->binary->facts().kernels.at(0).tensor_cores);
}

TEST(Toolkit, SaysHowToGetIt) {
  const auto none = find_toolkit("/usr/share");
  EXPECT_EQ(none.error().code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(none.error()), HasSubstr("CUDA_HOME"));
}

TEST(Toolkit, IsNotLookedForElsewhereWhereCudaHomeIsWrong) {
  const char* const before = std::getenv("CUDA_HOME");
  const std::string kept = before ? before : "";
  ::setenv("CUDA_HOME", "/usr/share", 1);
  const auto none = find_toolkit();
  before ? ::setenv("CUDA_HOME", kept.c_str(), 1) : ::unsetenv("CUDA_HOME");
  EXPECT_THAT(describe(none.error()), AllOf(HasSubstr("where CUDA_HOME says"), HasSubstr("/usr/share")));
}

TEST_F(FreshCubin, ComesFromAToolkitWithAVersion) {
  const Toolkit toolkit = find_toolkit().value();
  EXPECT_THAT(toolkit.version, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(find_toolkit(toolkit.root)->compiler, toolkit.compiler);
}

}  // namespace
}  // namespace kernelsmith::cuda
