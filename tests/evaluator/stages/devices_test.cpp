// Several devices as one backend: each run on the device that it has for itself, and only on devices of a
// kind.
#include <kernelsmith/evaluator/devices.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

/// Rejects everything, in its device's name.
class NamedDevice final : public Backend {
 public:
  explicit NamedDevice(int device) : name_("device " + std::to_string(device)) {}

  Result<Compilation> compile(const Source&, std::stop_token) override {
    return Compilation{rejection(), {}, {}};
  }
  Result<Evaluation> run(RunRequest, std::stop_token) override { return Evaluation(rejection()); }

 private:
  Rejection rejection() const { return {Stage::run, RejectionCode::crashed, name_, {}}; }
  std::string name_;
};

Result<DeviceBackend> device_of_one_kind(int device) {
  return DeviceBackend{std::make_shared<NamedDevice>(device), "a GPU"};
}

std::string run_on(Backend& backend, std::size_t device) {
  RunRequest request;
  request.device = device;
  return backend.run(std::move(request), {})->rejection()->diagnostics;
}

TEST(Devices, EachRunUsesTheDeviceThatItWasGiven) {
  const auto backend = make_backend_on({2, 3}, device_of_one_kind);
  ASSERT_TRUE(backend);
  EXPECT_EQ(run_on(**backend, 0), "device 2");
  EXPECT_EQ(run_on(**backend, 1), "device 3");
  EXPECT_EQ(run_on(**backend, 2), "device 4");
  const auto compiled = (*backend)->compile({}, {});
  EXPECT_EQ(compiled->rejection()->diagnostics, "device 2") << "the first one compiles for all";
}

TEST(Devices, RefusesDevicesThatDiffer) {
  const auto backend = make_backend_on({0, 2}, [](int device) -> Result<DeviceBackend> {
    return DeviceBackend{std::make_shared<NamedDevice>(device), device == 0 ? "an H100" : "an H200"};
  });
  EXPECT_EQ(backend.error().code, ErrorCode::unsupported);
  EXPECT_THAT(backend.error().message, HasSubstr("an H100 and an H200"));
}

TEST(Devices, TellsTheErrorOfTheOneThatFails) {
  for (const int broken : {0, 1}) {
    const auto backend = make_backend_on({0, 2}, [broken](int device) -> Result<DeviceBackend> {
      if (device == broken) return fail(ErrorCode::unsupported, "there is no GPU " + std::to_string(device));
      return device_of_one_kind(device);
    });
    EXPECT_EQ(backend.error().message, "there is no GPU " + std::to_string(broken));
  }
}

}  // namespace
}  // namespace kernelsmith
