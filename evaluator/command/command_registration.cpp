// The registration of the backend `command`, with its settings in run.yaml.
#include <memory>

#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/command/command_registration.hpp>
#include <kernelsmith/evaluator/provider_settings.hpp>

namespace kernelsmith {
namespace {

class CommandProvider final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (options_.unsandboxed && is_only_stored("sandbox")) return sandbox_not_said_again();
    return make_command_evaluator(task, stopped_by(stop, options_));
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    return sandbox_to_reconfirm(options_.unsandboxed);
  }

 private:
  void list(Section& io) override {
    list_mib(io, "memory_mib", options_.memory_bytes, "memory of the command and what it starts");
    list_sandbox(io, options_.unsandboxed);
  }

  CommandOptions options_;
};

}  // namespace

BackendRegistration command_backend() {
  return {describe_command_backend(), [] { return std::make_unique<CommandProvider>(); }};
}

}  // namespace kernelsmith
