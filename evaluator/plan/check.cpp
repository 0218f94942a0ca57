// Checks for each operation of a recorded call that it stays within its memory.
#include <limits>

#include <kernelsmith/evaluator/plan.hpp>

#include "plan/checks.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

/// The arguments of check().
struct Given {
  const Call& call;
  std::span<const Kernel> kernels;
  std::size_t cubins = 0;
  const Places& places;
};

Status located(Status status, const std::string& where) {
  if (status) return status;
  Error error = status.error();
  error.where = where;
  return error;
}

Status check_upload_size(std::size_t bytes) {
  if (bytes <= kMaxUpload) return {};
  return refuse(
      "copies " + std::to_string(bytes) + " bytes from the host; at most " + std::to_string(kMaxUpload),
      "Compute large tables in a kernel; the entry's tensors are on the device already");
}

Status check_one(const Given& given, const Launch& launch) {
  if (launch.kernel >= given.kernels.size())
    return refuse("kernel number " + std::to_string(launch.kernel) + " does not exist",
                  "Launch kernels of this source");
  const Kernel& kernel = given.kernels[launch.kernel];
  if (kernel.module >= given.cubins)
    return refuse("the kernel's cubin number " + std::to_string(kernel.module) + " does not exist",
                  "Launch kernels of this source");
  return check_launch(launch, kernel, given.call.tensor_maps.size());
}

Status check_one(const Given& given, const Memset& memset) {
  const std::uint64_t size = memset.element_bytes;
  if (size != 1 && size != 2 && size != 4)
    return refuse("sets elements of " + std::to_string(size) + " bytes", "Elements are of 1, 2 or 4 bytes");
  if (memset.address % size != 0)
    return refuse("sets elements of " + std::to_string(size) + " bytes at " + hexadecimal(memset.address),
                  "The address has to be a multiple of the element's size");
  if (memset.count > std::numeric_limits<std::uint64_t>::max() / size)
    return refuse("sets " + std::to_string(memset.count) + " elements", "Sizes are in elements");
  return given.places.allow(Access::writes, memset.address, memset.count * size);
}

Status check_one(const Given& given, const Copy& copy) {
  if (Status status = given.places.allow(Access::reads, copy.from, copy.bytes); !status) return status;
  return given.places.allow(Access::writes, copy.to, copy.bytes);
}

Status check_one(const Given& given, const Upload& upload) {
  if (Status status = check_upload_size(upload.bytes.size()); !status) return status;
  return given.places.allow(Access::writes, upload.to, upload.bytes.size());
}

Status check_one(const Given& given, const SymbolUpload& upload) {
  if (upload.module >= given.cubins)
    return refuse("cubin number " + std::to_string(upload.module) + " does not exist",
                  "Name variables of this source");
  if (upload.symbol.empty() || upload.symbol.size() > kMaxName ||
      upload.symbol.find('\0') != upload.symbol.npos)
    return refuse("a variable without a usable name",
                  "Name a __device__ or __constant__ variable of this source");
  if (upload.offset > std::numeric_limits<std::uint64_t>::max() - kMaxUpload)
    return refuse("an offset of " + std::to_string(upload.offset) + " bytes", "Stay within the variable");
  return check_upload_size(upload.bytes.size());
}

// check_streams() checks the numbers and the order of records and waits.
Status check_one(const Given&, const EventRecord&) { return {}; }
Status check_one(const Given&, const EventWait&) { return {}; }

std::string name_of(const Operation& operation, std::span<const Kernel> kernels) {
  struct Name {
    std::span<const Kernel> kernels;
    std::string operator()(const Launch& launch) const {
      return "launch" +
             (launch.kernel < kernels.size() ? " of " + readable_name(kernels[launch.kernel].name) : "");
    }
    std::string operator()(const Memset&) const { return "memset"; }
    std::string operator()(const Copy&) const { return "copy"; }
    std::string operator()(const Upload&) const { return "copy from the host"; }
    std::string operator()(const SymbolUpload& upload) const {
      return "copy to " + readable_name(upload.symbol);
    }
    std::string operator()(const EventRecord&) const { return "event record"; }
    std::string operator()(const EventWait&) const { return "event wait"; }
  };
  return std::visit(Name{kernels}, operation.what);
}

Status check_counts(const Call& call) {
  if (call.operations.size() > kMaxOperations)
    return refuse(std::to_string(call.operations.size()) + " operations in one call; at most " +
                      std::to_string(kMaxOperations),
                  "Do more in one kernel");
  if (call.tensor_maps.size() > kMaxTensorMaps)
    return refuse(std::to_string(call.tensor_maps.size()) + " tensor maps in one call; at most " +
                      std::to_string(kMaxTensorMaps),
                  "Make each tensor map once");
  return {};
}

}  // namespace

std::string operation_name(std::size_t index, std::string_view what) {
  return "operation " + std::to_string(index + 1) + (what.empty() ? "" : ", " + std::string(what));
}

Status check(const Call& call, std::span<const Kernel> kernels, std::size_t cubins,
             std::span<const Buffer> buffers, const Workspace& workspace) {
  if (Status status = check_counts(call); !status) return located(status, "the call");
  if (Status status = check_workspace(call, workspace); !status) return located(status, "the call");
  const Places places(call, buffers, workspace);
  for (std::size_t i = 0; i < call.tensor_maps.size(); ++i)
    if (Status status = check_tensor_map(call.tensor_maps[i], places); !status)
      return located(status, "tensor map " + std::to_string(i));
  const Given given{call, kernels, cubins, places};
  for (std::size_t i = 0; i < call.operations.size(); ++i) {
    const Operation& operation = call.operations[i];
    const Status status =
        std::visit([&](const auto& what) { return check_one(given, what); }, operation.what);
    if (!status) return located(status, operation_name(i, name_of(operation, kernels)));
  }
  return check_streams(call.operations);
}

}  // namespace kernelsmith::plan
