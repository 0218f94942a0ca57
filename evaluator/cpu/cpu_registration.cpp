// The backend `cpu` as a registry takes it, with its settings in run.yaml.
#include <memory>
#include <utility>

#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/cpu/cpu_registration.hpp>
#include <kernelsmith/evaluator/provider_settings.hpp>

namespace kernelsmith {
namespace {

class CpuProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("compiler", options_.compiler);
    in.optional("flags", options_.flags);
    sandbox_.read(in, options_.unsandboxed);
    read_mib(in, "bank_mib", options_.bank_bytes);
  }

  void write(YamlWriter& out) const override {
    out.put("compiler", options_.compiler);
    out.put("flags", options_.flags);
    SandboxSetting::write(out, options_.unsandboxed);
    write_mib(out, "bank_mib", options_.bank_bytes);
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status ok = sandbox_.check(options_.unsandboxed); !ok) return ok.error();
    return make_cpu_evaluator(task, stopped_by(stop, options_));
  }

  void mark_untrusted() override { sandbox_.mark_untrusted(); }

  std::vector<std::string> settings_to_reconfirm() const override {
    return SandboxSetting::settings_to_reconfirm(options_.unsandboxed);
  }

 private:
  CpuOptions options_;
  SandboxSetting sandbox_;
};

}  // namespace

BackendRegistration cpu_backend() {
  return {describe_cpu_backend(), [] { return std::make_unique<CpuProvider>(); }};
}

}  // namespace kernelsmith
