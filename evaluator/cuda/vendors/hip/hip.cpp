// The table of AMD's GPUs, from public sources (listed in docs/backend-hip.md).
#include "vendors/hip/hip.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <system_error>

#include <kernelsmith/sandbox/try_tool.hpp>

#include "embedded_texts.hpp"
#include "vendors/clang/clang_tools.hpp"
#include "vendors/clang/runtime_driver.hpp"
#include "vendors/faults.hpp"
#include "vendors/names.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr const char* kHowToGetTheDriver =
    "install AMD's driver and ROCm 6 or later (rocminfo must list the GPU)";
constexpr const char* kHowToGetIt =
    "install ROCm's compiler (apt-get install hipcc) or set ROCM_PATH to ROCm's folder";

struct Functions {
  static constexpr const char *kErrorString = "hipGetErrorString", *kErrorName = "hipGetErrorName",
                              *kSetDevice = "hipSetDevice", *kCopy = "hipMemcpyAsync",
                              *kLaunch = "hipModuleLaunchKernel",
                              *kLaunchCooperative = "hipModuleLaunchCooperativeKernel";
  static constexpr bool kExtendedLaunch = false;
};

constexpr CodeObjectFormat kFormat{
    .machine = 224,
    .section = ".hip_fatbin",
    .target = "hipv4-amdgcn-amd-amdhsa--",
    .note_owner = "AMDGPU",
    .note_type = 32,
    .kernels = "amdhsa.kernels",
    .offset = ".offset",
    .size = ".size",
    .kind = ".value_kind",
    .registers = ".vgpr_count",
    .shared = ".group_segment_fixed_size",
    .local = ".private_segment_fixed_size",
    .unknown_stack = ".uses_dynamic_stack",
};

/// CDNA: a wave of 64 lanes gets registers in units of eight, from one of four SIMD units.
constexpr OccupancyRules kRules{.register_granule = 512, .shared_granule = 512, .partitions = 4};

/// One half of an MI250X (gfx90a), as AMD describes it.
DeviceFacts usual_device() {
  DeviceFacts facts;
  facts.name = "AMD Instinct MI250X";
  facts.arch = 90;
  facts.memory_bytes = std::uint64_t{64} << 30;
  facts.occupancy = kRules;
  facts.attributes = {{1, 1024},     {2, 1024},   {3, 1024}, {4, 1024},   {5, 2147483647}, {6, 65535},
                      {7, 65535},    {8, 65536},  {10, 64},  {12, 65536}, {16, 110},       {31, 1},
                      {38, 8388608}, {39, 2048},  {75, 9},   {76, 0},     {81, 65536},     {82, 131072},
                      {95, 1},       {97, 65536}, {102, 1},  {103, 1},    {106, 32},       {111, 0}};
  return facts;
}

std::string arch_of(const DeviceFacts& facts, const std::string& bus_id) {
  const std::string told = gfx_of("/sys/class/kfd/kfd/topology/nodes", bus_id);
  return told.empty() ? "gfx" + std::to_string(facts.arch) + "0" : told;
}

std::string version_text(int version) {
  return "HIP " + std::to_string(version / 10'000'000) + "." + std::to_string(version / 100'000 % 100);
}

Result<Toolkit> find_toolkit(const std::filesystem::path& given) {
  std::filesystem::path folder = given;
  for (const char* const variable : {"ROCM_PATH", "HIP_PATH"})
    if (const char* const named = std::getenv(variable); folder.empty() && named != nullptr) folder = named;
  if (folder.empty()) {
    const auto program = find_tool("hipcc");
    folder = program ? std::filesystem::path(*program).parent_path().parent_path() : "/opt/rocm";
  }
  return clang_toolkit(folder, "bin/hipcc", "HIP", kHowToGetIt);
}

/// Without HIP_PLATFORM hipcc would use CUDA's compiler if it found that one, too.
std::vector<std::string> front(const BuildSteps& steps) {
  return {"/usr/bin/env", "HIP_PLATFORM=amd", steps.toolkit.compiler.string(), "-x", "hip"};
}

constexpr Dialect kDialect{
    .runtime_header = "hip/hip_runtime.h",
    .api_header = "hip/hip_runtime_api.h",
    .stream = "hipStream_t",
    .half_header = "hip/hip_fp16.h",
    .bfloat_header = "hip/hip_bfloat16.h",
    .half = "__half",
    .bfloat = "hip_bfloat16",
    .shim_prologue = "#define __HIP_PLATFORM_AMD__\n",
    .device_properties = kMirroredDeviceProperties,
    .kernel_prologue = R"(#include <hip/hip_runtime.h>
#define KERNELSMITH_LANES warpSize
#define KERNELSMITH_FROM_LANE(value, lane) __shfl_xor(value, lane)
#define KERNELSMITH_BLOCK(threads) __launch_bounds__(threads)
#if HIP_VERSION_MAJOR < 6
#define KERNELSMITH_NANOSECONDS() static_cast<unsigned long long>(__builtin_amdgcn_s_memrealtime()) * 10
#else
#define KERNELSMITH_NANOSECONDS() static_cast<unsigned long long>(wall_clock64()) * 10
#endif
)",
};

GpuVendor table() {
  GpuVendor vendor{.backend = "hip",
                   .api = "HIP",
                   .maker = "AMD",
                   .language = "HIP C++",
                   .differences = kHipDifferences,
                   .libraries = "rocBLAS, hipBLAS, MIOpen or rocThrust"};
  vendor.names = hip_names();
  vendor.driver = {
      .library = "libamdhip64.so",
      .names = {KERNELSMITH_RUNTIME_DRIVER("hip", "HostMalloc", "HostFree")},
      .adapt = RuntimeDriver<Functions>::adapt,
      .oldest = 60'000'000,
      .version_text = version_text,
      .how_to_get_it = kHowToGetTheDriver,
      .faults = kRuntimeFaults,
  };
  vendor.device = {
      .usual = usual_device,
      .occupancy = kRules,
      .arch_of = arch_of,
      .usual_arch = "gfx90a",
      .node = "/dev/kfd",
      .behaviour = wave_behaviour,
  };
  vendor.toolchain = clang_toolchain<kFormat, front>("hipcc", kDialect, find_toolkit);
  return vendor;
}

}  // namespace

std::string gfx_of(const std::filesystem::path& nodes, const std::string& bus_id) {
  constexpr const char* kHex = "0123456789abcdef";
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return "";
  const unsigned long location = bus << 8 | device << 3 | function;
  std::error_code none;
  for (const auto& node : std::filesystem::directory_iterator(nodes, none)) {
    std::ifstream file(node.path() / "properties");
    std::map<std::string, unsigned long> properties;
    std::string key;
    for (unsigned long value = 0; file >> key >> value;) properties[key] = value;
    const unsigned long version = properties["gfx_target_version"];  // 90010 is gfx90a
    if (version == 0 || properties["location_id"] != location || properties["domain"] != domain) continue;
    return "gfx" + std::to_string(version / 10000) + kHex[version / 100 % 100 % 16] +
           kHex[version % 100 % 16];
  }
  return "";
}

const GpuVendor& hip() {
  static const GpuVendor made = table();
  return made;
}

}  // namespace kernelsmith::cuda
