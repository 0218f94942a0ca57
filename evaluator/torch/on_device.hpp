// OnDevice: a task prepared on one GPU; with_device() acquires the device for one use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/device_lease.hpp>
#include <kernelsmith/evaluator/judge.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "memory_hold.hpp"
#include "torch_host.hpp"

namespace kernelsmith::torch {

/// The judge's objects on a GPU. Each member refers to members above it.
struct OnDevice {
  DeviceLease lease;
  ScratchFolder files;  ///< the reference's plan
  std::unique_ptr<ReferenceProcess> process;
  std::shared_ptr<TorchHost> host;
  std::unique_ptr<Judge> judge;
  /// The shortest possible time of the reference's products on the device, by workload; 0: unknown.
  std::vector<double> least_products_us;
  std::uint64_t need_bytes = 0;        ///< device memory that the task uses
  std::unique_ptr<MemoryHold> memory;  ///< null if the device does not report its memory
  double waited_ms = 0;                ///< total time for which uses waited for memory or time of the device
  std::vector<std::size_t> searched;   ///< the workloads at which a search evaluates
};

/// The device for one use. Its memory is acquired before its time, so that no process waits for memory while
/// it holds the time.
class DeviceUse {
 public:
  enum class Share { usual, all };

  static Result<std::unique_ptr<DeviceUse>> begin(OnDevice& device, DeviceLease::Use use_of_time, Share share,
                                                  std::uint64_t usual_bytes, const std::stop_token& stop) {
    std::unique_ptr<DeviceUse> use(new DeviceUse(share));
    if (MemoryHold* const memory = device.memory.get(); memory != nullptr) {
      const std::uint64_t bytes = share == Share::all ? memory->capacity() : usual_bytes;
      if (const Status begun = memory->begin(bytes, stop); !begun) return begun.error();
      use->memory_ = memory;
      use->alone_ = bytes >= memory->capacity();
    }
    if (device.host) device.host->start_spares(stop);  // spares prepare while others use the device
    auto time = device.lease.take(stop, use_of_time);
    if (!time) return time.error();
    use->time_.emplace(std::move(*time));
    return use;
  }
  ~DeviceUse() {
    time_.reset();
    if (memory_ != nullptr) memory_->end(share_ == Share::usual);
  }
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;

  bool alone() const { return alone_; }

 private:
  explicit DeviceUse(Share share) : share_(share) {}

  const Share share_;
  MemoryHold* memory_ = nullptr;
  bool alone_ = true;
  std::optional<DeviceLease::Held> time_;
};

/// Does `work` with the usual share of the device's memory. If that was too little, does it again with all of
/// the memory, because only then it is clear whose fault the lack of memory is.
template <typename Work>
auto with_device(OnDevice& device, DeviceLease::Use use_of_time, std::uint64_t usual_bytes,
                 const WorkSink& works, const std::stop_token& stop, const Work& work)
    -> decltype(work(true)) {
  using Share = DeviceUse::Share;
  if (device.host) device.host->read_early(stop);  // others may use the device meanwhile
  for (const Share share : {Share::usual, Share::all}) {
    const auto use = in_turn(works, [&] {
      const AddedTime watch(device.waited_ms);
      return DeviceUse::begin(device, use_of_time, share, usual_bytes, stop);
    });
    if (!use) return use.error();
    auto done = work((*use)->alone());
    const bool too_little = !done && done.error().code == ErrorCode::busy;
    if (!too_little || (*use)->alone()) return done;
  }
  return fail(ErrorCode::internal, "the work ran out of memory with all of the device's memory");
}

}  // namespace kernelsmith::torch
