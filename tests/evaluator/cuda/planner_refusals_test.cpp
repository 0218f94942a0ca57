// What a plan cannot hold is refused by name, with what to do instead.
#include <cstdlib>

#include "planner_fixture.hpp"

namespace kernelsmith::cuda {
namespace {

TEST_F(PlannerTest, RefusesByNameWhatItCannotHold) {
  EXPECT_THAT(refused(kReadBack), StartsWith("plan plan_failed: cudaMemcpyAsync: a plan cannot hold reading "
                                             "device memory on the host: "));
  EXPECT_THAT(refused(kManaged), AllOf(StartsWith("plan plan_failed: cudaMallocManaged: a plan cannot hold "
                                                  "managed memory: "),
                                       HasSubstr("cudaMallocAsync")));
  EXPECT_THAT(refused(kGraph), HasSubstr("cudaStreamBeginCapture: a plan cannot hold graphs"));
  EXPECT_THAT(refused(kLargeUpload), HasSubstr("more than 65536 bytes copied from the host"));
  EXPECT_THAT(refused(kHostMemoryInKernel), HasSubstr("kernel add_one is given host memory"));
  EXPECT_THAT(refused(kEndlessLaunches), HasSubstr("more than 4096 operations"));
}

TEST_F(PlannerTest, TensorsAreNoMemoryOfTheHost) {
  for (const PlannerCase one : {kTensorsAsHostMemory, kTensorAsDestination})
    EXPECT_THAT(refused(one), StartsWith("plan plan_failed: cudaMemcpyAsync: both are device pointers: use "
                                         "cudaMemcpyDeviceToDevice"));
  EXPECT_THAT(refused(kNoHostMemory), HasSubstr("its source is said to be on the host, and is not"));
}

TEST_F(PlannerTest, ATensorOfAnEarlierCallIsNamed) {
  const auto planner = start();
  ASSERT_TRUE(ask(*planner, kKeptPointer));
  EXPECT_THAT(
      words(ask(*planner, kKeptPointer, 1024, 1 << 24).error()),
      HasSubstr("operation 1, memset: its memory was tensor 2 of the entry in call 1, and this is call 2. "));
}

TEST_F(PlannerTest, WhatThePlanLeavesOutIsTold) {
  const auto planner = start();
  ASSERT_TRUE(ask(*planner, kTemplateLaunch));
  EXPECT_THAT(planner->left_out(), IsEmpty());
  ASSERT_TRUE(ask(*planner, kPersistence));
  EXPECT_THAT(planner->left_out(),
              ElementsAre(StartsWith("persistence in the L2"), StartsWith("priorities of streams")));
}

TEST_F(PlannerTest, WhatWasRefusedIsTheReasonOfWhatFollows) {
  EXPECT_THAT(refused(kExitAfterRefusal),
              AllOf(StartsWith("plan plan_failed: cudaMallocManaged: a plan cannot hold managed memory: "),
                    HasSubstr("after this: the process ended by itself (exit status 1)"),
                    HasSubstr("stdout: CUDA error: operation not supported")));
  EXPECT_THAT(refused(kCrashAfterRefusal),
              AllOf(StartsWith("plan plan_failed: cudaMallocManaged: "), HasSubstr("after this: signal 11")));
  EXPECT_THAT(refused(kForkAfterRefusal), StartsWith("plan sandbox_violation: "));
}

TEST_F(PlannerTest, ChecksWhereWritesGo) {
  EXPECT_THAT(refused(kWrongWrite), StartsWith("plan plan_failed: operation 1, memset: "));
}

TEST_F(PlannerTest, ARefusedCallLeavesThePlannerUsable) {
  const auto planner = start();
  EXPECT_FALSE(ask(*planner, kReadBack));
  value_of(ask(*planner, kTemplateLaunch));
}

TEST_F(PlannerTest, AKernelThatIsNotInTheModuleIsRefused) {
  kernels_.erase(kernels_.begin());
  EXPECT_THAT(refused(kTemplateLaunch), HasSubstr("_Z5scaleILi3EEvPfPKfi is not in the compiled module"));
}

/// Libraries that need no nvcc.
class LoadTest : public ::testing::Test {
 protected:
  std::string refusal_of(const std::string& source) {
    std::ofstream(folder_.path() / "host.cpp") << source;
    const auto library = folder_.path() / "host.so";
    const std::string command = std::string(KERNELSMITH_TEST_COMPILER) + " -shared -fPIC -Wl,-z,lazy -o " +
                                library.string() + " " + (folder_.path() / "host.cpp").string();
    EXPECT_EQ(std::system(command.c_str()), 0);
    const auto planner = Planner::start(planner_settings(), library, {}, {}, {});
    if (!planner) return words(planner.error());
    const auto call = (*planner)->plan({}, {}, 20);
    return call ? "nothing was refused" : words(call.error());
  }

