// The table of MetaX's GPUs, from public sources (listed in docs/backend-maca.md).
#include "vendors/maca/maca.hpp"

#include <cstdlib>

#include "embedded_texts.hpp"
#include "vendors/clang/clang_tools.hpp"
#include "vendors/clang/runtime_driver.hpp"
#include "vendors/faults.hpp"
#include "vendors/names.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr const char* kHowToGetTheDriver = "install MetaX's driver and MACA (mx-smi must list the GPU)";
constexpr const char* kHowToGetIt =
    "install MetaX's MACA SDK (https://developer.metax-tech.com) and set MACA_PATH to its folder";

struct Functions {
  static constexpr const char *kErrorString = "mcGetErrorString", *kErrorName = "mcGetErrorName",
                              *kSetDevice = "mcSetDevice", *kCopy = "mcMemcpyAsync",
                              *kLaunch = "mcModuleLaunchKernel",
                              *kLaunchCooperative = "mcModuleLaunchKernelEx";
  static constexpr bool kExtendedLaunch = true;
};

constexpr CodeObjectFormat kFormat{
    .machine = 253,
    .section = ".mc_fatbin",
    .target = "maca-mxc-metax-macahca--",
    .note_owner = "MetaX",
    .note_type = 0x30,
    .kernels = "macahca.kernels",
    .offset = ".arg_offset_bytes",
    .size = ".arg_size_bytes",
    .kind = ".arg_param_pass",
    .registers = ".mtreg_count",
    .shared = ".share_memory_size",
    .local = ".private_memory_size",
};

/// Measured by others on a C500: a block's registers are the registers of a thread times its threads.
constexpr OccupancyRules kRules{.register_granule = 64, .shared_granule = 1, .partitions = 1};

/// A C550, from public notes.
DeviceFacts usual_device() {
  DeviceFacts facts;
  facts.name = "MetaX C550";
  facts.arch = 100;
  facts.memory_bytes = std::uint64_t{64} << 30;
  facts.occupancy = kRules;
  facts.attributes = {{1, 1024},   {2, 1024},  {3, 1024}, {4, 1024},    {5, 2147483647}, {6, 65535},
                      {7, 65535},  {8, 65536}, {10, 64},  {12, 131072}, {16, 104},       {31, 1},
                      {39, 2048},  {75, 10},   {76, 0},   {81, 65536},  {82, 131072},    {95, 1},
                      {97, 65536}, {102, 1},   {103, 1},  {106, 16},    {111, 0}};
  return facts;
}

/// The major number is the architecture's family: 10 is xcore1000.
std::string arch_of(const DeviceFacts& facts, const std::string&) {
  return "xcore" + std::to_string(facts.arch / 10) + "00";
}

std::string version_text(int version) {
  return "MACA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<Toolkit> find_toolkit(const std::filesystem::path& given) {
  const char* const named = std::getenv("MACA_PATH");
  std::filesystem::path folder = given;
  if (folder.empty()) folder = named != nullptr && *named != '\0' ? named : "/opt/maca";
  return clang_toolkit(folder, "mxgpu_llvm/bin/mxcc", "MACA", kHowToGetIt);
}

std::vector<std::string> front(const BuildSteps& steps) {
  return {steps.toolkit.compiler.string(), "-x", "maca", "--maca-path=" + steps.toolkit.root.string()};
}

constexpr Dialect kDialect{
    .runtime_header = "mcr/mc_runtime.h",
    .api_header = "mcr/mc_runtime_api.h",
    .stream = "mcStream_t",
    .half_header = "maca_fp16.h",
    .bfloat_header = "maca_bfloat16.h",
    .half = "__half",
    .bfloat = "maca_bfloat16",
    // The only attribute with another spelling.
    .shim_prologue = "#define mcDeviceAttributeMultiprocessorCount mcDeviceAttributeMultiProcessorCount\n",
    .device_properties = kMirroredDeviceProperties,
    .kernel_prologue = R"(#include <mcr/mc_runtime.h>
#define KERNELSMITH_LANES 64
#define KERNELSMITH_FROM_LANE(value, lane) __shfl_xor_sync(0xffffffffffffffffUL, value, lane)
#define KERNELSMITH_BLOCK(threads) __launch_bounds__(threads)
#define KERNELSMITH_NANOSECONDS() static_cast<unsigned long long>(wall_clock64()) * 10
)",
};

GpuVendor table() {
  GpuVendor vendor{.backend = "maca",
                   .api = "MACA",
                   .maker = "MetaX",
                   .language = "MACA C++",
                   .differences = kMacaDifferences,
                   .libraries = "mcBLAS or mcDNN"};
  vendor.names = maca_names();
  vendor.driver = {
      .library = "libmcruntime.so",
      .names = {KERNELSMITH_RUNTIME_DRIVER("mc", "MallocHost", "FreeHost")},
      .adapt = RuntimeDriver<Functions>::adapt,
      .oldest = 0,
      .version_text = version_text,
      .how_to_get_it = kHowToGetTheDriver,
      .faults = kRuntimeFaults,
  };
  vendor.device = {
      .usual = usual_device,
      .occupancy = kRules,
      .arch_of = arch_of,
      .usual_arch = "xcore1000",
      .node = "/dev/mxcd",
      .behaviour = wave_behaviour,
  };
  vendor.toolchain = clang_toolchain<kFormat, front>("mxcc", kDialect, find_toolkit);
  return vendor;
}

}  // namespace

const GpuVendor& maca() {
  static const GpuVendor made = table();
  return made;
}

}  // namespace kernelsmith::cuda
