// Uses one backend on several devices of a machine. Each run has a device for itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/backend.hpp>

namespace kernelsmith {

/// A backend that is ready on one device, and the name of the device (empty if there is no device).
struct DeviceBackend {
  std::shared_ptr<Backend> backend;
  std::string hardware;
};

/// A range of a machine's devices, by the backend's numbers.
struct DeviceRange {
  int first = 0;
  int count = 1;
};

/// Prepares the devices at the same time, each with `make`. The returned backend runs a candidate on the
/// device with the number RunRequest::device. It compiles with the first device's backend, so binaries must
/// fit all devices. Errors: the first of `make`'s; `unsupported` if the devices' hardware differs, because
/// their scores are not comparable.
Result<std::shared_ptr<Backend>> make_backend_on(
    DeviceRange devices, const std::function<Result<DeviceBackend>(int device)>& make);

}  // namespace kernelsmith
