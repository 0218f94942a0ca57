// The compiler: what it makes of candidates and of the task's own sources, and how it reports what is wrong.
#include <iterator>

#include "toolchain_bench.hpp"

namespace kernelsmith::cuda {
namespace {

class CudaCompilerTest : public WithNvcc {
 protected:
  std::set<std::filesystem::path> kept() const {
    std::set<std::filesystem::path> files;
    if (std::filesystem::exists(kept_folder()))
      for (const auto& file : std::filesystem::directory_iterator(kept_folder())) files.insert(file.path());
    return files;
  }
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Kernels of every linkage, in two files and a header; a parameter of more than 512 bytes, one of more than
// 4 KB, and one that is aligned to 128.
const char* const kKernels = R"(
#include <cuda.h>
#include "task.cuh"
#include "parts/types.cuh"
__device__ float device_variable[16];
__constant__ float constant_variable[4];
namespace {
__global__ void in_anonymous_namespace(int* p) { *p = 1; }
}
static __global__ void is_static(float* p, Block<600> b, short s) {
  __shared__ float t[100];
  t[threadIdx.x] = b.c[threadIdx.x];
  __syncthreads();
  *p = t[3] + s + device_variable[1] + constant_variable[2];
}
__global__ void takes_map(const __grid_constant__ CUtensorMap m, float* o, char c) {
  *o = c + reinterpret_cast<const int*>(&m)[3];
}
__global__ void takes_much(float* p, Block<20000> b) { *p = b.c[*reinterpret_cast<int*>(p)]; }
template <class P>
__global__ void of_policy(float* p, P) { *p = 1; }
__global__ void has_an_array(float* p, int n) {
  float a[100];
  for (int i = 0; i < 100; ++i) a[i] = p[i * n];
  for (int i = 0; i < n; ++i) a[(i * 7 + n) % 100] += a[i % 100];
  float s = 0;
  for (int i = 0; i < 100; ++i) s += a[i] * i;
  *p = s;
}
)";
const char* const kEntry = R"(
extern "C" void launch(const float* x, float* y, std::int64_t n, cudaStream_t stream) {
  in_anonymous_namespace<<<1, 1, 0, stream>>>(nullptr);
  is_static<<<1, 1, 0, stream>>>(y, {}, 3);
  takes_map<<<1, 1, 0, stream>>>(CUtensorMap{}, y, 1);
  takes_much<<<1, 1, 0, stream>>>(y, {});
  of_policy<<<1, 1, 0, stream>>>(y, Policy<float, double, Policy<int, int, int, 3>, 4>{});
  has_an_array<<<1, 1, 0, stream>>>(y, 3);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
}
)";
const char* const kTypes = R"(
#pragma once
template <int N> struct Block { char c[N]; int x; };
template <class A, class B, class C, int N> struct Policy_with_a_name_that_goes_on_and_on_for_ever_and_ever_and_a_day {};
template <class A, class B, class C, int N>
using Policy = Policy_with_a_name_that_goes_on_and_on_for_ever_and_ever_and_a_day<A, B, C, N>;
)";

TEST_F(CudaCompilerTest, BothHalvesKnowEveryKernelByTheSameName) {
  const Source source =
      Source::create({{"parts/kernels.cu", kKernels}, {"parts/types.cuh", kTypes}, {"entry.cpp", kEntry}})
          .value();
  const auto output = value_of(compiler()->compile(source, {}));
  const ImageFacts& facts = output.binary->facts();
  EXPECT_EQ(facts.arch, 90U);
  ASSERT_EQ(facts.kernels.size(), 6U);
  const std::string library = text_of(output.binary->host_library());
  for (const KernelFacts& kernel : facts.kernels)
    EXPECT_NE(library.find(kernel.kernel.name), std::string::npos) << kernel.kernel.name;
  EXPECT_NE(library.find("kernelsmith_plan_call"), std::string::npos);
  EXPECT_EQ(facts.symbols, (std::vector<std::string>{"constant_variable", "device_variable"}));

  using Parameters = std::vector<plan::Parameter>;
  EXPECT_EQ(find_kernel(facts, "in_anonymous_namespace")->kernel.parameters, (Parameters{{0, 8}}));
  const plan::Kernel& is_static = find_kernel(facts, "is_static")->kernel;
  EXPECT_EQ(is_static.parameters, (Parameters{{0, 8}, {8, 604}, {612, 2}}));
  EXPECT_EQ(is_static.static_shared, 400U);
  EXPECT_GT(is_static.registers, 0U);
  const Parameters map = find_kernel(facts, "takes_map")->kernel.parameters;
  ASSERT_EQ(map.size(), 3U);
  EXPECT_EQ(map[0].size, 128U);
  EXPECT_EQ(map[1], (plan::Parameter{map[0].offset + 128, 8}));
  EXPECT_EQ(map[2], (plan::Parameter{map[0].offset + 136, 1}));
  EXPECT_EQ(find_kernel(facts, "takes_much")->kernel.parameters, (Parameters{{0, 8}, {8, 20004}}));
  EXPECT_GT(find_kernel(facts, "of_policy")->kernel.name.size(), 100U);
  EXPECT_EQ(find_kernel(facts, "has_an_array")->kernel.local, 400U);

  const auto again = compiler()->compile(source, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->binary->exact_bytes(), output.binary->exact_bytes());
}

