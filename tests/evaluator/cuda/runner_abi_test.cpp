// What only a toolkit can tell: that our declarations are cuda.h's, and that our PTX assembles.
#include <cstdlib>

#include <unistd.h>

#include <kernelsmith/evaluator/cuda/ptx_kernels.hpp>

#include "testing.hpp"

namespace kernelsmith::cuda {
namespace {

std::filesystem::path toolkit() {
  const char* const home = std::getenv("CUDA_HOME");
  return home != nullptr ? home : "/usr/local/cuda";
}

TEST(DriverAbi, IsThatOfTheToolkitsHeader) {
  if (!std::filesystem::exists(toolkit() / "include/cuda.h")) GTEST_SKIP() << "no CUDA toolkit";
  const std::string root = KERNELSMITH_SOURCE_DIR;
  const std::string command = std::string(KERNELSMITH_CXX) + " -std=c++20 -fsyntax-only -I" + root +
                              "/evaluator/cuda -isystem '" + (toolkit() / "include").string() + "' " + root +
                              "/tests/evaluator/cuda/abi_check.cpp";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(OwnKernels, AssembleForEveryArchitecture) {
  const auto ptxas = toolkit() / "bin/ptxas";
  if (!std::filesystem::exists(ptxas)) GTEST_SKIP() << "no ptxas";
  const auto file =
      std::filesystem::temp_directory_path() / ("kernelsmith-" + std::to_string(::getpid()) + ".ptx");
  for (const std::string& text : {std::string(kPlainKernels), local_wipe_of(1024), local_wipe_of(100'000)}) {
    std::ofstream(file) << text;
    for (const char* arch : {"sm_80", "sm_90a", "sm_100"}) {
      // A register that is spilled is not held.
      const std::string command =
          ptxas.string() + " -warn-spills -Werror -arch=" + arch + " -o /dev/null '" + file.string() + "'";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace kernelsmith::cuda
