// A reference in CUDA C++ and what it is translated into: warps of 32 lanes on waves of 64.
#include <span>

#include "vendors/stand_in.hpp"

namespace kernelsmith::cuda {
namespace {

const StandIn kVendors[] = {kMaca, kHip};

class Translations : public ::testing::TestWithParam<StandIn> {
 protected:
  std::string example(const std::string& file) const {
    const std::string text =
        file_text(std::filesystem::path(KERNELSMITH_EXAMPLES) / ("softmax_" + GetParam().backend) / file);
    return replaced(text, "kThreads = 256", "kThreads = 128");
  }

  Task task() const {
    std::string yaml = example("task.yaml");
    for (const auto& [part, by] : kExamples[0].smaller) yaml = replaced(yaml, part, by);
    yaml = replaced(yaml, "{rows: 300, cols: 5}, {rows: 17, cols: 1023}", "{rows: 5, cols: 130}");
    return parse_task(yaml, "task.yaml",
                      [&](const std::string& path) -> Result<std::string> { return example(path); })
        .value();
  }

  /// With the vendor's names and masks. `first` is where its reductions begin.
  std::string translation(const std::string& first) const {
    std::string text = replaced(example("reference.cu"), "#include \"cuda_names.cuh\"\n", "");
    text = replaced(text, "cudaStream_t", GetParam().prefix + "Stream_t");
    text = replaced(text, "unsigned kAllLanes = 0xffffffffU", "unsigned long kAllLanes = ~0UL");
    if (GetParam().backend == "hip")
      text = replaced(text, "__shfl_xor_sync(kAllLanes, value, step)", "__shfl_xor(value, step)");
    for (const char* const of_lanes : {"kThreads / ", "% ", "threadIdx.x / "})
      text = replaced(text, of_lanes + std::string("32"), of_lanes + std::string("64"));
    return replaced(text, "step = 16", "step = " + first);
  }
};

TEST_P(Translations, LanesDecide) {
  use(GetParam());
  if (const std::string why = missing(GetParam()); !why.empty()) GTEST_SKIP() << why;
  const Task task = this->task();
  const auto made = make_cuda_evaluator(task, options_for(GetParam())).value();
  accepted(evaluate(made, task, example("reference.cu") + "// as it is\n"));
  accepted(evaluate(made, task, translation("32")));
  const Rejection half_a_wave = rejection_of(evaluate(made, task, translation("16")));
  // Half of each row's maximum: where an input is large, its exponential overflows.
  EXPECT_THAT(name_of(half_a_wave.code), AnyOf("wrong_output", "not_finite"));
}

/// Reference and candidate in CUDA C++, without warps: its header alone makes them programs.
TEST(CuBridge, ItsHeadersMakeCudaCppAProgram) {
  use(kMaca);
  const std::string text = replaced(cuda_reference_of(kExamples[0]), "#include \"task.cuh\"\n",
                                    "#include <cuda_runtime.h>\n#include \"task.cuh\"\n");
  std::string yaml = file_text(std::filesystem::path(KERNELSMITH_EXAMPLES) / kExamples[0].name / "task.yaml");
  for (const auto& [part, by] : kExamples[0].smaller) yaml = replaced(yaml, part, by);
  const Task task = parse_task(replaced(yaml, "backend: cuda", "backend: maca"), "task.yaml",
                               [&](const std::string&) -> Result<std::string> { return text; })
                        .value();
  CudaOptions options = options_for(kMaca);
  options.flags.push_back("-I" + (kMaca.sdk() / "tools/cu-bridge/include").string());
  const auto made = make_cuda_evaluator(task, options).value();
  accepted(evaluate(made, task, text + "// as it is\n"));
}

// HIP's compiler takes seconds.
INSTANTIATE_TEST_SUITE_P(Vendors, Translations,
                         ::testing::ValuesIn(std::span(kVendors).first(kAll ? std::size(kVendors) : 1)),
                         [](const auto& test) { return test.param.backend; });

}  // namespace
}  // namespace kernelsmith::cuda
