#include "gpu.hpp"

#include <utility>

namespace kernelsmith::cuda {
namespace {

/// A short loss of the device ends the runner and the spare. The next runner can start again.
constexpr int kAttempts = 2;

}  // namespace

Result<std::shared_ptr<Gpu>> Gpu::open(RunnerSettings settings) {
  auto opened = Device::open(*settings.vendor, settings.device);
  if (!opened) return opened.error();
  return create(std::move(*opened), [settings = std::move(settings)] { return Runner::start(settings); });
}

Result<std::shared_ptr<Gpu>> Gpu::create(std::shared_ptr<Device> device, RunnerStart start) {
  std::shared_ptr<Gpu> gpu(new Gpu(std::move(device), std::move(start)));
  gpu->start_spare();
  if (auto runner = gpu->runner(); !runner) return runner.error();
  return gpu;
}

void Gpu::start_spare() { spare_ = std::async(std::launch::async, start_); }

Result<Runner*> Gpu::runner() {
  if (runner_ && runner_->alive()) return runner_.get();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto started = spare_.get();
    start_spare();
    if (!started) return started.error();
    runner_ = std::move(*started);
    ++epoch_;
    if (runner_->alive()) return runner_.get();
  }
  return fail(ErrorCode::tool_failed, "the GPU's runner ends as soon as it has started");
}

}  // namespace kernelsmith::cuda