TEST_F(CudaCompilerTest, ErrorsNameTheCandidatesFilesAndNothingOfTheMachine) {
  const auto made = compiler();
  const Rejection host =
      refused(*made, "__global__ void k(float* y) { int unused; y[0] = foo; }\n" + entry(""));
  EXPECT_EQ(host.code, RejectionCode::compile_failed);
  EXPECT_THAT(host.diagnostics, HasSubstr("kernel.cu(1): error: identifier \"foo\" is undefined"));
  EXPECT_THAT(host.diagnostics, Not(HasSubstr("warning")));
  EXPECT_THAT(host.diagnostics, Not(HasSubstr("/")));

  const Rejection device =
      refused(*made, "__global__ void k(float* y) {\n#ifdef __CUDA_ARCH__\ny = 3.5;\n#endif\n}\n" +
                         entry("k<<<1, 1>>>(y);"));
  EXPECT_EQ(device.code, RejectionCode::compile_failed);
  EXPECT_THAT(device.diagnostics, HasSubstr("kernel.cu(3): error: "));
  const Rejection code =
      refused(*made, "__global__ void k(float* y) { asm volatile(\"bogus %0;\" :: \"f\"(*y)); }\n" +
                         entry("k<<<1, 1>>>(y);"));
  EXPECT_EQ(code.code, RejectionCode::compile_failed);
  EXPECT_THAT(code.diagnostics, HasSubstr("Not a name of any known instruction: 'bogus'"));
  EXPECT_EQ(refused(*made, "const char* when = __DATE__;\n").code, RejectionCode::compile_failed);
}

TEST_F(CudaCompilerTest, TellsWhatIsNotDefined) {
  const auto made = compiler();
  const Rejection nothing = refused(*made, "int other;\n");
  EXPECT_EQ(nothing.code, RejectionCode::entry_missing);
  EXPECT_THAT(nothing.diagnostics, HasSubstr("extern \"C\" void launch(const float* __restrict__ x, "
                                             "float* __restrict__ y, std::int64_t n, cudaStream_t stream);"));
  const Rejection overload =
      refused(*made, "void launch(const float* x, float* y, int n, cudaStream_t s) {}\n");
  EXPECT_EQ(overload.code, RejectionCode::entry_missing);
  const Rejection signature = refused(*made, "extern \"C\" void launch(float* y, cudaStream_t s) {}\n");
  EXPECT_EQ(signature.code, RejectionCode::compile_failed);
  EXPECT_THAT(signature.diagnostics, HasSubstr("std::int64_t n, cudaStream_t stream);"));
  const Rejection helper = refused(*made, "int helper(int);\n" + entry("helper(3);"));
  EXPECT_EQ(helper.code, RejectionCode::compile_failed);
  EXPECT_THAT(helper.diagnostics, HasSubstr("helper(int)"));
  const Rejection twice = refused(*made, "extern \"C\" void kernelsmith_plan_call() {}\n" + entry(""));
  EXPECT_EQ(twice.code, RejectionCode::compile_failed);
  EXPECT_THAT(twice.diagnostics, HasSubstr("multiple definition of"));
  EXPECT_EQ(made->compile(Source::create({{"readme.txt", ""}}).value(), {}).has_value(), false);
}

TEST_F(CudaCompilerTest, LeavesCudasLibrariesToThePlanner) {
  const auto output =
      compiler()->compile(one_file("extern \"C\" int cublasCreate_v2(void**);\n" +
                                   entry("cublasCreate_v2(nullptr); cudaMemsetAsync(y, 0, n, stream);")),
                          {});
  EXPECT_TRUE(output);
}

