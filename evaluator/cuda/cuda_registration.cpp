// The registrations of the GPU backends, with their settings in run.yaml.
#include <memory>

#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/cuda/cuda_registration.hpp>
#include <kernelsmith/evaluator/provider_settings.hpp>

#include "backend_of_vendor.hpp"
#include "vendors/hip/hip.hpp"
#include "vendors/maca/maca.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith {
namespace {

class CudaProvider final : public EvaluatorProvider {
 public:
  explicit CudaProvider(const cuda::GpuVendor& vendor) : options_(cuda::usual_options(vendor)) {}

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status ok = check(); !ok) return ok.error();
    return make_cuda_evaluator(task, stopped_by(stop, options_));
  }

  Result<std::string> describe_plan(const Task& task, const Source& source) const override {
    if (const Status ok = check(); !ok) return ok.error();
    return describe_cuda_plan(task, source, options_);
  }

  Result<GpuProfile> profile(const Task& task, const Source& source,
                             const std::stop_token& stop) const override {
    if (const Status ok = check(); !ok) return ok.error();
    return profile_cuda(task, source, stopped_by(stop, options_));
  }

  void tell_of_waiting(const TellOfWaiting& tell) override { options_.tell = tell; }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> settings = sandbox_to_reconfirm(options_.unsandboxed);
    if (!options_.toolkit.empty()) settings.push_back("toolkit=" + options_.toolkit.string());
    return settings;
  }

 private:
  /// Refuses an open sandbox or a toolkit that only the run folder names. The reason is that the toolkit's
  /// compiler (asked for its version) and profiler run outside a sandbox.
  Status check() const {
    if (options_.unsandboxed && is_only_stored("sandbox")) return sandbox_not_said_again();
    if (options_.toolkit.empty() || !is_only_stored("toolkit")) return {};
    const std::string toolkit = options_.toolkit.string();
    return fail(ErrorCode::invalid_argument,
                "this run names a toolkit, whose tools would run with all your rights: " + toolkit,
                "evaluator.toolkit", "if you trust it, say so: --set evaluator.toolkit=" + toolkit);
  }

  void list(Section& io) override {
    io("toolkit", options_.toolkit, "the folder of the toolkit");
    io.by_default("the environment's, else where its compiler is");
    io("arch", options_.arch, "what is compiled for");
    io.by_default("the GPU's");
    io("flags", options_.flags, "flags in place of the usual ones; the task's `flags` come after");
    list_devices(io, options_.devices);
    list_sandbox(io, options_.unsandboxed);
    list_mib(io, "bank_mib", options_.bank_bytes, "host memory for inputs and expected outputs");
    list_mib(io, "buffer_mib", options_.buffer_bytes,
             "device memory for a batch's tensors; less means fewer calls in it");
    io("inspect", options_.inspect,
       "whether `compute-sanitizer` and `ncu`, if they are installed, inspect would-be bests (step 10)");
  }

  CudaOptions options_;
};

}  // namespace

BackendRegistration cuda_backend() {
  return {describe_cuda_backend(), [] { return std::make_unique<CudaProvider>(cuda::nvidia()); }};
}

BackendRegistration maca_backend() {
  return {cuda::describe_backend(cuda::maca()), [] { return std::make_unique<CudaProvider>(cuda::maca()); }};
}

BackendRegistration hip_backend() {
  return {cuda::describe_backend(cuda::hip()), [] { return std::make_unique<CudaProvider>(cuda::hip()); }};
}

}  // namespace kernelsmith
