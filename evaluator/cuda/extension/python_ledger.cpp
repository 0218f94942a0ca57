#include "python_ledger.hpp"

#include <algorithm>

#include "python_side.hpp"

namespace kernelsmith::extension {
namespace {

using cuda::planner::Code;
using cuda::planner::kInvalidConfiguration;
using cuda::planner::kNotSupported;
using cuda::planner::kSuccess;
using cuda::planner::recorder;

Code tell(const Operation& operation) { return python().act(&operation) < 0 ? kNotSupported : kSuccess; }

/// Passes each kind of operation on to Python.
class Teller {
 public:
  explicit Teller(std::span<const cuda::planner::KernelState> kernels) : kernels_(kernels) {}

  Code operator()(const plan::Launch& launch) const {
    const plan::Kernel& kernel = kernels_[launch.kernel].kernel;
    if (!launch.tensor_maps.empty())
      return recorder().refuse(
          "cuTensorMapEncodeTiled",
          "a plan of the torch backend cannot hold tensor maps: copy with cp.async, or make the "
          "descriptors in a Triton kernel");
    if (const Status status = plan::check_launch(launch, kernel, 0); !status) {
      recorder().refuse("kernel " + plan::readable_name(kernel.name),
                        status.error().message + ". " + status.error().hint);
      return recorder().failed(kInvalidConfiguration);
    }
    Operation told;
    told.kind = kLaunch;
    told.module = kernel.module;
    told.name = kernel.name.c_str();
    told.data = launch.parameters.data();
    told.bytes = launch.parameters.size();
    static_assert(sizeof(plan::Parameter) == 2 * sizeof(std::uint32_t));
    told.parameters = reinterpret_cast<const std::uint32_t*>(kernel.parameters.data());
    told.parameter_count = kernel.parameters.size();
    std::ranges::copy(launch.grid, told.grid);
    std::ranges::copy(launch.block, told.block);
    if (launch.cluster) std::ranges::copy(*launch.cluster, told.cluster);
    told.shared = launch.dynamic_shared;
    told.max_shared = launch.max_dynamic_shared;
    told.cooperative = launch.cooperative;
    return tell(told);
  }
  Code operator()(const plan::Memset& memset) const {
    return tell({.kind = kMemset,
                 .to = memset.address,
                 .bytes = memset.count * memset.element_bytes,
                 .value = memset.value,
                 .width = memset.element_bytes});
  }
  Code operator()(const plan::Copy& copy) const {
    return tell({.kind = kCopy, .to = copy.to, .from = copy.from, .bytes = copy.bytes});
  }
  Code operator()(const plan::Upload& upload) const {
    return tell(
        {.kind = kUpload, .to = upload.to, .bytes = upload.bytes.size(), .data = upload.bytes.data()});
  }
  Code operator()(const plan::SymbolUpload& upload) const {
    return tell({.kind = kSymbolUpload,
                 .module = upload.module,
                 .name = upload.symbol.c_str(),
                 .to = upload.offset,
                 .bytes = upload.bytes.size(),
                 .data = upload.bytes.data()});
  }
  // Operations are planned in the order of issue.
  Code operator()(const plan::EventRecord&) const { return kSuccess; }
  Code operator()(const plan::EventWait&) const { return kSuccess; }

 private:
  std::span<const cuda::planner::KernelState> kernels_;
};

}  // namespace

bool PythonLedger::on_device(std::uint64_t address) { return python().on_device(address) != 0; }
std::uint64_t PythonLedger::allocate(std::uint64_t bytes) { return python().allocate(bytes); }
bool PythonLedger::release(std::uint64_t address) { return python().release(address) != 0; }

Code PythonLedger::take(const decltype(plan::Operation::what)& what,
                        std::span<const cuda::planner::KernelState> kernels) {
  return std::visit(Teller(kernels), what);
}

Code PythonLedger::copy_to_variable(const cuda::planner::Variable& variable, std::uint64_t offset,
                                    std::uint64_t from, std::uint64_t bytes) {
  return tell({.kind = kSymbolCopy,
               .module = variable.module,
               .name = variable.name.c_str(),
               .to = offset,
               .from = from,
               .bytes = bytes});
}

}  // namespace kernelsmith::extension