TEST_F(CudaCompilerTest, SeesNoFilesOfTheMachine) {
  const auto made = compiler();
  EXPECT_THAT(refused(*made, "#include \"/etc/passwd\"\n").diagnostics, HasSubstr("No such file"));
  EXPECT_THAT(refused(*made, "#include \"../../tmp/x.h\"\n").diagnostics, HasSubstr("No such file"));
  const Rejection bytes = refused(*made, entry("asm(\".incbin \\\"/etc/passwd\\\"\");"));
  EXPECT_EQ(bytes.code, RejectionCode::compile_failed);
  EXPECT_THAT(bytes.diagnostics, Not(HasSubstr("root:")));
}

TEST_F(CudaCompilerTest, EndsAtItsLimit) {
  CompilerOptions options{.vendor = &nvidia()};
  options.timeout_s = 2;
  const Rejection bomb =
      refused(*compiler(small_task(), options),
              "template <int N, long M> struct X { X<N - 1, 2 * M> a; X<N - 1, 2 * M + 1> b; };\n"
              "template <long M> struct X<0, M> {};\nX<26, 0> x;\n" +
                  entry(""));
  EXPECT_EQ(bomb.code, RejectionCode::compile_limit) << bomb.diagnostics;
  EXPECT_EQ(refused(*compiler(), "int much[1 << 28] = {1};\n" + entry("much[n] = 2;")).code,
            RejectionCode::compile_limit);
  EXPECT_EQ(refused(*compiler(),
                    "template <int N> struct R { static const int v = R<N + 1>::v; };\nint x = R<0>::v;\n")
                .code,
            RejectionCode::compile_failed);
}

TEST_F(CudaCompilerTest, StopsOnRequest) {
  const auto made = compiler();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of(made->compile(one_file(entry("")), stop.get_token())).code, ErrorCode::cancelled);
}

TEST_F(CudaCompilerTest, KeepsTrustedBinariesForTheNextProcessAndNoCandidates) {
  const Source source =
      one_file("__global__ void k(float* y) { *y = 1; }\n" + entry("k<<<1, 1, 0, stream>>>(y);"));
  const auto first = compiler();
  const auto before = kept();
  const auto candidate = first->compile(source, {});
  ASSERT_TRUE(candidate);
  EXPECT_EQ(kept(), before);
  const auto built = first->build({source, "reference"}).value();
  EXPECT_EQ(built->exact_bytes(), candidate->binary->exact_bytes());
  auto files = kept();
  for (const auto& file : before) files.erase(file);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(compiler()->build({source, "reference"}).value()->exact_bytes(), built->exact_bytes());

  // What is found in the cache is what is given: a byte more of the host library is seen.
  const std::string content = text_of(*files.begin()).substr(digest_of("").hex().size()) + "x";
  std::ofstream(*files.begin(), std::ios::binary) << digest_of(content).hex() << content;
  EXPECT_NE(compiler()->build({source, "reference"}).value()->exact_bytes(), built->exact_bytes());
}

TEST_F(CudaCompilerTest, SaysWhoseSourceDoesNotCompile) {
  const auto built = compiler()->build({one_file("syntax error"), "reference", OraclePrecision::f64});
  EXPECT_EQ(built.error().code, ErrorCode::refused);
  EXPECT_THAT(built.error().message, HasSubstr("the task's reference does not compile: "));
}

TEST_F(CudaCompilerTest, RefusesFlagsThatNvccDoesNotKnow) {
  Task task = small_task();
  task.flags = {"--no-such-flag"};
  const auto made = CudaCompiler::create(task, {.vendor = &nvidia()});
  EXPECT_EQ(made.error().code, ErrorCode::tool_failed);
  EXPECT_THAT(describe(made.error()), HasSubstr("--no-such-flag"));
}

TEST_F(CudaCompilerTest, HasNvccTakeItsOwnStepsWhereOneIsNotKnown) {
  const Toolkit toolkit = find_toolkit().value();
  if (!toolkit.root.string().starts_with("/usr/")) GTEST_SKIP() << "the sandbox shows one toolkit";
  const auto other = ScratchFolder::create().value();
  ASSERT_TRUE(other.write("bin/nvcc",
                          "#!/bin/sh\nfor word; do [ \"$word\" = --dryrun ] && echo '#$ mystery' >&2 && "
                          "exit 0; done\nexec " +
                              toolkit.compiler.string() + " \"$@\"\n"));
  std::filesystem::permissions(other.path() / "bin/nvcc", std::filesystem::perms(0755));
  std::filesystem::create_directory_symlink(toolkit.root / "include", other.path() / "include");
  CompilerOptions options{.vendor = &nvidia()};
  options.toolkit = other.path();
  const auto output =
      value_of(compiler(small_task(), options)
                   ->compile(one_file("namespace { __global__ void hidden(float* y) { *y = 1; } }\n" +
                                      entry("hidden<<<1, 1, 0, stream>>>(y);")),
                             {}));
  ASSERT_EQ(output.binary->facts().kernels.size(), 1U);
  EXPECT_THAT(text_of(output.binary->host_library()),
              HasSubstr(output.binary->facts().kernels.front().kernel.name));
}

