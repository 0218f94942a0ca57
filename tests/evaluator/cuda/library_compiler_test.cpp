// C++ and CUDA sources of a candidate to a library and cubins, with the machine's compilers.
#include <cstdlib>
#include <span>

#include <kernelsmith/evaluator/cuda/library_compiler.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "vendors/nvidia/cubin.hpp"
#include "vendors/nvidia/nvidia.hpp"
#include "verdicts.hpp"

namespace kernelsmith {
namespace {

/// What nvcc's host code asks of the CUDA runtime, and a function of our own.
constexpr const char* kRuntime = R"(extern "C" {
void** __cudaRegisterFatBinary(void*) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 0; }
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, unsigned long, int, int) {}
unsigned __cudaPushCallConfiguration(...) { return 0; }
int __cudaPopCallConfiguration(...) { return 0; }
int cudaLaunchKernel(...) { return 0; }
int __cudaLaunchKernel(...) { return 0; }
int __cudaGetKernel(...) { return 0; }
int cudaGetLastError() { return 0; }
int given() { return 7; }
})";

constexpr const char* kKernel = R"(#include "scale.cuh"
#include <stand_in.h>
__device__ unsigned counter;
static __global__ void scale(float* x, float by) { x[threadIdx.x] *= SCALE * by; atomicAdd(&counter, 1u); }
void scale_all(float* x) { scale<<<1, 32>>>(x, STAND_IN); }
)";

class LibraryCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto toolkit = cuda::find_toolkit(); !toolkit) GTEST_SKIP() << describe(toolkit.error());
    folder_.emplace(ScratchFolder::create().value());
    folder_->write("include/stand_in.h", "#define STAND_IN 2\n").value();
    folder_->write("runtime.cpp", kRuntime).value();
    const std::string path = folder_->path().string();
    ASSERT_EQ(std::system(("g++ -shared -fPIC -o " + path + "/runtime.so " + path + "/runtime.cpp").c_str()),
              0);
    compiler_ =
        LibraryCompiler::create({folder_->path() / "include", folder_->path() / "runtime.so"}).value();
  }

  static LibraryJob job() {
    LibraryJob job;
    job.files = {{"main.cpp",
                  "#include \"scale.cuh\"\nvoid scale_all(float*);\nextern \"C\" int given();\n"
                  "extern \"C\" int call(float* x) { scale_all(x); return SCALE * given(); }\n"},
                 {"cuda.cu", kKernel},
                 {"scale.cuh", "#pragma once\n#define SCALE 3\n"}};
    job.flags = {"-std=c++17"};
    return job;
  }

  std::string refusal(const LibraryJob& job, RejectionCode code = RejectionCode::compile_failed) {
    const Rejection rejection = rejection_of(compiler_->build(job, {}));
    EXPECT_EQ(rejection.code, code);
    EXPECT_EQ(rejection.stage, Stage::compile);
    return rejection.diagnostics;
  }

  std::optional<ScratchFolder> folder_;
  std::shared_ptr<LibraryCompiler> compiler_;
};

TEST_F(LibraryCompilerTest, FilesBecomeALibraryAndACubinOfEachCudaFile) {
  LibraryJob two = job();
  two.files.push_back(
      {"other.cu", "static __global__ void scale() {}\nvoid other() { scale<<<1, 1>>>(); }\n"});
  const auto built = value_of(compiler_->build(two, {}));
  EXPECT_THAT(built.host, StartsWith("\x7f"
                                     "ELF"));
  EXPECT_THAT(built.host, HasSubstr("scale_all"));
  ASSERT_THAT(built.device, SizeIs(2));
  EXPECT_EQ(built.bytes(), built.host.size() + built.device[0].size() + built.device[1].size());
  std::vector<cuda::ImageFacts> facts;
  for (const std::string& cubin : built.device)
    facts.push_back(cuda::read_cubin(std::as_bytes(std::span(cubin))).value());
  ASSERT_THAT(facts[0].kernels, SizeIs(1));
  ASSERT_THAT(facts[1].kernels, SizeIs(1));
  EXPECT_EQ(facts[0].symbols, std::vector<std::string>{"counter"});
  // Static kernels of one name in two files are two kernels, which the host half names as the cubins do.
  EXPECT_NE(facts[0].kernels[0].kernel.name, facts[1].kernels[0].kernel.name);
  for (const auto& each : facts) EXPECT_THAT(built.host, HasSubstr(each.kernels[0].kernel.name));
}

