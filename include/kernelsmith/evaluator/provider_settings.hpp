// The settings that several backends have in their section of run.yaml.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/devices.hpp>

namespace kernelsmith {

/// Whether candidates run without a sandbox, and whether only a run folder says so. Not thread-safe.
class SandboxSetting {
 public:
  void read(YamlMap& in, bool& unsandboxed);
  static void write(YamlWriter& out, bool unsandboxed);
  void mark_untrusted() { stored_ = true; }
  static std::vector<std::string> settings_to_reconfirm(bool unsandboxed);
  /// Errors: `invalid_argument` if only a run folder turns the sandbox off.
  Status check(bool unsandboxed) const;
  static Error not_said_again();

 private:
  bool stored_ = false;
};

/// `device` and `devices`.
void read_devices(YamlMap& in, DeviceRange& devices);
void write_devices(YamlWriter& out, const DeviceRange& devices);

/// A setting in MiB of something that is counted in bytes.
void read_mib(YamlMap& in, std::string_view key, std::size_t& bytes);
void write_mib(YamlWriter& out, std::string_view key, std::size_t bytes);

/// Only a run folder names the Python, which would run with the user's rights.
Error python_not_said_again(const std::string& python);

/// The options with the stop token of make().
template <class Options>
Options stopped_by(const std::stop_token& stop, Options options) {
  options.stop = stop;
  return options;
}

}  // namespace kernelsmith