  const TemporaryFolder folder_;
};

constexpr const char* kEntry = "extern \"C\" void kernelsmith_plan_call(void* const*, const long*, void*) ";

TEST_F(LoadTest, LibrariesOfCudaAreRefusedByName) {
  EXPECT_THAT(refusal_of("extern \"C\" int cublasCreate_v2(void**);" + std::string(kEntry) +
                         "{ void* handle; cublasCreate_v2(&handle); }"),
              StartsWith("plan plan_failed: cublasCreate_v2: a plan cannot hold calls of cuBLAS: "));
}

TEST_F(LoadTest, ALibraryMayMentionWhatItDoesNotCall) {
  EXPECT_EQ(refusal_of("extern \"C\" int cublasCreate_v2(void**);"
                       "int mentioned() { void* handle; return cublasCreate_v2(&handle); }" +
                       std::string(kEntry) + "{}"),
            "nothing was refused");
}

TEST_F(LoadTest, AnUnknownFunctionOfCudaIsRefusedByName) {
  EXPECT_THAT(
      refusal_of("extern \"C\" int cudaOfTomorrow();" + std::string(kEntry) + "{ cudaOfTomorrow(); }"),
      StartsWith("plan plan_failed: cudaOfTomorrow: a plan cannot hold this call: "));
}

TEST_F(LoadTest, WhatNothingDefinesIsNamed) {
  EXPECT_THAT(refusal_of("void lost(int);" + std::string(kEntry) + "{ lost(1); }"),
              HasSubstr("the candidate uses `lost(int)`, which nothing defines"));
  EXPECT_THAT(refusal_of("int other;"), HasSubstr("kernelsmith_plan_call"));
}

TEST_F(LoadTest, WorkBeforeTheEntryIsRefused) {
  EXPECT_THAT(refusal_of("extern \"C\" int cudaMemset(void*, int, unsigned long);"
                         "static int done = cudaMemset((void*)4096, 0, 8);" +
                         std::string(kEntry) + "{}"),
              HasSubstr("cudaMemset: was called before the entry"));
}

TEST_F(LoadTest, ACrashWhileLoadingIsTold) {
  EXPECT_THAT(refusal_of("static int done = (__builtin_trap(), 1);" + std::string(kEntry) + "{}"),
              AllOf(StartsWith("plan crashed: "), HasSubstr("was loaded")));
}

TEST_F(LoadTest, LibrariesThatAreOpenedLaterAreRefusedByName) {
  const std::string source = "#include <dlfcn.h>\n static void* handle = dlopen(\"libcublas.so.13\", 2);" +
                             std::string(kEntry) + "{}";
  EXPECT_THAT(refusal_of(source), StartsWith("plan plan_failed: cublas: a plan cannot hold calls of cuBLAS"));
}

TEST_F(LoadTest, TheDriverThatIsOpenedLaterIsThePlannerItself) {
  const std::string source =
      "#include <dlfcn.h>\n static void* encode = dlsym(dlopen(\"libcuda.so.1\", 2), "
      "\"cuTensorMapEncodeTiled\");"
      "static int done = encode ? 1 : (__builtin_trap(), 1);" +
      std::string(kEntry) + "{}";
  EXPECT_EQ(refusal_of(source), "nothing was refused");
}

TEST_F(LoadTest, AProgramThatIsNotThereIsAnError) {
  auto settings = planner_settings();
  settings.program = folder_.path() / "none";
  error_of(Planner::start(settings, folder_.path(), {}, {}, {}));
}

}  // namespace
}  // namespace kernelsmith::cuda
