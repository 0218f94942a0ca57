// Device: the judge's own context on a GPU, and the memory that it shares with runners. No candidate kernel
// ever runs in this context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

#include "planner/planner.hpp"

namespace kernelsmith::cuda {

struct GpuVendor;

/// Private device memory of the judge's context. The destructor frees it.
class PrivateMemory {
 public:
  PrivateMemory() = default;
  PrivateMemory(std::uint64_t address, std::size_t bytes, std::function<void()> give_back)
      : address_(address),
        bytes_(bytes),
        owner_(nullptr, [give_back = std::move(give_back)](void*) { give_back(); }) {}
  PrivateMemory(PrivateMemory&&) noexcept = default;
  PrivateMemory& operator=(PrivateMemory&&) noexcept = default;

  std::uint64_t address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> owner_;
};

/// Device memory of the judge's context that can be exported to a runner.
class SharedMemory {
 public:
  SharedMemory(PrivateMemory memory, Descriptor descriptor)
      : memory_(std::move(memory)), descriptor_(std::move(descriptor)) {}

  std::uint64_t address() const { return memory_.address(); }  ///< in the judge's context
  std::size_t bytes() const { return memory_.bytes(); }        ///< a multiple of the granularity (2 MiB)
  int descriptor() const { return descriptor_.get(); }         ///< for SCM_RIGHTS; owned by this

 private:
  PrivateMemory memory_;
  Descriptor descriptor_;
};

/// Thread-safe: each function makes the context current during the call and waits for its work.
class Device {
 public:
  /// The number of GPUs; 0 with the reason in `why` if there is no driver or no GPU.
  static int count(const GpuVendor& vendor, std::string* why = nullptr);

  /// Opens GPU `index`. Errors: unsupported (no driver, no such GPU, a driver too old).
  static Result<std::shared_ptr<Device>> open(const GpuVendor& vendor, int index);
  virtual ~Device() = default;

  virtual int index() const = 0;
  virtual const DeviceFacts& facts() const = 0;
  virtual std::string hardware() const = 0;  ///< its name and the driver's version
  virtual std::string bus_id() const = 0;    ///< "0000:65:00.0": the GPU's name for every process
  virtual std::size_t l2_bytes() const = 0;

  virtual Result<SharedMemory> share(std::size_t bytes) = 0;
  virtual Result<PrivateMemory> allocate(std::size_t bytes) = 0;

  virtual Status upload(std::uint64_t to, std::span<const std::byte> from) = 0;
  virtual Status download(std::span<std::byte> to, std::uint64_t from) = 0;

  /// A copy or a fill; `from` 0 fills with the 32-bit `word` (bytes not a multiple of 4 are allowed).
  struct Move {
    std::uint64_t to = 0, from = 0;
    std::size_t bytes = 0;
    std::uint32_t word = 0;
  };
  /// Runs all copies in order on one stream; returns when they are done.
  virtual Status move(std::span<const Move> moves) = 0;

  /// Loads kernels of the judge's own, which stay loaded. Errors: tool_failed.
  virtual Status load(std::span<const std::byte> image) = 0;
  /// Finds a kernel of a loaded image. Errors: not_found.
  virtual Result<std::uint64_t> function(const std::string& name) = 0;

  struct Launch {
    std::uint64_t function = 0;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::vector<std::uint64_t> arguments;  ///< a parameter of four bytes uses the low half
  };
  /// Runs all launches in order on one stream; returns when they are done.
  virtual Status launch(std::span<const Launch> launches) = 0;

  /// Bytes per microsecond of a large device-to-device copy, reads and writes both counted; the best of a
  /// few.
  virtual Result<double> bandwidth() = 0;
};

}  // namespace kernelsmith::cuda
