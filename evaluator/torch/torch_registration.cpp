// The backend `torch` as a registry takes it, with its settings in run.yaml.
#include <memory>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/provider_settings.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_registration.hpp>

namespace kernelsmith {
namespace {

/// Which of them can be planned for, the planner knows.
bool is_other_makers(const std::string& arch) { return arch.starts_with("gfx") || arch.starts_with("xcore"); }

class TorchProvider final : public EvaluatorProvider {
 public:
  /// `supply` is TorchOptions'.
  explicit TorchProvider(std::shared_ptr<torch::WorkerSupply> supply = nullptr) {
    options_.supply = std::move(supply);
  }

  void read(YamlMap& in) override {
    std::string python = options_.python.string();
    in.optional("python", python);
    in.optional("arch", options_.arch);
    if (!options_.arch.empty() && !is_other_makers(options_.arch))
      in.refuse(
          "arch",
          "'" + options_.arch + "' is no GPU of AMD's or MetaX's; NVIDIA's are planned for as they are here",
          "evaluator: {arch: gfx942}");
    read_devices(in, options_.devices);
    sandbox_.read(in, options_.unsandboxed);
    read_mib(in, "bank_mib", options_.bank_bytes);
    options_.python = python;
    if (in.kind("python") != YamlKind::absent) stored_python_ = false;
  }

  void write(YamlWriter& out) const override {
    out.put("python", options_.python.string());
    out.put("arch", options_.arch);
    write_devices(out, options_.devices);
    SandboxSetting::write(out, options_.unsandboxed);
    write_mib(out, "bank_mib", options_.bank_bytes);
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status ok = check(); !ok) return ok.error();
    return make_torch_evaluator(task, stopped_by(stop, options_));
  }

  Result<std::string> describe_plan(const Task& task, const Source& source) const override {
    if (const Status ok = check(); !ok) return ok.error();
    return describe_torch_plan(task, source, options_);
  }

  Result<PlainVerdict> verify(const Task& task, const Source& source,
                              const std::stop_token& stop) const override {
    if (const Status ok = check(); !ok) return ok.error();
    return verify_in_plain_torch(task, source, stopped_by(stop, options_));
  }

  void tell_of_waiting(const TellOfWaiting& tell) override { options_.tell = tell; }

  void mark_untrusted() override {
    sandbox_.mark_untrusted();
    stored_python_ = true;
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> settings = SandboxSetting::settings_to_reconfirm(options_.unsandboxed);
    if (!options_.python.empty()) settings.push_back("python=" + options_.python.string());
    return settings;
  }

 private:
  /// Refuses what only a run folder says.
  Status check() const {
    if (const Status ok = sandbox_.check(options_.unsandboxed); !ok) return ok;
    if (stored_python_ && !options_.python.empty()) return python_not_said_again(options_.python.string());
    return {};
  }

  TorchOptions options_;
  SandboxSetting sandbox_;
  bool stored_python_ = false;  ///< only a run folder names it: see mark_untrusted()
};

/// Costs two more idle processes on the GPU.
MakeEvaluatorProvider make_sharing() {
  return [supply = make_torch_worker_supply()] { return std::make_unique<TorchProvider>(supply); };
}

}  // namespace

BackendRegistration torch_backend() {
  return {describe_torch_backend(), [] { return std::make_unique<TorchProvider>(); }, make_sharing};
}

}  // namespace kernelsmith
