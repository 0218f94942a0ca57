// The Bus in a build without libnats.
#include "bus.hpp"

namespace kernelsmith {

Status check_fleet_support() {
  return fail(ErrorCode::unsupported, "this kernelsmith was built without libnats, so it cannot use a fleet",
              "", "install libnats-dev and build again");
}

namespace fleet {

Result<std::shared_ptr<Bus>> connect(const BusOptions&, const std::stop_token&) {
  return check_fleet_support().error();
}

}  // namespace fleet
}  // namespace kernelsmith
