// What the tests of MACA share: the stand-ins of its SDK and its driver, and the examples' tasks in its
// dialect.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "backend_of_vendor.hpp"
#include "vendors/maca/maca.hpp"

namespace kernelsmith::cuda {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string replaced(std::string text, const std::string& part, const std::string& by) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

/// CUDA C++ as MACA has it.
inline std::string in_maca(std::string text) {
  text = replaced(text, "backend: cuda", "backend: maca");
  for (const char* name : {"Stream_t", "MallocAsync", "FreeAsync", "GraphCreate"})
    text = replaced(text, "cuda" + std::string(name), "mc" + std::string(name));
  return replaced(text, "__nv_bfloat16", "maca_bfloat16");
}

inline Source maca_source(const std::string& text) { return Source::create({{"seed.cu", text}}).value(); }

class MacaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path root = KERNELSMITH_STAND_IN_MACA;
    ::setenv("MACA_PATH", root.c_str(), 1);
    ::setenv("KERNELSMITH_CACHE", KERNELSMITH_TEST_CACHE, 1);
    // For this process by its soname, for runners by the search path.
    ::setenv("LD_LIBRARY_PATH", (root / "lib").c_str(), 1);
    static void* const library = ::dlopen((root / "lib/libmcruntime.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
  }

  static CudaOptions options() {
    CudaOptions options = usual_options(maca());
    options.bank_bytes = std::size_t{8} << 20;
    options.buffer_bytes = std::size_t{16} << 20;
    options.bank_seconds = 0.01;
    return options;
  }
};

}  // namespace kernelsmith::cuda
