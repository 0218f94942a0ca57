// One backend on several devices of a machine: each run has a device for itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/backend.hpp>

namespace kernelsmith {

/// A backend that is ready on one device, and what that device is; empty if there is none.
struct DeviceBackend {
  std::shared_ptr<Backend> backend;
  std::string hardware;
};

/// Devices of a machine that are next to each other, as backends count them.
struct DeviceRange {
  int first = 0;
  int count = 1;
};

/// Prepares the devices at the same time, each by `make`, and gives a backend whose run() uses the one that
/// RunRequest::device counts to; compile() is the first one's, so binaries must fit all. Errors: the first
/// of `make`'s; `unsupported` if the devices' hardware differs: their scores do not compare.
Result<std::shared_ptr<Backend>> make_backend_on(
    DeviceRange devices, const std::function<Result<DeviceBackend>(int device)>& make);

}  // namespace kernelsmith
