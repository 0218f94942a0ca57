// Settings that several backends have in their sections of run.yaml.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/config/section.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/devices.hpp>

namespace kernelsmith {

/// The setting `sandbox`. `unsandboxed` says whether candidates run without a sandbox.
void list_sandbox(Section& section, bool& unsandboxed);
/// Provider::settings_to_reconfirm() for the setting `sandbox`.
std::vector<std::string> sandbox_to_reconfirm(bool unsandboxed);
/// The Error if only a run folder disables the sandbox.
Error sandbox_not_said_again();

/// The settings `device` and `devices`.
void list_devices(Section& section, DeviceRange& devices);

/// A setting in MiB. The value is in bytes.
void list_mib(Section& section, std::string_view key, std::size_t& bytes, std::string_view meaning);

/// The Error if only a run folder names the Python, which would run with the user's rights.
Error python_not_said_again(const std::string& python);

/// The options with the stop token of make().
template <class Options>
Options stopped_by(const std::stop_token& stop, Options options) {
  options.stop = stop;
  return options;
}

}  // namespace kernelsmith
