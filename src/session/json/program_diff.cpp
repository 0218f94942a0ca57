// The object of `diff --json`.
#include <kernelsmith/session/program_diff.hpp>
#include <kernelsmith/session/run_json.hpp>

#include "values.hpp"

namespace kernelsmith {
namespace view_json {
namespace {

Json verdict_object(const Individual& one) {
  const Rejection* const rejection = one.evaluation.rejection();
  return {{"program", one.program->id.value},
          {"origin", name_of(one.program->origin)},
          {"accepted", one.evaluation.accepted()},
          {"code", rejection ? Json(name_of(rejection->code)) : Json(nullptr)},
          {"measurement", fitness_interval(one.evaluation)},
          {"speedup", interval(one.evaluation.report().speedup)}};
}

Json block_object(const BlockDiff& block) {
  return {{"file", block.file.empty() ? Json(nullptr) : Json(block.file)},
          {"block", block.block > 0 ? Json(block.block) : Json(nullptr)},
          {"diff", block.diff}};
}

Json kernel_object(const KernelDiff& kernel) {
  return {{"kernel", kernel.kernel}, {"a", kernel.a}, {"b", kernel.b}};
}

Json times_object(const ShapeTimes& times) {
  return {{"shape", times.shape},
          {"a", interval(times.a)},
          {"b", interval(times.b)},
          {"ratio", interval(times.ratio())}};
}

}  // namespace
}  // namespace view_json

std::string diff_json(const ProgramDiff& diff) {
  using namespace view_json;
  const auto pairs_of = [](const auto& differing) {
    Json object = Json::object();
    for (const auto& [name, values] : differing)
      object[name] = {{"a", or_null(values.first)}, {"b", or_null(values.second)}};
    return object;
  };
  return one_line({{"a", verdict_object(*diff.a)},
                   {"b", verdict_object(*diff.b)},
                   {"gain", interval(diff.gain)},
                   {"source", list_of(diff.source, block_object)},
                   {"kernels", list_of(diff.kernels, kernel_object)},
                   {"plan", diff.plan},
                   {"knobs", pairs_of(diff.knobs)},
                   {"features", pairs_of(diff.features)},
                   {"shapes", list_of(diff.shapes, times_object)},
                   {"missing", diff.missing}});
}

}  // namespace kernelsmith
