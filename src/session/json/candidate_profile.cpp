// The object of `profile --json`.
#include <kernelsmith/session/candidate_profile.hpp>
#include <kernelsmith/session/run_json.hpp>

#include "values.hpp"

namespace kernelsmith {
namespace view_json {
namespace {

Json pace_object(const Pace& pace) {
  return {{"shape", pace.shape},
          {"runtime", interval(pace.us)},
          {"gb_per_s", or_null(pace.gb_per_s)},
          {"gflop_per_s", or_null(pace.gflop_per_s)},
          {"operations_per_byte", or_null(pace.operations_per_byte)}};
}

Json counts_object(const LaunchCounts& counts) {
  const auto stall = [](const StallShare& one) -> Json {
    return {{"cause", one.cause}, {"share", one.share}, {"helps", one.helps}};
  };
  const auto line = [](const HotLine& one) -> Json {
    return {{"file", one.file}, {"line", one.line}, {"share", one.share}, {"text", one.text}};
  };
  return {{"us", counts.us},
          {"bound", name_of(counts.bound)},
          {"arithmetic", counts.arithmetic},
          {"tensor_cores", counts.tensor_cores},
          {"memory_system", counts.memory_system},
          {"device_memory", counts.device_memory},
          {"occupancy", or_null(counts.occupancy)},
          {"bytes", or_null(counts.bytes)},
          {"operations", or_null(counts.operations)},
          {"ridge", or_null(counts.ridge)},
          {"stalls", list_of(counts.stalls, stall)},
          {"lines", list_of(counts.lines, line)}};
}

Json launch_object(const LaunchProfile& launch) {
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"registers", launch.registers},
          {"shared_bytes", launch.shared_bytes},
          {"spill_bytes", launch.local_bytes},
          {"tensor_cores", launch.tensor_cores},
          {"occupancy", launch.occupancy},
          {"limiter", launch.limiter},
          {"waves", launch.waves},
          {"counts", launch.counts ? counts_object(*launch.counts) : Json(nullptr)}};
}

}  // namespace
}  // namespace view_json

std::string profile_json(const CandidateProfile& profile) {
  using namespace view_json;
  std::vector<std::string> missing = profile.missing;
  if (profile.gpu) missing.insert(missing.end(), profile.gpu->missing.begin(), profile.gpu->missing.end());
  return one_line(
      {{"evaluation", profile.evaluation ? evaluation_object(*profile.evaluation, {}) : Json(nullptr)},
       {"paces", list_of(profile.paces, pace_object)},
       {"device", profile.gpu ? Json(profile.gpu->device) : Json(nullptr)},
       {"launches", profile.gpu ? list_of(profile.gpu->launches, launch_object) : Json::array()},
       {"missing", missing}});
}

}  // namespace kernelsmith
