// The backend `command` as a registry takes it, with its settings in run.yaml.
#include <memory>
#include <utility>

#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/command/command_registration.hpp>
#include <kernelsmith/evaluator/provider_settings.hpp>

namespace kernelsmith {
namespace {

class CommandProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    read_mib(in, "memory_mib", options_.memory_bytes);
    sandbox_.read(in, options_.unsandboxed);
  }

  void write(YamlWriter& out) const override {
    write_mib(out, "memory_mib", options_.memory_bytes);
    SandboxSetting::write(out, options_.unsandboxed);
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status ok = sandbox_.check(options_.unsandboxed); !ok) return ok.error();
    return make_command_evaluator(task, stopped_by(stop, options_));
  }

  void mark_untrusted() override { sandbox_.mark_untrusted(); }

  std::vector<std::string> settings_to_reconfirm() const override {
    return SandboxSetting::settings_to_reconfirm(options_.unsandboxed);
  }

 private:
  CommandOptions options_;
  SandboxSetting sandbox_;
};

}  // namespace

BackendRegistration command_backend() {
  return {describe_command_backend(), [] { return std::make_unique<CommandProvider>(); }};
}

}  // namespace kernelsmith
