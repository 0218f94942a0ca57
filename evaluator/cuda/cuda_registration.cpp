// The backends of GPUs as a registry takes them, with their settings in run.yaml.
#include <memory>
#include <utility>

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

  void read(YamlMap& in) override {
    std::string toolkit = options_.toolkit.string();
    in.optional("toolkit", toolkit);
    if (in.kind("toolkit") != YamlKind::absent) stored_toolkit_ = false;
    in.optional("arch", options_.arch);
    in.optional("flags", options_.flags);
    read_devices(in, options_.devices);
    sandbox_.read(in, options_.unsandboxed);
    read_mib(in, "bank_mib", options_.bank_bytes);
    read_mib(in, "buffer_mib", options_.buffer_bytes);
    in.optional("inspect", options_.inspect);
    options_.toolkit = toolkit;
  }

  void write(YamlWriter& out) const override {
    out.put("toolkit", options_.toolkit.string());
    out.put("arch", options_.arch);
    out.put("flags", options_.flags);
    write_devices(out, options_.devices);
    SandboxSetting::write(out, options_.unsandboxed);
    write_mib(out, "bank_mib", options_.bank_bytes);
    write_mib(out, "buffer_mib", options_.buffer_bytes);
    out.put("inspect", options_.inspect);
  }

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

  void mark_untrusted() override {
    sandbox_.mark_untrusted();
    stored_toolkit_ = true;
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> settings = SandboxSetting::settings_to_reconfirm(options_.unsandboxed);
    if (!options_.toolkit.empty()) settings.push_back("toolkit=" + options_.toolkit.string());
    return settings;
  }

 private:
  /// Refuses what only a run folder says. A toolkit's compiler is asked for its version outside a sandbox,
  /// and so is its profiler run.
  Status check() const {
    if (const Status ok = sandbox_.check(options_.unsandboxed);
        !ok || !stored_toolkit_ || options_.toolkit.empty())
      return ok;
    const std::string toolkit = options_.toolkit.string();
    return fail(ErrorCode::invalid_argument,
                "this run names a toolkit, whose tools would run with all your rights: " + toolkit,
                "evaluator.toolkit", "if you trust it, say so: --set evaluator.toolkit=" + toolkit);
  }

  CudaOptions options_;
  SandboxSetting sandbox_;
  bool stored_toolkit_ = false;  ///< only a run folder names it: see mark_untrusted()
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
