#include "vendors/vendors.hpp"

#include "vendors/hip/hip.hpp"
#include "vendors/maca/maca.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {

const GpuVendor* vendor_named(std::string_view backend) {
  for (const GpuVendor* const vendor : {&nvidia(), &maca(), &hip()})
    if (backend == vendor->backend) return vendor;
  return nullptr;
}

}  // namespace kernelsmith::cuda
