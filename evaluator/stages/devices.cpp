#include <future>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/devices.hpp>

namespace kernelsmith {
namespace {

class SeveralDevices final : public Backend {
 public:
  explicit SeveralDevices(std::vector<std::shared_ptr<Backend>> devices) : devices_(std::move(devices)) {}

  Result<Compilation> compile(const Source& source, std::stop_token stop) override {
    return devices_.front()->compile(source, std::move(stop));
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    Backend& device = *devices_.at(request.device);
    return device.run(std::move(request), std::move(stop));
  }

 private:
  const std::vector<std::shared_ptr<Backend>> devices_;
};

}  // namespace

Result<std::shared_ptr<Backend>> make_backend_on(
    DeviceRange devices, const std::function<Result<DeviceBackend>(int device)>& make) {
  std::vector<std::future<Result<DeviceBackend>>> others;
  for (int i = 1; i < devices.count; ++i)
    others.push_back(
        std::async(std::launch::async, [&make, device = devices.first + i] { return make(device); }));
  auto first = make(devices.first);
  std::vector<Result<DeviceBackend>> made;
  for (auto& other : others) made.push_back(other.get());
  if (!first) return first.error();
  if (made.empty()) return std::move(first->backend);
  std::vector<std::shared_ptr<Backend>> backends{std::move(first->backend)};
  for (auto& other : made) {
    if (!other) return other.error();
    if (other->hardware != first->hardware)
      return fail(
          ErrorCode::unsupported,
          "scores of different devices cannot be compared: " + first->hardware + " and " + other->hardware,
          "evaluator.devices", "choose devices of one kind, by CUDA_VISIBLE_DEVICES and evaluator.device");
    backends.push_back(std::move(other->backend));
  }
  return std::make_shared<SeveralDevices>(std::move(backends));
}

}  // namespace kernelsmith
