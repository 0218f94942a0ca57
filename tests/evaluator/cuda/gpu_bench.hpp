// A GPU for tests: the real one, or fake_driver.cpp as driver_choice.cpp says.
#pragma once

#include <cstdlib>
#include <cstring>
#include <span>

#include <dlfcn.h>

#include <kernelsmith/sandbox/locate.hpp>

#include "device/context.hpp"
#include "device/device.hpp"
#include "runner/runner.hpp"
#include "testing.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {

/// The fake driver's file; null in the program that tests the real one.
extern const char* const kFakeDriver;

/// For this process by its soname, for runners by the search path.
inline void use_fake_driver() {
  if (kFakeDriver == nullptr) return;
  static void* const library = ::dlopen(kFakeDriver, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  ::setenv("LD_LIBRARY_PATH", std::filesystem::path(kFakeDriver).parent_path().c_str(), 1);
}

inline std::filesystem::path runner_program() {
  return locate_program("kernelsmith-cuda-runner", "KERNELSMITH_CUDA_RUNNER").value();
}

inline std::optional<std::string> find_nvcc() {
  for (const char* home : {std::getenv("CUDA_HOME"), static_cast<char*>(nullptr)}) {
    const auto path = std::filesystem::path(home != nullptr ? home : "/usr/local/cuda") / "bin/nvcc";
    if (std::filesystem::exists(path)) return path.string();
  }
  return std::nullopt;
}

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// runner_kernels.cu for this GPU, compiled once for the process. Empty if there is no nvcc.
inline const std::vector<std::byte>& test_cubin(std::uint32_t arch) {
  static const std::vector<std::byte> cubin = [&]() -> std::vector<std::byte> {
    if (kFakeDriver != nullptr) return std::vector<std::byte>(64);
    const auto nvcc = find_nvcc();
    if (!nvcc) return {};
    const auto out = std::filesystem::temp_directory_path() /
                     ("kernelsmith-runner-test-" + std::to_string(::getpid()) + ".cubin");
    const std::string command = "'" + *nvcc + "' -std=c++17 -cubin -arch=sm_" + std::to_string(arch) +
                                " -o '" + out.string() +
                                "' '" KERNELSMITH_SOURCE_DIR "/tests/evaluator/cuda/runner_kernels.cu'";
    const int status = std::system(command.c_str());
    auto bytes = status == 0 ? read_bytes(out) : std::vector<std::byte>{};
    std::filesystem::remove(out);
    return bytes;
  }();
  return cubin;
}

/// The parameters of a kernel, asked of the driver.
inline std::vector<plan::Parameter> parameters_of(const DeviceContext& context, const void* cubin,
                                                  const std::string& name) {
  using Ask = abi::Code (*)(abi::Function, std::size_t, std::size_t*, std::size_t*);
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  const auto ask = reinterpret_cast<Ask>(::dlsym(library, "cuFuncGetParamInfo"));
  const Driver& driver = context.driver();
  const DeviceContext::Current current(context);
  abi::Module module = nullptr;
  abi::Function function = nullptr;
  std::vector<plan::Parameter> parameters;
  EXPECT_EQ(driver.module_load(&module, cubin), 0);
  EXPECT_EQ(driver.module_function(&function, module, name.c_str()), 0) << name;
  std::size_t offset = 0;
  std::size_t size = 0;
  while (ask(function, parameters.size(), &offset, &size) == 0)
    parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
  driver.module_unload(module);
  return parameters;
}

}  // namespace kernelsmith::cuda
