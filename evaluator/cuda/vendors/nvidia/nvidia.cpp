// The table of NVIDIA's GPUs.
#include "vendors/nvidia/nvidia.hpp"

#include <iterator>

#include <kernelsmith/evaluator/cuda/ptx_kernels.hpp>

#include "toolchain/build_script.hpp"
#include "vendors/faults.hpp"
#include "vendors/names.hpp"
#include "vendors/nvidia/cubin.hpp"
#include "vendors/nvidia/learnt_script.hpp"
#include "vendors/nvidia/nvml.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr std::size_t kMostImageBytes = 64U << 20U;

/// Lazy loading would load a kernel at its first launch, inside the measured time.
constexpr std::pair<const char*, const char*> kEnvironment[] = {{"CUDA_MODULE_LOADING", "EAGER"}};

std::string version_text(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Since Hopper the arch-specific instructions are in the "a" targets.
std::string arch_of(const DeviceFacts& facts, const std::string&) {
  return "sm_" + std::to_string(facts.arch) + (facts.arch >= 90 ? "a" : "");
}

/// The virtual architecture: "compute_90a" for "sm_90a".
std::string gencode_of(const std::string& arch) {
  return "arch=compute_" + arch.substr(arch.find('_') + 1) + ",code=" + arch;
}

std::vector<std::string> unit_command(const BuildSteps& steps) {
  std::vector<std::string> command = {steps.toolkit.compiler.string(), "-gencode", gencode_of(steps.arch)};
  command.insert(command.end(), steps.flags.begin(), steps.flags.end());
  // A source that reads the date is refused, because it becomes a different program in the next build.
  command.insert(command.end(),
                 {"-Xcompiler", "-fPIC,-Werror=date-time", "-I.", "-Isource", "-Itask", "--keep",
                  "--keep-dir", ".", "-c", "-o", build_files::kObject, build_files::kUnit});
  return command;
}

std::vector<std::string> image_command(const BuildSteps& steps, const std::string& from,
                                       const std::string& to) {
  return {steps.toolkit.compiler.string(),
          "-cubin",
          "-gencode",
          gencode_of(steps.arch),
          "-std=c++17",
          "-O3",
          "-o",
          to,
          from};
}

Result<std::vector<std::byte>> image_in(const std::string& made, const std::string&) {
  const auto bytes = std::as_bytes(std::span(made));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<std::vector<std::byte>> image_of(const ScratchFolder& folder, const std::string& arch) {
  const auto made = folder.read(build_files::kCubin, kMostImageBytes);
  if (!made) return made.error();
  return image_in(*made, arch);
}

constexpr Dialect kDialect{
    .runtime_header = "cuda_runtime.h",
    .api_header = "cuda_runtime_api.h",
    .stream = "cudaStream_t",
    .half_header = "cuda_fp16.h",
    .bfloat_header = "cuda_bf16.h",
    .fp8_header = "cuda_fp8.h",
    .half = "__half",
    .bfloat = "__nv_bfloat16",
    .e4m3 = "__nv_fp8_e4m3",
    .e5m2 = "__nv_fp8_e5m2",
    .kernel_prologue = R"(#define KERNELSMITH_LANES 32
#define KERNELSMITH_FROM_LANE(value, lane) __shfl_xor_sync(0xffffffffU, value, lane)
)",
};

/// The levels of the preset `behaviour`. Memory: none shared, within 16 KiB, the limit without opt-in, more.
/// Parallelism: how many threads a multiprocessor of 65,536 registers holds. Compute: without tensor cores,
/// or with them.
std::vector<BehaviourLevels> behaviour() {
  constexpr double kSmall = 16385, kWithoutAsking = 49153, kMost = 233472;
  return {{"shared_bytes", {0, 1, kSmall, kWithoutAsking, kMost}},
          {"registers", {0, 33, 65, 129, 256}},
          {"tensor_cores", {0, 1, 2}}};
}

GpuVendor table() {
  GpuVendor vendor{.backend = "cuda",
                   .api = "CUDA",
                   .maker = "NVIDIA",
                   .language = "CUDA C++",
                   .libraries = "cuBLAS, cuDNN or Thrust"};
  vendor.names = cuda_names();
  vendor.driver = {
      .library = "libcuda.so.1",
      .names =
          {
#define DRIVER_FUNCTION(member, name, ...) .member = name,
#include "vendors/driver_functions.def"
#undef DRIVER_FUNCTION
          },
      .oldest = 12000,  // tensor maps and launch attributes came with CUDA 12
      .version_text = version_text,
      .how_to_get_it = "install NVIDIA's driver (nvidia-smi must list the GPU)",
      .faults = kFaults,
      .environment = kEnvironment,
  };
  vendor.device = {
      .usual = h100,
      .occupancy = kOccupancy,
      .arch_of = arch_of,
      .usual_arch = "sm_90a",
      .node = "/dev/nvidiactl",
      .behaviour = behaviour,
      .clocks = [](const std::string& bus_id) -> std::unique_ptr<ClockReader> {
        return std::make_unique<Nvml>(bus_id);
      },
  };
  vendor.own_kernels = {kPlainKernels, local_wipe_of,
                        "is libnvidia-ptxjitcompiler.so.1 next to libcuda.so.1?"};
  Dialect dialect = kDialect;
  dialect.device_properties = kDeviceProperties;
  vendor.toolchain = {
      .program = "nvcc",
      .dialect = dialect,
      // The last flag lets device code call constexpr functions of the standard library (std::numeric_limits,
      // std::max).
      .usual_flags =
          [] {
            return std::vector<std::string>{"-O3", "-std=c++17", "--expt-relaxed-constexpr"};
          },
      .find = find_toolkit,
      .build_inputs =
          [] {
            return std::vector<SourceFile>{{build_files::kModuleId, kModuleIdText},
                                           {build_files::kFatbin, kFatbinText}};
          },
      .unit_command = unit_command,
      .learn = learnt_script,
      .image_command = image_command,
      .image_of = image_of,
      .image_in = image_in,
      .read_image = read_cubin,
      .describe =
          [](const BuildSteps& steps) { return "nvcc " + steps.toolkit.version + " -arch=" + steps.arch; },
  };
  vendor.inspected = true;
  return vendor;
}

}  // namespace

const GpuVendor& nvidia() {
  static const GpuVendor made = table();
  return made;
}

}  // namespace kernelsmith::cuda
