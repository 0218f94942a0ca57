// GpuVendor: the parts that differ between vendors: a driver with its names and codes, a compiler, an image
// format, the lanes of a wave. All other code of a GPU backend is common and uses this table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "device/driver_abi.hpp"
#include "planner/planner.hpp"
#include "planner/runtime_names.hpp"
#include "toolchain/image_facts.hpp"
#include "toolchain/toolkit.hpp"

namespace kernelsmith::cuda {

struct Driver;

/// The names that a driver's library exports. Null if the library has no such function, or if `adapt`
/// supplies the function.
struct DriverNames {
#define DRIVER_FUNCTION(member, ...) const char* member = nullptr;
#include "vendors/driver_functions.def"
#undef DRIVER_FUNCTION
};

/// A code for a kernel's fault or a lost context, after which every later call returns the same code.
struct FaultCode {
  abi::Code code = 0;
  bool sticky = true;
  const char* deed = "";  ///< "a kernel touched memory outside its buffers"; empty if no kernel causes it
};

struct DriverTable {
  const char* library = nullptr;  ///< "libcuda.so.1"
  DriverNames names = {};
  /// Adapts the library's functions that have another signature. Returns the name of a missing function, or
  /// null.
  const char* (*adapt)(Driver& driver, void* library) = nullptr;
  int oldest = 0;                                      ///< in the driver's version format
  std::string (*version_text)(int version) = nullptr;  ///< "CUDA 12.0"
  const char* how_to_get_it = "";                      ///< the hint if it is missing
  std::span<const FaultCode> faults = {};
  /// Environment variables that our processes set before they load the driver.
  std::span<const std::pair<const char*, const char*>> environment = {};
};

/// The current state of the GPU's clocks; zero if unknown.
struct ClockState {
  std::uint32_t throttle_reasons = 0;  ///< the vendor's bits; zero: none
  std::uint32_t sm_mhz = 0;
};

/// A GPU in the vendor's management library. Not thread-safe.
class ClockReader {
 public:
  virtual ~ClockReader() = default;
  virtual ClockState clocks() const = 0;
  virtual std::string driver_version() const = 0;  ///< "580.95.05", or empty
};

struct DeviceTable {
  /// The target of plans without a device, and defaults of attributes that a driver does not report.
  DeviceFacts (*usual)() = nullptr;
  OccupancyRules occupancy = {};
  /// The compiler's name of a device, such as "sm_90a".
  std::string (*arch_of)(const DeviceFacts& facts, const std::string& bus_id) = nullptr;
  const char* usual_arch = "";
  const char* node = "";  ///< the device file of the vendor's kernel driver: "/dev/kfd"
  /// The axes of the preset `behaviour`.
  std::vector<BehaviourLevels> (*behaviour)() = nullptr;
  std::unique_ptr<ClockReader> (*clocks)(const std::string& bus_id) = nullptr;  ///< null: unknown
};

/// The runner's own kernels, as text for the driver's assembler. Null if they are compiled from
/// runner/own_kernels.cu.
struct OwnKernels {
  const char* all = nullptr;
  std::string (*local_wipe)(std::uint32_t frame_bytes) =
      nullptr;            ///< a kernel for each size of a thread's local memory
  const char* hint = "";  ///< hint if they do not load
};

/// The vendor's dialect of C++, where the generated files need it.
struct Dialect {
  const char* runtime_header = "";  ///< includes of task.cuh
  const char* api_header = "";      ///< includes of the shim, for a host compiler
  const char* stream = "";          ///< the type of a stream
  const char *half_header = "", *bfloat_header = "", *fp8_header = "";
  const char *half = "", *bfloat = "", *e4m3 = "", *e5m2 = "";
  const char* shim_prologue = "";  ///< text before the shim's headers
  /// Functions that the shim defines because they depend on a toolkit's struct layouts. `$` is the runtime's
  /// prefix.
  const char* device_properties = "";
  const char* kernel_prologue = "";  ///< text before judge_kernels.cu and own_kernels.cu
};

/// The script of a build, and its outputs besides the host library.
struct BuildSteps {
  const Toolkit& toolkit;
  const std::string& arch;
  const std::vector<std::string>& flags;
};

struct Toolchain {
  const char* program = "";  ///< "nvcc"
  Dialect dialect = {};
  std::vector<std::string> (*usual_flags)() = nullptr;
  /// Finds the toolkit. Errors: tool_missing, with a hint on how to get it.
  Result<Toolkit> (*find)(const std::filesystem::path& given) = nullptr;
  /// Files next to the candidate's. Null: none.
  std::vector<SourceFile> (*build_inputs)() = nullptr;
  /// The command that compiles kUnit to kObject.
  std::vector<std::string> (*unit_command)(const BuildSteps& steps) = nullptr;
  /// Extracts the compiler's own steps from the output of `unit_command` with "--dryrun". Null: unknown.
  std::optional<std::string> (*learn)(std::string_view dryrun, std::string_view folder,
                                      std::string_view link) = nullptr;
  /// The command that compiles our own kernels in `from` to an image `to`.
  std::vector<std::string> (*image_command)(const BuildSteps& steps, const std::string& from,
                                            const std::string& to) = nullptr;
  /// The image among the files of a build, or in the output of `image_command`. Errors: bad_input, io.
  Result<std::vector<std::byte>> (*image_of)(const ScratchFolder& folder, const std::string& arch) = nullptr;
  Result<std::vector<std::byte>> (*image_in)(const std::string& made, const std::string& arch) = nullptr;
  /// Reads the kernels of the image, which is untrusted data. Errors: bad_input.
  Result<ImageFacts> (*read_image)(std::span<const std::byte> image) = nullptr;
  /// Such as "nvcc 13.0.88 -arch=sm_90a"; the flags follow.
  std::string (*describe)(const BuildSteps& steps) = nullptr;
};

/// A constant of the program.
struct GpuVendor {
  const char* backend = "";   ///< Task::backend: "cuda"
  const char* api = "";       ///< "CUDA"
  const char* maker = "";     ///< "NVIDIA"
  const char* language = "";  ///< of candidates: "CUDA C++"
  /// How the language differs from CUDA C++, in Markdown, for prompts. Empty: it is CUDA C++.
  const char* differences = "";
  const char* libraries =
      "";  ///< host libraries that a plan cannot hold, for prompts: "cuBLAS, cuDNN or Thrust"
  RuntimeNames names = {};
  DriverTable driver = {};
  DeviceTable device = {};
  OwnKernels own_kernels = {};
  Toolchain toolchain = {};
  bool inspected = false;  ///< the vendor's tools can inspect possible bests (inspector/)
};

}  // namespace kernelsmith::cuda
