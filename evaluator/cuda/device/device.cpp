#include "device/device.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fcntl.h>

#include <kernelsmith/core/mutex.hpp>

#include "device/context.hpp"
#include "device/fill.hpp"
#include "planner/occupancy.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {
namespace {

/// Large enough that the PCIe link is busy most of the time, small enough to be pinned quickly.
constexpr std::size_t kStagingBytes = std::size_t{8} << 20;
/// The size of the copy that measures bandwidth: several times any L2.
constexpr std::size_t kBandwidthBytes = std::size_t{512} << 20;
constexpr int kBandwidthCopies = 6;  // the first warms up, the best of the others counts

DeviceFacts read_facts(const DeviceContext& context, const std::string& name, std::size_t memory) {
  const DeviceTable& table = context.driver().vendor().device;
  DeviceFacts facts;
  facts.name = name;
  facts.memory_bytes = memory;
  facts.driver_version = context.driver().version;
  facts.occupancy = table.occupancy;
  for (int which = 1; which <= abi::kLastAttribute; ++which)
    if (const auto value = context.known_attribute(which)) facts.attributes[which] = *value;
  // Attributes that the planner needs.
  const DeviceFacts usual = table.usual();
  for (const int which : planner::kNeeded)
    if (const auto found = usual.attributes.find(which); found != usual.attributes.end())
      facts.attributes.insert(*found);
  facts.arch = static_cast<std::uint32_t>(10 * context.attribute(abi::kComputeMajor) +
                                          context.attribute(abi::kComputeMinor));
  return facts;
}

std::string hardware_of(const DeviceContext& context, const std::string& name) {
  const GpuVendor& vendor = context.driver().vendor();
  const auto clocks = vendor.device.clocks != nullptr ? vendor.device.clocks(context.bus_id()) : nullptr;
  const std::string driver = clocks ? clocks->driver_version() : "";
  if (!driver.empty()) return name + ", driver " + driver;
  return name + ", driver for " + vendor.driver.version_text(context.driver().version);
}

class OpenDevice final : public Device {
 public:
  OpenDevice(int index, std::shared_ptr<const DeviceContext> context)
      : index_(index), context_(std::move(context)), driver_(context_->driver()) {}

  ~OpenDevice() override {
    const DeviceContext::Current current(*context_);
    stream_.reset();
    modules_.clear();
    if (staging_ != nullptr) driver_.host_free(staging_);
  }

  Status prepare();

  int index() const override { return index_; }
  const DeviceFacts& facts() const override { return facts_; }
  std::string hardware() const override { return hardware_; }
  std::string bus_id() const override { return context_->bus_id(); }
  std::size_t l2_bytes() const override {
    return static_cast<std::size_t>(context_->attribute(abi::kL2CacheSize));
  }

  Result<SharedMemory> share(std::size_t bytes) override;
  Result<PrivateMemory> allocate(std::size_t bytes) override;
  Status upload(std::uint64_t to, std::span<const std::byte> from) override;
  Status download(std::span<std::byte> to, std::uint64_t from) override;
  Status move(std::span<const Move> moves) override;
  Status load(std::span<const std::byte> image) override;
  Result<std::uint64_t> function(const std::string& name) override;
  Status launch(std::span<const Launch> launches) override;
  Result<double> bandwidth() override;

 private:
  Status start(const Move& move) KERNELSMITH_REQUIRES(mutex_);
  Status start_fill(const Move& move) KERNELSMITH_REQUIRES(mutex_);
  Status wait() KERNELSMITH_REQUIRES(mutex_) {
    return driver_.call(driver_.stream_synchronize, stream_.get());
  }
  Result<double> timed_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes)
      KERNELSMITH_REQUIRES(mutex_);

  int index_;
  std::shared_ptr<const DeviceContext> context_;
  const Driver& driver_;
  DeviceFacts facts_;
  std::string hardware_;
  std::size_t granularity_ = 0;
  Mutex mutex_;  ///< protects the stream and the staging buffer
  Owned<abi::Stream> stream_ KERNELSMITH_GUARDED_BY(mutex_);
  void* staging_ KERNELSMITH_GUARDED_BY(mutex_) = nullptr;
  std::vector<Owned<abi::Module>> modules_ KERNELSMITH_GUARDED_BY(mutex_);
};

