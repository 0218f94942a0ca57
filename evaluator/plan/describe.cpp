// Describes a call for people. The call need not have passed check().
#include <algorithm>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/evaluator/plan.hpp>

#include "plan/addresses.hpp"
#include "plan/parameters.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

std::string bytes_of(std::uint64_t count) { return counted(count, "byte"); }

/// ", cluster 2 x 1 x 1, 1024 bytes of dynamic shared memory": a launch's settings besides grid and block.
std::string attributes_of(const Launch& launch) {
  std::string text;
  if (launch.cluster) text += ", cluster " + text_of(*launch.cluster);
  if (launch.dynamic_shared > 0) text += ", " + bytes_of(launch.dynamic_shared) + " of dynamic shared memory";
  if (launch.max_dynamic_shared > 0) text += " (at most " + std::to_string(launch.max_dynamic_shared) + ")";
  if (launch.shared_carveout >= 0)
    text += ", shared memory carve-out " + std::to_string(launch.shared_carveout) + " %";
  if (launch.nonportable_cluster) text += ", non-portable cluster";
  if (launch.cooperative) text += ", cooperative";
  if (launch.programmatic) text += ", may begin before the one before it ends";
  return text;
}

class Describer {
 public:
  Describer(std::span<const Kernel> kernels, const Addresses& addresses)
      : kernels_(kernels), addresses_(addresses) {}

  std::string operator()(const Launch& launch) const {
    const std::string shape =
        ", grid " + text_of(launch.grid) + ", block " + text_of(launch.block) + attributes_of(launch);
    if (launch.kernel >= kernels_.size())
      return "launch kernel number " + std::to_string(launch.kernel) + ", which does not exist" + shape;
    const Kernel& kernel = kernels_[launch.kernel];
    return "launch " + readable_name(kernel.name) + shape + ": " +
           describe_parameters(launch, kernel, addresses_);
  }
  std::string operator()(const Memset& memset) const {
    return "set " + counted(memset.count, "element") + " of " + bytes_of(memset.element_bytes) + " at " +
           addresses_.name(memset.address) + " to " + hexadecimal(memset.value);
  }
  std::string operator()(const Copy& copy) const {
    return "copy " + bytes_of(copy.bytes) + " from " + addresses_.name(copy.from) + " to " +
           addresses_.name(copy.to);
  }
  std::string operator()(const Upload& upload) const {
    return "copy " + bytes_of(upload.bytes.size()) + " from the host to " + addresses_.name(upload.to);
  }
  std::string operator()(const SymbolUpload& upload) const {
    return "copy " + bytes_of(upload.bytes.size()) + " from the host to variable " +
           readable_name(upload.symbol) + " + " + std::to_string(upload.offset);
  }
  std::string operator()(const EventRecord& record) const {
    return "record event " + std::to_string(record.event);
  }
  std::string operator()(const EventWait& wait) const {
    return "wait for event " + std::to_string(wait.event);
  }

 private:
  std::span<const Kernel> kernels_;
  const Addresses& addresses_;
};

/// The first `count` numbers, such as "1 x 2 x 3".
template <class Array>
std::string joined(const Array& numbers, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, numbers.size()); ++i)
    text += (i == 0 ? "" : " x ") + std::to_string(numbers[i]);
  return text;
}

std::string describe_map(const TensorMap& map, const Addresses& addresses) {
  std::string text = std::string(element_name(map.data_type)) + ", " + joined(map.dimensions, map.rank) +
                     " at " + addresses.name(map.address);
  if (map.rank > 1) text += ", strides " + joined(map.strides, map.rank - 1) + " bytes";
  text += ", box " + joined(map.box, map.rank);
  if (map.interleave != 0) text += ", interleave " + std::to_string(map.interleave);
  if (map.swizzle != 0) text += ", swizzle " + std::to_string(map.swizzle);
  return text;
}

}  // namespace

std::string describe(const Call& call, std::span<const Kernel> kernels, std::span<const NamedBuffer> buffers,
                     const Workspace& workspace) {
  const Addresses addresses(call, buffers, workspace);
  const Describer describer(kernels, addresses);
  std::string text;
  for (const auto& [name, bytes] :
       {std::pair(kKeptName, call.kept_workspace), std::pair(kCallName, call.call_workspace)})
    if (bytes > 0) text += std::string(name) + ": " + bytes_of(bytes) + "\n";
  for (std::size_t i = 0; i < call.tensor_maps.size(); ++i)
    text += "tensor map " + std::to_string(i) + ": " + describe_map(call.tensor_maps[i], addresses) + "\n";
  for (std::size_t i = 0; i < call.operations.size(); ++i) {
    const Operation& operation = call.operations[i];
    text += std::to_string(i + 1) + ": ";
    if (operation.stream != 0) text += "[stream " + std::to_string(operation.stream) + "] ";
    text += std::visit(describer, operation.what) + "\n";
  }
  return escape_controls(text);
}

}  // namespace kernelsmith::plan
