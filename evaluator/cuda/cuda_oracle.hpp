// CudaOracle: the reference, answering one call at a time on the GPU.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/bytes.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "call_buffers.hpp"
#include "gpu.hpp"
#include "plan_cache.hpp"

namespace kernelsmith::cuda {

/// A runner that oracles share, separate from the one that times candidates. It starts with the first oracle;
/// if it dies, the next oracle starts another.
struct OracleRunner {
  RunnerStart start;
  Mutex mutex;  ///< held while a runner works
  std::shared_ptr<Runner> last KERNELSMITH_GUARDED_BY(mutex);
};

class CudaOracle final : public Oracle {
 public:
  struct Setup {
    std::shared_ptr<const Task> task;
    std::shared_ptr<const std::vector<TaskShape>> shapes;
    std::shared_ptr<Device> device;
    std::shared_ptr<OracleRunner> runner;
    PlanFunction plan;
  };

  /// Plans the binary at all shapes. Errors: refused if that fails; cancelled after a stop request, here and
  /// in later answers.
  static Result<std::unique_ptr<CudaOracle>> create(const Setup& setup, const CudaBinaryPtr& binary,
                                                    OraclePrecision precision, std::stop_token stop = {});
  ~CudaOracle() override;

  OraclePrecision precision() const override { return precision_; }
  std::span<std::byte> input(std::size_t shape, std::size_t tensor) override;
  Status answer(std::size_t shape) override;
  std::span<const std::byte> output(std::size_t shape, std::size_t tensor) override;
  double elsewhere_us() const override { return runner_us_; }

 private:
  CudaOracle(Setup setup, CallBuffers buffers, OraclePrecision precision, std::stop_token stop)
      : setup_(std::move(setup)),
        buffers_(std::move(buffers)),
        precision_(precision),
        stop_(std::move(stop)) {}
  Status take_runner();
  Status plan(const CudaBinaryPtr& binary);

  Setup setup_;
  CallBuffers buffers_;
  std::shared_ptr<Runner> runner_;  ///< the runner in which the buffers are mapped
  const OraclePrecision precision_;
  const std::stop_token stop_;
  PlannedBinaryPtr planned_;
  std::vector<std::optional<std::uint32_t>> kept_;               ///< the runner's numbers, by shape
  std::map<std::pair<std::size_t, std::size_t>, Bytes> values_;  ///< by shape and tensor
  double runner_us_ = 0;                                         ///< of the calls, on the device and before
};

}  // namespace kernelsmith::cuda
