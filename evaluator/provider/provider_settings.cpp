#include <cstdint>

#include <kernelsmith/evaluator/provider_settings.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMostMib = std::size_t{1} << 24;  // 16 TiB

/// "none" must be asked for by name: candidates then run with the user's own rights.
const Choices<bool> kUnsandboxed = {{"required", false}, {"none", true}};

}  // namespace

void SandboxSetting::read(YamlMap& in, bool& unsandboxed) {
  in.optional("sandbox", unsandboxed, kUnsandboxed);
  if (in.kind("sandbox") != YamlKind::absent) stored_ = false;
}

void SandboxSetting::write(YamlWriter& out, bool unsandboxed) {
  out.put("sandbox", kUnsandboxed[unsandboxed ? 1 : 0].first);
}

std::vector<std::string> SandboxSetting::settings_to_reconfirm(bool unsandboxed) {
  if (!unsandboxed) return {};
  return {"sandbox=none"};
}

Status SandboxSetting::check(bool unsandboxed) const {
  if (!unsandboxed || !stored_) return {};
  return not_said_again();
}

Error SandboxSetting::not_said_again() {
  return fail(ErrorCode::invalid_argument,
              "this run turns the sandbox off: its programs would run with all your rights",
              "evaluator.sandbox",
              "if you trust every program of that folder, say so: --set evaluator.sandbox=none; with "
              "--set evaluator.sandbox=required it is on");
}

void read_devices(YamlMap& in, DeviceRange& devices) {
  in.optional("device", devices.first, {0, 1023});
  in.optional("devices", devices.count, {1, 64});
}

void write_devices(YamlWriter& out, const DeviceRange& devices) {
  out.put("device", devices.first);
  out.put("devices", devices.count);
}

void read_mib(YamlMap& in, std::string_view key, std::size_t& bytes) {
  std::size_t mib = bytes / kMiB;
  in.optional(key, mib, {1, kMostMib});
  bytes = mib * kMiB;
}

void write_mib(YamlWriter& out, std::string_view key, std::size_t bytes) { out.put(key, bytes / kMiB); }

Error python_not_said_again(const std::string& python) {
  return fail(ErrorCode::invalid_argument,
              "this run names a Python, which would run with all your rights: " + python, "evaluator.python",
              "if you trust it, say so: --set evaluator.python=" + python);
}

}  // namespace kernelsmith
