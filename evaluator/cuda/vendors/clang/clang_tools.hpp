// Builds with compilers based on clang: one run makes an object with the host code and a section of device
// images.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "toolchain/build_script.hpp"
#include "vendors/clang/code_object.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// `front` is the compiler with its fixed arguments. The command compiles `from`, a file in the front's
/// language, to an object `to`.
std::vector<std::string> clang_command(std::vector<std::string> front, const BuildSteps& steps,
                                       const std::string& from, const std::string& to);

/// The image in the object of a build. Errors: bad_input, io.
Result<std::vector<std::byte>> image_in_build(const ScratchFolder& folder, const CodeObjectFormat& format,
                                              const std::string& arch);

/// The toolkit in `folder`, whose compiler for the language `api` is `program` below it. Errors: tool_missing
/// and tool_failed, with `hint`.
Result<Toolkit> clang_toolkit(const std::filesystem::path& folder, const char* program, const char* api,
                              const char* hint);

/// The levels of the preset `behaviour`. Memory: none shared, within 16 KiB, within 32 KiB, more.
/// Parallelism: how many waves a multiprocessor holds.
std::vector<BehaviourLevels> wave_behaviour();

/// Dialect::device_properties of a runtime that mirrors CUDA's names.
inline constexpr const char* kMirroredDeviceProperties = R"(
extern "C" $Error_t $GetDeviceProperties($DeviceProp_t* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  $Error_t error = $Success;
  const auto ask = [&]($DeviceAttribute_t attribute) {
    int value = 0;
    const $Error_t answer = $DeviceGetAttribute(&value, attribute, device);
    if (answer != $Success) error = answer;
    return value;
  };
  properties->major = ask($DeviceAttributeComputeCapabilityMajor);
  properties->minor = ask($DeviceAttributeComputeCapabilityMinor);
  properties->multiProcessorCount = ask($DeviceAttributeMultiprocessorCount);
  properties->warpSize = ask($DeviceAttributeWarpSize);
  properties->maxThreadsPerBlock = ask($DeviceAttributeMaxThreadsPerBlock);
  properties->maxThreadsPerMultiProcessor = ask($DeviceAttributeMaxThreadsPerMultiProcessor);
  properties->regsPerBlock = ask($DeviceAttributeMaxRegistersPerBlock);
  properties->sharedMemPerBlock = static_cast<std::size_t>(ask($DeviceAttributeMaxSharedMemoryPerBlock));
  properties->l2CacheSize = ask($DeviceAttributeL2CacheSize);
  (void)$DeviceGetName(properties->name, sizeof properties->name, device);
  (void)$DeviceTotalMem(&properties->totalGlobalMem, device);
  return error;
}
)";

/// `kFront` returns the compiler with its fixed arguments.
template <const CodeObjectFormat& kFormat, std::vector<std::string> (*kFront)(const BuildSteps&)>
Toolchain clang_toolchain(const char* program, const Dialect& dialect,
                          Result<Toolkit> (*find)(const std::filesystem::path& given)) {
  Toolchain made;
  made.program = program;
  made.dialect = dialect;
  made.usual_flags = [] { return std::vector<std::string>{"-O3", "-std=c++17"}; };
  made.find = find;
  made.unit_command = [](const BuildSteps& steps) {
    return clang_command(kFront(steps), steps, build_files::kUnit, build_files::kObject);
  };
  made.image_command = [](const BuildSteps& steps, const std::string& from, const std::string& to) {
    return clang_command(kFront(steps), steps, from, to);
  };
  made.image_of = [](const ScratchFolder& folder, const std::string& arch) {
    return image_in_build(folder, kFormat, arch);
  };
  made.image_in = [](const std::string& object, const std::string& arch) {
    return find_image(std::as_bytes(std::span(object)), kFormat, arch);
  };
  made.read_image = [](std::span<const std::byte> image) { return read_code_object(image, kFormat); };
  made.describe = [](const BuildSteps& steps) {
    return steps.toolkit.compiler.filename().string() + " " + steps.toolkit.version +
           " --offload-arch=" + steps.arch;
  };
  return made;
}

}  // namespace kernelsmith::cuda
