// The registration of the backend `torch`, with its settings in run.yaml.
#include <memory>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/provider_settings.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_registration.hpp>

namespace kernelsmith {
namespace {

/// Whether `arch` may name another maker's GPU. The planner knows which of these it supports.
bool is_other_makers(const std::string& arch) { return arch.starts_with("gfx") || arch.starts_with("xcore"); }

class TorchProvider final : public EvaluatorProvider {
 public:
  /// `supply` becomes TorchOptions::supply.
  explicit TorchProvider(std::shared_ptr<torch::WorkerSupply> supply = nullptr) {
    options_.supply = std::move(supply);
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

  void require_measuring() override { options_.must_measure = true; }

  void tell_of_waiting(const TellOfWaiting& tell) override { options_.tell = tell; }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> settings = sandbox_to_reconfirm(options_.unsandboxed);
    if (!options_.python.empty()) settings.push_back("python=" + options_.python.string());
    return settings;
  }

 private:
  /// Refuses settings that come only from a run folder.
  Status check() const {
    if (options_.unsandboxed && is_only_stored("sandbox")) return sandbox_not_said_again();
    if (options_.python.empty() || !is_only_stored("python")) return {};
    return python_not_said_again(options_.python.string());
  }

  void list(Section& io) override {
    io("python", options_.python, "a Python with PyTorch and Triton; tried are 2.11 and 2.13 with 3.6");
    io.by_default("`$KERNELSMITH_TORCH_PYTHON`, else `python3`");
    io("arch", options_.arch, "another maker's GPU to plan for, such as `gfx942`");
    io.by_default("the GPU's");
    if (!options_.arch.empty() && !is_other_makers(options_.arch))
      io.refuse(
          "arch",
          "'" + options_.arch +
              "' is not a GPU of AMD's or MetaX's; plans for NVIDIA's GPUs are made for the one that is here",
          "evaluator: {arch: gfx942}");
    list_devices(io, options_.devices);
    list_sandbox(io, options_.unsandboxed);
    list_mib(io, "bank_mib", options_.bank_bytes, "device memory for the truth of inputs that come again");
  }

  TorchOptions options_;
};

/// Makes a provider whose evaluators share planners and the process that workers are forked from.
MakeEvaluatorProvider make_sharing() {
  return [supply = make_torch_worker_supply()] { return std::make_unique<TorchProvider>(supply); };
}

}  // namespace

BackendRegistration torch_backend() {
  return {describe_torch_backend(), [] { return std::make_unique<TorchProvider>(); }, make_sharing};
}

}  // namespace kernelsmith