TEST_F(LibraryCompilerTest, TheSameSourcesGiveTheSameDeviceCode) {
  const auto first = compiler_->build(job(), {}), second = compiler_->build(job(), {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->device, second->device);
}

TEST_F(LibraryCompilerTest, CppAloneNeedsNoDevice) {
  LibraryJob host = job();
  host.files = {{"main.cpp", "extern \"C\" int given();\nint twice() { return 2 * given(); }\n"}};
  const auto built = value_of(compiler_->build(host, {}));
  EXPECT_TRUE(built.device.empty());
}

TEST_F(LibraryCompilerTest, FlagsReachTheirCompilers) {
  LibraryJob with = job();
  with.files[0].text += "\n#ifndef BOTH\n#error no BOTH\n#endif\n";
  with.files[1].text +=
      "\n#ifndef BOTH\n#error no BOTH\n#endif\n__global__ void exact(float* x) { *x = sinf(*x); }\n";
  with.flags.push_back("-DBOTH=1");
  const auto exact = compiler_->build(with, {});
  with.device_flags = {"--use_fast_math"};
  const auto fast = compiler_->build(with, {});
  ASSERT_TRUE(exact && fast);
  EXPECT_LT(fast->device.front().size(), exact->device.front().size()) << "the device's own sine";
  with.flags.pop_back();
  EXPECT_THAT(refusal(with), HasSubstr("no BOTH"));
}

TEST_F(LibraryCompilerTest, ErrorsOfBothCompilersAreTold) {
  LibraryJob wrong = job();
  wrong.files[0].text = "#line 1 \"main.cpp\"\nint x = nobody;\n";
  wrong.files[1].text += "#line 40 \"cuda.cu\"\n__global__ void k() { nothing(); }\n";
  const std::string told = refusal(wrong);
  EXPECT_THAT(told, HasSubstr("main.cpp:1:9: error: 'nobody' was not declared in this scope"));
  EXPECT_THAT(told, HasSubstr("cuda.cu(40): error: identifier \"nothing\" is undefined"));
}

TEST_F(LibraryCompilerTest, NamesThatNobodyDefinesAreTold) {
  LibraryJob wrong = job();
  wrong.files[0].text += "int missing(float);\nint use() { return missing(1.f); }\n";
  EXPECT_THAT(refusal(wrong), HasSubstr("functions that are used and not defined:\nmissing(float)"));
}

TEST_F(LibraryCompilerTest, FlagsThatNvccDoesNotTakeAreTheCandidates) {
  LibraryJob wrong = job();
  wrong.device_flags = {"--no-such-flag"};
  EXPECT_THAT(refusal(wrong), HasSubstr("no-such-flag"));
}

TEST_F(LibraryCompilerTest, OnlyDeclaredFoldersAreSeen) {
  folder_->write("library/more.h", "#define MORE 1\n").value();
  LibraryJob with = job();
  with.files[1].text += "#include <more.h>\nstatic_assert(MORE == 1);\n";
  EXPECT_THAT(refusal(with), HasSubstr("more.h: No such file"));
  const LibraryJob without = with;
  with.include = {folder_->path() / "library"};
  EXPECT_TRUE(compiler_->build(with, {}));
  EXPECT_NE(with.digest(), without.digest());
}

TEST_F(LibraryCompilerTest, AStopRequestEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of(compiler_->build(job(), stop.get_token())).code, ErrorCode::cancelled);
}

TEST(LibraryJob, ItsDigestIsOfAllOfIt) {
  LibraryJob job;
  job.files = {{"a.cu", "x"}};
  std::vector<LibraryJob> others(5, job);
  others[0].arch = 80;
  others[1].files[0].path = "b.cu";
  others[2].flags = {"-DX"};
  others[3].device_flags = {"-DX"};
  others[4].include = {"/x"};
  for (std::size_t i = 0; i < others.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(others[i].digest(), others[k].digest()) << i << " " << k;
  for (const LibraryJob& other : others) EXPECT_NE(other.digest(), job.digest());
}

}  // namespace
}  // namespace kernelsmith
