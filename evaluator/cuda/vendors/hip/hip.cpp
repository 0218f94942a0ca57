// The table of AMD's GPUs. What is said of them was read in public sources (docs/backend-hip.md names them).
#include "vendors/hip/hip.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <system_error>

#include <unistd.h>

#include <kernelsmith/sandbox/try_tool.hpp>

#include "toolchain/build_script.hpp"
#include "vendors/clang/clang_tools.hpp"
#include "vendors/clang/runtime_driver.hpp"
#include "vendors/differences.hpp"
#include "vendors/hip/attributes.hpp"
#include "vendors/hip/names.hpp"

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

/// CDNA: a wave of 64 lanes gets its registers eight at a time, from one of four SIMD units.
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
  std::error_code unresolved;
  Toolkit toolkit;
  toolkit.root = std::filesystem::canonical(folder, unresolved);
  toolkit.compiler = toolkit.root / "bin/hipcc";
  toolkit.include = toolkit.root / "include";
  if (unresolved || ::access(toolkit.compiler.c_str(), X_OK) != 0)
    return fail(ErrorCode::tool_missing, "there is no HIP compiler (bin/hipcc)", folder.string(),
                kHowToGetIt);
  auto version = clang_version(toolkit.compiler, kHowToGetIt);
  if (!version) return version.error();
  toolkit.version = std::move(*version);
  return toolkit;
}

/// Where CUDA's compiler is found too, hipcc would take that one.
std::vector<std::string> front(const BuildSteps& steps) {
  return {"/usr/bin/env", "HIP_PLATFORM=amd", steps.toolkit.compiler.string(), "-x", "hip"};
}
std::vector<std::string> unit_command(const BuildSteps& steps) {
  return clang_command(front(steps), steps, build_files::kUnit, build_files::kObject);
}
std::vector<std::string> image_command(const BuildSteps& steps, const std::string& from,
                                       const std::string& to) {
  return clang_command(front(steps), steps, from, to);
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
    .device_properties = R"(
extern "C" hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  hipError_t error = hipSuccess;
  const auto ask = [&](hipDeviceAttribute_t attribute) {
    int value = 0;
    const hipError_t answer = hipDeviceGetAttribute(&value, attribute, device);
    if (answer != hipSuccess) error = answer;
    return value;
  };
  properties->major = ask(hipDeviceAttributeComputeCapabilityMajor);
  properties->minor = ask(hipDeviceAttributeComputeCapabilityMinor);
  properties->multiProcessorCount = ask(hipDeviceAttributeMultiprocessorCount);
  properties->warpSize = ask(hipDeviceAttributeWarpSize);
  properties->maxThreadsPerBlock = ask(hipDeviceAttributeMaxThreadsPerBlock);
  properties->maxThreadsPerMultiProcessor = ask(hipDeviceAttributeMaxThreadsPerMultiProcessor);
  properties->regsPerBlock = ask(hipDeviceAttributeMaxRegistersPerBlock);
  properties->sharedMemPerBlock = static_cast<std::size_t>(ask(hipDeviceAttributeMaxSharedMemoryPerBlock));
  properties->l2CacheSize = ask(hipDeviceAttributeL2CacheSize);
  (void)hipDeviceGetName(properties->name, sizeof properties->name, device);
  (void)hipDeviceTotalMem(&properties->totalGlobalMem, device);
  return error;
}
)",
    .kernel_prologue = R"(#include <hip/hip_runtime.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#define KERNELSMITH_LANES warpSize
#define KERNELSMITH_FROM_LANE(value, lane) __shfl_xor(value, lane)
#define KERNELSMITH_BLOCK(threads) __launch_bounds__(threads)
#if HIP_VERSION_MAJOR < 6
#define KERNELSMITH_NANOSECONDS() static_cast<unsigned long long>(__builtin_amdgcn_s_memrealtime()) * 10
#else
#define KERNELSMITH_NANOSECONDS() static_cast<unsigned long long>(wall_clock64()) * 10
#endif
using Half = __half;
using Bfloat = hip_bfloat16;
__device__ inline float widened(Half x) { return __half2float(x); }
__device__ inline float widened(Bfloat x) { return static_cast<float>(x); }
)",
};

/// Memory: none shared, within 16 KiB, within 32 KiB, more. Parallelism: how many waves a multiprocessor
/// holds.
std::vector<BehaviourLevels> behaviour() {
  constexpr double kSmall = 16385, kHalf = 32769, kMost = 65537;
  return {{"shared_bytes", {0, 1, kSmall, kHalf, kMost}}, {"registers", {0, 33, 65, 129, 513}}};
}

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
      .attributes = kHipAttributes,
      .usual = usual_device,
      .occupancy = kRules,
      .arch_of = arch_of,
      .usual_arch = "gfx90a",
      .node = "/dev/kfd",
      .behaviour = behaviour,
  };
  vendor.toolchain = {
      .program = "hipcc",
      .dialect = kDialect,
      .usual_flags =
          [] {
            return std::vector<std::string>{"-O3", "-std=c++17"};
          },
      .find = find_toolkit,
      .unit_command = unit_command,
      .image_command = image_command,
      .image_of = [](const ScratchFolder& folder,
                     const std::string& arch) { return image_in_build(folder, kFormat, arch); },
      .image_in =
          [](const std::string& made, const std::string& arch) {
            return find_image(std::as_bytes(std::span(made)), kFormat, arch);
          },
      .read_image = [](std::span<const std::byte> image) { return read_code_object(image, kFormat); },
      .describe =
          [](const BuildSteps& steps) {
            return "hipcc " + steps.toolkit.version + " --offload-arch=" + steps.arch;
          },
  };
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
