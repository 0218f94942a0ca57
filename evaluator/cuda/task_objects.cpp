#include "task_objects.hpp"

#include <future>
#include <string>

namespace kernelsmith::cuda {
namespace {

using Built = std::shared_future<Result<CudaBinaryPtr>>;

/// The future is not valid if the source is empty.
Built start_build(const CudaCompiler& compiler, const Source& source, std::string what,
                  OraclePrecision precision, const std::stop_token& stop) {
  if (source.empty()) return {};
  return std::async(std::launch::async,
                    [&compiler, &source, what = std::move(what), precision, stop] {
                      return compiler.build({source, what, precision}, stop);
                    })
      .share();
}

CudaBinaryPtr result_of(const Built& built) { return built.valid() ? *built.get() : nullptr; }

}  // namespace

OraclePrecision truth_precision_on_gpu(const Task& task) {
  const OraclePrecision wanted = truth_precision(task);
  return wanted == OraclePrecision::long_double ? OraclePrecision::f64 : wanted;
}

Result<Objects> build_objects(const Task& task, const CudaCompiler& compiler, const std::stop_token& stop) {
  const auto start = [&](const Source& source, std::string what,
                         OraclePrecision precision = OraclePrecision::declared) {
    return start_build(compiler, source, std::move(what), precision, stop);
  };
  const OraclePrecision truth = truth_precision_on_gpu(task);
  const bool exact = truth == OraclePrecision::declared;
  const bool own = !task.oracle.empty();
  const Source& oracle = own ? task.oracle : task.reference;
  const std::string oracle_name = own ? "oracle" : "reference";
  const Built declared = exact ? start(oracle, oracle_name) : start(task.reference, "reference");
  const Built wide = exact ? Built() : start(oracle, oracle_name, truth);
  const bool is_reference = task.baseline == task.reference && !(exact && own);
  const Built baseline = is_reference ? declared : start(task.baseline, "baseline");
  const Built seed = start(task.seed, "seed");
  const Built yardstick = start(task.yardstick, "yardstick");
  for (const Built& built : {declared, wide, baseline, seed, yardstick})
    if (built.valid() && !built.get()) return built.get().error();
  Objects objects{result_of(declared), result_of(wide), result_of(baseline), result_of(seed),
                  result_of(yardstick)};
  if (!objects.yardstick) objects.yardstick = objects.seed ? objects.seed : objects.baseline;
  return objects;
}

}  // namespace kernelsmith::cuda
