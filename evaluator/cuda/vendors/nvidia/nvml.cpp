#include "vendors/nvidia/nvml.hpp"

#include <array>

#include <dlfcn.h>

namespace kernelsmith::cuda {
namespace {

constexpr int kClockSm = 1;  // NVML_CLOCK_SM

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Nvml::Nvml(const std::string& bus_id) {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  int (*init)() = nullptr;
  int (*by_bus)(const char*, void**) = nullptr;
  if (library == nullptr) return;
  if (!find(library, "nvmlInit_v2", init) || !find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus) ||
      init() != 0) {
    ::dlclose(library);
    return;
  }
  library_ = library;
  if (by_bus(bus_id.c_str(), &device_) != 0) device_ = nullptr;
  if (!find(library, "nvmlDeviceGetCurrentClocksEventReasons", reasons_))
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);  // before driver 535
  find(library, "nvmlDeviceGetClockInfo", clock_);
}

Nvml::~Nvml() {
  int (*shutdown)() = nullptr;
  if (library_ == nullptr) return;
  if (find(library_, "nvmlShutdown", shutdown)) shutdown();
  ::dlclose(library_);
}

ClockState Nvml::clocks() const {
  ClockState state;
  if (device_ == nullptr) return state;
  unsigned long long reasons = 0;
  if (reasons_ != nullptr && reasons_(device_, &reasons) == 0)
    state.throttle_reasons = static_cast<std::uint32_t>(reasons);
  unsigned mhz = 0;
  if (clock_ != nullptr && clock_(device_, kClockSm, &mhz) == 0) state.sm_mhz = mhz;
  return state;
}

std::string Nvml::driver_version() const {
  int (*version)(char*, unsigned) = nullptr;
  std::array<char, 96> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
  if (library_ == nullptr || !find(library_, "nvmlSystemGetDriverVersion", version)) return {};
  return version(text.data(), static_cast<unsigned>(text.size() - 1)) == 0 ? text.data() : "";
}

}  // namespace kernelsmith::cuda
