#include "device/driver.hpp"

#include <map>

#include <dlfcn.h>

#include <kernelsmith/core/mutex.hpp>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {
namespace {

/// Looks up functions, and keeps the name of the first one that is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class... Arguments>
  void find(DriverFunction<Arguments...>& function, const char* name) {
    if (name == nullptr) return;
    function.name = name;
    function.pointer = reinterpret_cast<abi::Code (*)(Arguments...)>(::dlsym(library_, name));
    if (function.pointer == nullptr && missing_ == nullptr && &function.name != optional_) missing_ = name;
  }
  /// Allows the function to be missing.
  template <class... Arguments>
  void excuse(DriverFunction<Arguments...>& function) {
    optional_ = &function.name;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
  const char* const* optional_ = nullptr;
};

}  // namespace

Status Driver::load(const GpuVendor& vendor) {
  vendor_ = &vendor;
  const DriverTable& table = vendor.driver;
  const auto unsupported = [&](const std::string& what, const char* where = "") {
    return fail(ErrorCode::unsupported, what, where, table.how_to_get_it);
  };
  void* const library = ::dlopen(table.library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return unsupported("no " + api() + " driver: " + (why != nullptr ? why : table.library));
  }
  Finder finder(library);
  finder.excuse(parameter_info);
#define DRIVER_FUNCTION(member, ...) finder.find(member, table.names.member);
#include "vendors/driver_functions.def"
#undef DRIVER_FUNCTION
  const auto too_old = [&](const std::string& why) {
    return fail(ErrorCode::unsupported, "the " + api() + " driver is too old: " + why, table.library,
                "install a driver for " + table.version_text(table.oldest) + " or later");
  };
  const char* missing = finder.missing();
  if (missing == nullptr && table.adapt != nullptr) missing = table.adapt(*this, library);
  if (missing != nullptr) return too_old(std::string("it has no ") + missing);
  if (const Code code = init(0); code != abi::kSuccess)
    return unsupported(std::string(init.name) + ": " + words(code));
  if (const Code code = driver_version(&version); code != abi::kSuccess)
    return unsupported(std::string(driver_version.name) + ": " + words(code));
  if (version < table.oldest) return too_old("it supports " + table.version_text(version));
  return {};
}

Result<const Driver*> Driver::get(const GpuVendor& vendor) {
  struct Loaded {
    Driver driver;
    Status status;
  };
  static Mutex mutex;
  static std::map<const GpuVendor*, Loaded> drivers;  // its elements do not move
  const MutexLock lock(mutex);
  const auto [found, is_new] = drivers.try_emplace(&vendor);
  Loaded& loaded = found->second;
  if (is_new) loaded.status = loaded.driver.load(vendor);
  if (loaded.status.has_error()) return loaded.status.error();
  return &loaded.driver;
}

std::string Driver::api() const { return vendor_->api; }

std::string Driver::words(Code code) const {
  const char* text = nullptr;
  const char* name = nullptr;
  if (error_string(code, &text) != abi::kSuccess || text == nullptr) text = "an error without a description";
  if (error_name(code, &name) != abi::kSuccess || name == nullptr)
    return std::string(text) + " (code " + std::to_string(code) + ")";
  return std::string(text) + " (" + name + ")";
}

bool Driver::is_full() const {
  constexpr std::size_t kLittle = std::size_t{256} << 20;  // graphs and modules need less
  std::size_t left = 0, all = 0;
  return memory_info(&left, &all) != abi::kSuccess || left < kLittle;
}

Error Driver::error(const char* function, Code code) const {
  if (code == abi::kOutOfMemory)
    return fail(
        ErrorCode::busy, std::string("the GPU's memory is used up (") + function + ")", {},
        "wait for the processes that use this GPU, or end them, or set a smaller evaluator.buffer_mib");
  return fail(ErrorCode::tool_failed, std::string(function) + ": " + words(code));
}

Result<Owned<abi::Stream>> make_stream(const Driver& driver) {
  abi::Stream stream = nullptr;
  if (const auto made = driver.call(driver.stream_create, &stream, abi::kStreamNonBlocking); !made)
    return made.error();
  return Owned(driver.stream_destroy, stream);
}

Result<Owned<abi::Event>> make_event(const Driver& driver, unsigned flags) {
  abi::Event event = nullptr;
  if (const auto made = driver.call(driver.event_create, &event, flags); !made) return made.error();
  return Owned(driver.event_destroy, event);
}

}  // namespace kernelsmith::cuda