Status OpenDevice::prepare() {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  std::array<char, 256> name{};
  std::size_t memory = 0;
  if (auto got = driver_.call(driver_.device_name, name.data(), 255, context_->number()); !got) return got;
  if (auto got = driver_.call(driver_.device_memory, &memory, context_->number()); !got) return got;
  facts_ = read_facts(*context_, name.data(), memory);
  hardware_ = hardware_of(*context_, name.data());
  const auto properties = context_->shareable();
  if (auto got = driver_.call(driver_.granularity, &granularity_, &properties, abi::kGranularityMinimum);
      !got)
    return got;
  if (auto got = driver_.call(driver_.host_allocate, &staging_, kStagingBytes, abi::kHostPortable); !got)
    return got;
  auto stream = make_stream(driver_);
  if (!stream) return stream.error();
  stream_ = std::move(*stream);
  return {};
}

/// The error of an allocation, with its size.
Error no_memory(const Error& error, std::size_t bytes) {
  Error told = error;
  told.message += ", asked for " + std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB of device memory";
  return told;
}

Result<SharedMemory> OpenDevice::share(std::size_t bytes) {
  const DeviceContext::Current current(*context_);
  const std::size_t size = std::max<std::size_t>((bytes + granularity_ - 1) / granularity_, 1) * granularity_;
  const auto properties = context_->shareable();
  const auto access = context_->read_write();
  abi::MemoryHandle handle = 0;
  if (const auto made = driver_.call(driver_.memory_create, &handle, size, &properties, 0ULL); !made)
    return no_memory(made.error(), size);
  const Owned release(driver_.memory_release, handle);  // a mapping keeps the memory alive
  abi::Address address = 0;
  if (const auto got = driver_.call(driver_.address_reserve, &address, size, granularity_, 0ULL, 0ULL); !got)
    return got.error();
  const auto undo = [&](const Error& error, bool mapped) {
    if (mapped) driver_.memory_unmap(address, size);
    driver_.address_free(address, size);
    return error;
  };
  if (const auto got = driver_.call(driver_.memory_map, address, size, std::size_t{0}, handle, 0ULL); !got)
    return undo(got.error(), false);
  if (const auto got = driver_.call(driver_.set_access, address, size, &access, std::size_t{1}); !got)
    return undo(got.error(), true);
  int descriptor = -1;
  if (const auto got = driver_.call(driver_.memory_export, &descriptor, handle, abi::kPosixDescriptor, 0ULL);
      !got)
    return undo(got.error(), true);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  const auto give_back = [context = context_, address, size] {
    const DeviceContext::Current in_context(*context);
    context->driver().memory_unmap(address, size);
    context->driver().address_free(address, size);
  };
  return SharedMemory({address, size, give_back}, Descriptor(descriptor));
}

Result<PrivateMemory> OpenDevice::allocate(std::size_t bytes) {
  const DeviceContext::Current current(*context_);
  abi::Address address = 0;
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (const auto made = driver_.call(driver_.memory_allocate, &address, size); !made)
    return no_memory(made.error(), size);
  const auto give_back = [context = context_, address] {
    const DeviceContext::Current in_context(*context);
    context->driver().memory_free(address);
  };
  return PrivateMemory(address, size, give_back);
}

Status OpenDevice::upload(std::uint64_t to, std::span<const std::byte> from) {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  for (std::size_t done = 0; done < from.size(); done += kStagingBytes) {
    const std::size_t bytes = std::min(kStagingBytes, from.size() - done);
    std::memcpy(staging_, from.data() + done, bytes);
    if (auto got = driver_.call(driver_.copy_to_device, to + done, staging_, bytes, stream_.get()); !got)
      return got;
    if (auto got = wait(); !got) return got;
  }
  return {};
}

Status OpenDevice::download(std::span<std::byte> to, std::uint64_t from) {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  for (std::size_t done = 0; done < to.size(); done += kStagingBytes) {
    const std::size_t bytes = std::min(kStagingBytes, to.size() - done);
    if (auto got = driver_.call(driver_.copy_to_host, staging_, from + done, bytes, stream_.get()); !got)
      return got;
    if (auto got = wait(); !got) return got;
    std::memcpy(to.data() + done, staging_, bytes);
  }
  return {};
}

Status OpenDevice::start_fill(const Move& move) {
  const Fill fill = cut_fill(move.to, move.bytes, move.word);
  const auto put = [&](std::uint64_t to, const std::array<unsigned char, 4>& bytes, std::size_t count)
                       KERNELSMITH_REQUIRES(mutex_) -> Status {
    for (std::size_t i = 0; i < count; ++i)
      if (auto got = driver_.call(driver_.set_bytes, to + i, bytes[i], std::size_t{1}, stream_.get()); !got)
        return got;
    return {};
  };
  if (auto got = put(move.to, fill.head_bytes, fill.head); !got) return got;
  const std::uint64_t words = move.to + fill.head;
  if (fill.words > 0)
    if (auto got = driver_.call(driver_.set_words, words, fill.word, fill.words, stream_.get()); !got)
      return got;
  return put(words + 4 * fill.words, fill.tail_bytes, fill.tail);
}

