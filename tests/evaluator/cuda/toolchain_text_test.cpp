// The toolchain's pure functions: generated sources, the learnt script, shortened messages.
#include "toolchain/build_script.hpp"
#include "toolchain/cuda_source.hpp"
#include "toolchain/diagnostics.hpp"
#include "toolchain_bench.hpp"
#include "vendors/nvidia/learnt_script.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {
namespace {

TEST(TaskHeader, DeclaresTheEntryWithTheTasksTypes) {
  Task task = small_task();
  task.tensors.push_back(tensor("h", TensorRole::inout, Dtype::bf16));
  task.size_order = {"rows", "n"};
  const std::string header = task_header(task, nvidia().toolchain.dialect, OraclePrecision::declared);
  EXPECT_THAT(header, HasSubstr("#include <cuda_bf16.h>\n"));
  EXPECT_THAT(header, Not(HasSubstr("cuda_fp16.h")));
  EXPECT_THAT(header,
              HasSubstr("extern \"C\" void launch(const float* __restrict__ x, float* __restrict__ y, "
                        "__nv_bfloat16* __restrict__ h, std::int64_t rows, std::int64_t n, "
                        "cudaStream_t stream);\n"));
}

TEST(Diagnostics, ComeWithAdviceWhereTheCompilersWordsMislead) {
  EXPECT_THAT(
      advice_on("k.cu(9): error: kernel launch from __device__ or __global__ functions requires separate "
                "compilation mode"),
      HasSubstr("launch every kernel from the host (-rdc does not help)"));
  EXPECT_THAT(advice_on("k.cu:1:10: fatal error: torch/extension.h: No such file or directory"),
              HasSubstr("a task of the backend `torch`"));
  EXPECT_THAT(advice_on("k.cu:1:10: fatal error: helper_cuda.h: No such file or directory"),
              HasSubstr("put what a header declares into the candidate"));
  EXPECT_THAT(advice_on("k.cu:1:10: fatal error: cublas_v2.h: No such file or directory"),
              HasSubstr("leave their headers out"));
  EXPECT_EQ(advice_on("k.cu(9): error: expected a \";\""), "");
}

TEST(EntryParameters, MustNotBeExchanged) {
  const Task task = small_task();
  const auto of = [&](const std::string& parameters) {
    return exchanged_parameters(
        task, one_file("#include \"task.cuh\"\nvoid launch(" + parameters + ", cudaStream_t stream) {}\n"));
  };
  EXPECT_EQ(of("const float* x, float* y, std::int64_t n"), "");
  EXPECT_THAT(of("const float* y, float* x, std::int64_t n"), HasSubstr("is called with (x, y)"));
}

TEST(TaskHeader, InDoubleReadsForeignHeadersBeforeItChangesTypes) {
  Task task = small_task();
  task.files = {{"own.cuh", "#include <mma.h>\n"}};
  const std::string header = task_header(task, nvidia().toolchain.dialect, OraclePrecision::f64,
                                         one_file("#include \"task.cuh\"\n#include \"own.cuh\"\n#include "
                                                  "\"kernel.cu\"\n #  include <cub/cub.cuh> // x\n"
                                                  "#include \"cuda_fp16.h\"\n"));
  const auto types = header.find("#define float double");
  ASSERT_NE(types, std::string::npos);
  for (const char* include : {"<cub/cub.cuh>", "<cuda_fp16.h>", "<mma.h>"})
    EXPECT_LT(header.find(include), types);
  EXPECT_THAT(header, Not(HasSubstr("own.cuh")));
  EXPECT_THAT(header, Not(HasSubstr("<task.cuh>")));
}

TEST(ElementBytes, EveryRealIsADoubleInWidePrecisions) {
  EXPECT_EQ(cuda::element_bytes(Dtype::f16, OraclePrecision::declared), 2U);
  EXPECT_EQ(cuda::element_bytes(Dtype::f16, OraclePrecision::f64), 8U);
  EXPECT_EQ(cuda::element_bytes(Dtype::f64, OraclePrecision::long_double), 8U);
  EXPECT_EQ(cuda::element_bytes(Dtype::i8, OraclePrecision::f64), 1U);
}

TEST(Shim, CallsTheEntryWithTensorsSizesAndStream) {
  EXPECT_THAT(shim_source(small_task(), nvidia()),
              HasSubstr("launch(tensors[0], tensors[1], sizes[0], static_cast<cudaStream_t>(stream));"));
}

const std::string kDryRun =
    "#$ _SPACE_= \n#$ CICC_PATH=/toolkit/nvvm/bin\n#$ LIBRARIES=  \"-L/toolkit/lib\"\n"
    "#$ gcc -E \"unit.cu\" -o \"./unit.cpp4.ii\" \n"
    "#$ cudafe++ --orig_src_path_name \"/tmp/scratch.1/unit.cu\" --gen_module_id_file --module_id_file_name "
    "\"./unit.module_id\" \"./unit.cpp4.ii\" \n"
    "#$ gcc -E \"unit.cu\" -o \"./unit.cpp1.ii\" \n#$ \"$CICC_PATH/cicc\" \"./unit.cpp1.ii\" -o "
    "\"./unit.ptx\"\n"
    "#$ ptxas \"./unit.ptx\"\n#$ fatbinary --create=\"./unit.fatbin\"\n"
    "#$ gcc -c -x c++ \"./unit.cudafe1.cpp\" -o \"unit.o\" \n";

TEST(LearntScript, TakesNvccsStepsWithAModuleIdThatIsGiven) {
  const auto script =
      learnt_script("nvcc warning : something\n" + kDryRun, "/tmp/scratch.1", link_with_shim());
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("export CICC_PATH='/toolkit/nvvm/bin'\n"));
  EXPECT_THAT(*script, HasSubstr("\"/build/unit.cu\" --module_id_file_name"));
  EXPECT_THAT(*script, Not(HasSubstr("fatbinary")));
  EXPECT_THAT(*script, Not(HasSubstr("scratch")));
}

