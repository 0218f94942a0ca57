// The registration of the backend `cpu`, with its settings in run.yaml.
#include <memory>

#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/cpu/cpu_registration.hpp>
#include <kernelsmith/evaluator/provider_settings.hpp>

namespace kernelsmith {
namespace {

class CpuProvider final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (options_.unsandboxed && is_only_stored("sandbox")) return sandbox_not_said_again();
    return make_cpu_evaluator(task, stopped_by(stop, options_));
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    return sandbox_to_reconfirm(options_.unsandboxed);
  }

 private:
  void list(Section& io) override {
    io("compiler", options_.compiler, "a C++20 compiler that takes GCC's options");
    io("flags", options_.flags, "flags of every compilation; the task's `flags` come after");
    list_sandbox(io, options_.unsandboxed);
    list_mib(io, "bank_mib", options_.bank_bytes, "memory for inputs and expected outputs");
  }

  CpuOptions options_;
};

}  // namespace

BackendRegistration cpu_backend() {
  return {describe_cpu_backend(), [] { return std::make_unique<CpuProvider>(); }};
}

}  // namespace kernelsmith