Status OpenDevice::start(const Move& move) {
  if (move.bytes == 0) return {};
  if (move.from == 0) return start_fill(move);
  return driver_.call(driver_.copy_on_device, move.to, move.from, move.bytes, stream_.get());
}

Status OpenDevice::move(std::span<const Move> moves) {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  for (const Move& each : moves) {
    if (auto started = start(each); !started) {
      driver_.stream_synchronize(stream_.get());  // the work does not outlive the call
      return started;
    }
  }
  return wait();
}

Result<double> OpenDevice::timed_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  auto begin = make_event(driver_, 0);
  auto end = make_event(driver_, 0);
  if (!begin) return begin.error();
  if (!end) return end.error();
  float ms = 0;
  if (auto got = driver_.call(driver_.event_record, begin->get(), stream_.get()); !got) return got.error();
  if (auto got = driver_.call(driver_.copy_on_device, to, from, bytes, stream_.get()); !got)
    return got.error();
  if (auto got = driver_.call(driver_.event_record, end->get(), stream_.get()); !got) return got.error();
  if (auto got = wait(); !got) return got.error();
  if (auto got = driver_.call(driver_.event_elapsed, &ms, begin->get(), end->get()); !got) return got.error();
  if (ms <= 0)
    return fail(ErrorCode::tool_failed, std::string(driver_.event_elapsed.name) + ": a copy took no time");
  return 2.0 * static_cast<double>(bytes) / (1e3 * static_cast<double>(ms));
}

Status OpenDevice::load(std::span<const std::byte> image) {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  abi::Module module = nullptr;
  if (auto got = driver_.call(driver_.module_load, &module, image.data()); !got) return got;
  modules_.emplace_back(driver_.module_unload, module);
  return {};
}

Result<std::uint64_t> OpenDevice::function(const std::string& name) {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  abi::Function function = nullptr;
  for (const Owned<abi::Module>& module : modules_)
    if (driver_.module_function(&function, module.get(), name.c_str()) == abi::kSuccess)
      return reinterpret_cast<std::uint64_t>(function);
  return fail(ErrorCode::not_found, "the judge's kernel " + name + " is not loaded");
}

Status OpenDevice::launch(std::span<const Launch> launches) {
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  for (const Launch& launch : launches) {
    std::vector<void*> arguments;
    for (const std::uint64_t& argument : launch.arguments)
      arguments.push_back(const_cast<std::uint64_t*>(&argument));
    abi::LaunchConfig config;
    std::copy_n(launch.grid.begin(), 3, config.grid);
    std::copy_n(launch.block.begin(), 3, config.block);
    config.stream = stream_.get();
    // The driver's handle as a number for launch(). NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const function = reinterpret_cast<abi::Function>(launch.function);
    if (auto got = driver_.call(driver_.launch, &config, function, arguments.data(), nullptr); !got)
      return got;
  }
  return wait();
}

Result<double> OpenDevice::bandwidth() {
  auto to = allocate(kBandwidthBytes);
  if (!to) return to.error();
  auto from = allocate(kBandwidthBytes);
  if (!from) return from.error();
  const MutexLock lock(mutex_);
  const DeviceContext::Current current(*context_);
  double best = 0;
  for (int i = 0; i < kBandwidthCopies; ++i) {
    const auto rate = timed_copy(to->address(), from->address(), kBandwidthBytes);
    if (!rate) return rate.error();
    if (i > 0) best = std::max(best, *rate);
  }
  return best;
}

}  // namespace

int Device::count(const GpuVendor& vendor, std::string* why) {
  const auto told = [&](const Error& error) {
    if (why != nullptr) *why = error.message;
    return 0;
  };
  const auto driver = Driver::get(vendor);
  if (!driver) return told(driver.error());
  int count = 0;
  if (const auto got = (*driver)->call((*driver)->device_count, &count); !got) return told(got.error());
  if (count == 0 && why != nullptr) *why = "the " + (*driver)->api() + " driver shows no GPU";
  return count;
}

Result<std::shared_ptr<Device>> Device::open(const GpuVendor& vendor, int index) {
  auto context = DeviceContext::create(vendor, index);
  if (!context) return context.error();
  auto device = std::make_shared<OpenDevice>(index, std::move(*context));
  if (const auto prepared = device->prepare(); !prepared) return prepared.error();
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace kernelsmith::cuda