TEST(LearntScript, IsNoneWhereAStepIsMissingDoubledOrUnknown) {
  EXPECT_FALSE(learnt_script("", "/x", ""));
  EXPECT_FALSE(learnt_script(kDryRun.substr(0, kDryRun.find("#$ ptxas")), "/x", ""));
  EXPECT_FALSE(learnt_script(kDryRun + "#$ ptxas \"./unit.ptx\"\n", "/x", ""));
  EXPECT_FALSE(learnt_script(kDryRun + "#$ nvlink unit.o\n", "/x", ""));
}

TEST(Diagnostics, TellEachErrorOnceAndFilesAsTheCandidateNamesThem) {
  const std::string log =
      "source/kernel.cu(1): warning #177-D: variable \"a\" was declared but never referenced\n      int a;\n "
      "         ^"
      "\n\nRemark: The warnings can be suppressed\n\n"
      "source/kernel.cu(2): error: identifier \"foo\" is undefined\n      foo\n      ^\n\n"
      "source/kernel.cu(2): error: identifier \"foo\" is undefined\n      foo\n      ^\n\n"
      "1 error detected in the compilation of \"unit.cu\".\n";
  EXPECT_EQ(errors_of(log), "kernel.cu(2): error: identifier \"foo\" is undefined\n      foo\n      ^\n");
  EXPECT_THAT(warnings_of(log), HasSubstr("kernel.cu(1): warning #177-D"));
  EXPECT_THAT(warnings_of(log), Not(HasSubstr("Remark")));
}

TEST(Diagnostics, AreBoundedAndEscaped) {
  std::string log;
  for (int i = 0; i < 1000; ++i)
    log += "k.cu(" + std::to_string(i) + "): error: \x1b[31m" + std::string(5000, 'x') + "\n";
  const std::string errors = errors_of(log);
  EXPECT_LT(errors.size(), 10000U);
  EXPECT_THAT(errors, HasSubstr("\\x1b"));
  EXPECT_EQ(errors_of("killed\n"), "killed\n");
  EXPECT_LT(errors_of(std::string(100000, 'x')).size(), 5000U);
}

TEST(Diagnostics, FindMissingSymbolsOfEitherLinker) {
  EXPECT_THAT(
      missing_symbols("ld: warning: unit.o: in function `launch':\nunit.cu:(.text+0x5): warning: undefined "
                      "reference to `_Z6helperi'\nunit.o: warning: undefined reference to 'launch'\n"
                      "ld: warning: undefined reference to `_Z6helperi'\n"),
      ElementsAre("_Z6helperi", "launch"));
  EXPECT_TRUE(is_runtime_symbol("cudaMalloc", nvidia().names) &&
              is_runtime_symbol("__cudaRegisterFunction", nvidia().names));
  EXPECT_FALSE(is_runtime_symbol("_Z6helperi", nvidia().names));
}

}  // namespace
}  // namespace kernelsmith::cuda
