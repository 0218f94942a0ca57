// What the toolchain's tests compile with: a small task without files, and a compiler for it.
#pragma once

#include <cstdlib>

#include "toolchain/cuda_compiler.hpp"
#include "vendors/nvidia/nvidia.hpp"
#include "verdicts.hpp"

namespace kernelsmith::cuda {

inline TensorSpec tensor(const std::string& name, TensorRole role, Dtype dtype) {
  TensorSpec spec;
  spec.name = name;
  spec.role = role;
  spec.dtype = dtype;
  spec.shape = {"n"};
  return spec;
}

/// void launch(const float* x, float* y, std::int64_t n, cudaStream_t stream)
inline Task small_task() {
  Task task;
  task.name = "small";
  task.entry = "launch";
  task.sizes = {{"n", 8}};
  task.size_order = {"n"};
  task.tensors = {tensor("x", TensorRole::in, Dtype::f32), tensor("y", TensorRole::out, Dtype::f32)};
  return task;
}

inline Source one_file(const std::string& text) { return Source::create({{"kernel.cu", text}}).value(); }

/// The entry of small_task() with that body.
inline std::string entry(const std::string& body) {
  return "extern \"C\" void launch(const float* x, float* y, std::int64_t n, cudaStream_t stream) { " + body +
         " }\n";
}

inline const KernelFacts* find_kernel(const ImageFacts& facts, const std::string& part) {
  for (const KernelFacts& kernel : facts.kernels)
    if (kernel.kernel.name.find(part) != std::string::npos) return &kernel;
  return nullptr;
}

/// Tests that need nvcc skip if there is none. What is kept on disk is theirs alone.
class WithNvcc : public ::testing::Test {
 protected:
  WithNvcc() { ::setenv("KERNELSMITH_CACHE", cache_.path().c_str(), 1); }
  ~WithNvcc() override { ::unsetenv("KERNELSMITH_CACHE"); }
  void SetUp() override {
    if (const auto toolkit = find_toolkit(); !toolkit) GTEST_SKIP() << describe(toolkit.error());
  }

  static std::shared_ptr<const CudaCompiler> compiler(const Task& task = small_task(),
                                                      const CompilerOptions& options = {
                                                          .vendor = &nvidia()}) {
    return CudaCompiler::create(task, options).value();
  }
  /// The rejection of a source that must not compile.
  static Rejection refused(const CudaCompiler& compiler, const std::string& text) {
    return rejection_of(compiler.compile(one_file(text), {}));
  }
  std::filesystem::path kept_folder() const { return cache_.path() / "build"; }

 private:
  const ScratchFolder cache_ = ScratchFolder::create().value();
};

}  // namespace kernelsmith::cuda
