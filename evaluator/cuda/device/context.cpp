#include "device/context.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

Result<std::shared_ptr<const DeviceContext>> DeviceContext::create(const GpuVendor& vendor, int index) {
  const auto found = Driver::get(vendor);
  if (!found) return found.error();
  const Driver& driver = **found;
  int count = 0;
  if (const auto counted = driver.call(driver.device_count, &count); !counted) return counted.error();
  if (index < 0 || index >= count)
    return fail(ErrorCode::unsupported,
                "there is no GPU " + std::to_string(index) + ": the driver shows " + std::to_string(count));
  abi::DeviceNumber number = 0;
  if (const auto got = driver.call(driver.device_get, &number, index); !got) return got.error();

  std::shared_ptr<DeviceContext> made(new DeviceContext(driver, number));
  if (made->attribute(abi::kVirtualMemorySupported) == 0 ||
      made->attribute(abi::kPosixDescriptorSupported) == 0)
    return fail(ErrorCode::unsupported,
                "GPU " + std::to_string(index) + " cannot share memory between processes", {},
                "virtual memory management and POSIX descriptors are needed (not vGPU, not WSL)");
  std::array<char, 64> bus_id{};
  if (const auto got = driver.call(driver.device_bus_id, bus_id.data(), 63, number); !got) return got.error();
  made->bus_id_ = bus_id.data();
  if (const auto got = driver.call(driver.context_create, &made->context_, 0U, number); !got)
    return got.error();
  abi::Context none = nullptr;  // cuCtxCreate made it current
  if (const auto popped = driver.call(driver.context_pop, &none); !popped) return popped.error();
  return std::shared_ptr<const DeviceContext>(std::move(made));
}

DeviceContext::~DeviceContext() {
  if (context_ != nullptr) driver_.context_destroy(context_);
}

DeviceContext::Current::Current(const DeviceContext& context)
    : context_(context), pushed_(context.driver_.context_push(context.context_) == abi::kSuccess) {}

DeviceContext::Current::~Current() {
  abi::Context mine = nullptr;
  if (pushed_) context_.driver_.context_pop(&mine);
}

std::optional<int> DeviceContext::known_attribute(int which) const {
  const auto& numbers = driver_.vendor().names.attributes;
  int asked = which;
  if (!numbers.empty()) {
    const auto found = std::ranges::find(numbers, which, &std::pair<int, int>::first);
    if (found == numbers.end()) return std::nullopt;
    asked = found->second;
  }
  int value = 0;
  if (driver_.device_attribute(&value, asked, number_) != abi::kSuccess) return std::nullopt;
  return value;
}

abi::MemoryProperties DeviceContext::shareable() const {
  abi::MemoryProperties properties;
  properties.handle_types = abi::kPosixDescriptor;
  properties.location.id = number_;
  return properties;
}

abi::AccessDescription DeviceContext::read_write() const {
  abi::AccessDescription access;
  access.location.id = number_;
  return access;
}

}  // namespace kernelsmith::cuda