// One kernel for each kind of element that a reference can have.
const char* const kReference = R"(
#include "task.cuh"
#include <cooperative_groups.h>
#include "activation.cuh"
__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int n) {
  extern __shared__ float row[];
  __shared__ float partial[32];
  float most = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i] = x[i]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __expf(row[i] - most) + expf(-FLT_MAX);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int w = 0; w < 32; ++w) sum += partial[w];
  const float4 four = make_float4(sum, rsqrtf(n), fmax(sum, 0.f), __fdividef(sum, 2.f));
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = __expf(row[i] - most) / four.x;
}
__global__ void halves(const __half* h, half* g, int n) {
  const int i = threadIdx.x;
  const float v = activation(__half2float(h[i]));
  g[i] = __float2half(v);
  g[i] = __hmul(static_cast<half>(v), h[i]);
}
__global__ void bfloats(const __nv_bfloat16* b, __nv_bfloat16* c) {
  const float v = __bfloat162float(b[threadIdx.x]);
  c[threadIdx.x] = __float2bfloat16(tanhf(v) * static_cast<float>(b[0]));
}
__global__ void fp8(const __nv_fp8_e4m3* e, __nv_fp8_e5m2* f) { *f = __nv_fp8_e5m2(2 * float(*e)); }
__global__ void quantise(const float* x, std::int8_t* q, float scale) {
  q[threadIdx.x] = static_cast<std::int8_t>(__float2int_rn(fminf(127.f, rintf(x[threadIdx.x] / scale))));
}
void launch(const float* x, float* y, const __half* h, __half* g, const __nv_bfloat16* b, __nv_bfloat16* c,
            const __nv_fp8_e4m3* e, __nv_fp8_e5m2* f, std::int8_t* q, bool* t, std::int64_t n, cudaStream_t stream) {
  softmax<<<1, 256, n * sizeof(float), stream>>>(x, y, int(n));
  halves<<<1, 256, 0, stream>>>(h, g, int(n));
  bfloats<<<1, 256, 0, stream>>>(b, c);
  fp8<<<1, 1, 0, stream>>>(e, f);
  quantise<<<1, 256, 0, stream>>>(x, q, 0.5f);
}
)";

TEST_F(CudaCompilerTest, BuildsReferencesOfEveryKindInBothPrecisions) {
  Task task = small_task();
  for (const auto& [name, role, dtype] :
       {std::tuple("h", TensorRole::in, Dtype::f16), std::tuple("g", TensorRole::out, Dtype::f16),
        std::tuple("b", TensorRole::in, Dtype::bf16), std::tuple("c", TensorRole::out, Dtype::bf16),
        std::tuple("e", TensorRole::in, Dtype::f8e4m3), std::tuple("f", TensorRole::out, Dtype::f8e5m2),
        std::tuple("q", TensorRole::out, Dtype::i8), std::tuple("t", TensorRole::out, Dtype::boolean)})
    task.tensors.push_back(tensor(name, role, dtype));
  task.files = {{"activation.cuh",
                 "#pragma once\n#include <algorithm>\n"
                 "__device__ inline float activation(float v) { return v / (1.f + expf(-v)); }\n"}};
  const auto made = compiler(task);
  const Source source = one_file(kReference);
  const auto declared = made->build({source, "reference"}).value();
  EXPECT_NE(find_kernel(declared->facts(), "halvesPK6__half"), nullptr);
  const auto wide = made->build({source, "reference", OraclePrecision::f64}).value();
  for (const char* name : {"softmaxPKdPdi", "halvesPKdPdi", "bfloatsPKdPd", "fp8PKdPd", "quantisePKdPad"})
    EXPECT_NE(find_kernel(wide->facts(), name), nullptr) << name;
  EXPECT_EQ(find_kernel(wide->facts(), "softmax")->kernel.static_shared, 32 * sizeof(double));
}

}  // namespace
}  // namespace kernelsmith::cuda
