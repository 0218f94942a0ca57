
#include <kernelsmith/evaluator/provider_settings.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMostMib = std::size_t{1} << 24;  // 16 TiB

/// "none" needs an explicit request, because candidates then run with the user's own rights.
const Choices<bool> kUnsandboxed = {{"required", false}, {"none", true}};

}  // namespace

void list_sandbox(Section& section, bool& unsandboxed) {
  section("sandbox", unsandboxed, kUnsandboxed,
          "whether candidates run in one; without it they have your rights, and the tier says so");
}

std::vector<std::string> sandbox_to_reconfirm(bool unsandboxed) {
  return unsandboxed ? std::vector<std::string>{"sandbox=none"} : std::vector<std::string>{};
}

Error sandbox_not_said_again() {
  return fail(ErrorCode::invalid_argument,
              "this run turns the sandbox off: its programs would run with all your rights",
              "evaluator.sandbox",
              "if you trust every program of that folder, say so: --set evaluator.sandbox=none; with "
              "--set evaluator.sandbox=required the sandbox is on");
}

void list_devices(Section& section, DeviceRange& devices) {
  section("device", devices.first, {0, 1023}, "the first GPU, as its driver counts them");
  section("devices", devices.count, {1, 64},
          "how many GPUs are used, from that one on, of one kind; each measures one candidate at a time, so "
          "give `run` as many `workers`");
}

void list_mib(Section& section, std::string_view key, std::size_t& bytes, std::string_view meaning) {
  std::size_t mib = bytes / kMiB;
  if (section(key, mib, {1, kMostMib}, meaning)) bytes = mib * kMiB;
}

Error python_not_said_again(const std::string& python) {
  return fail(ErrorCode::invalid_argument,
              "this run names a Python, which would run with all your rights: " + python, "evaluator.python",
              "if you trust it, say so: --set evaluator.python=" + python);
}

}  // namespace kernelsmith
