// The backend `python` as a registry takes it, with its settings in run.yaml.
#include <memory>
#include <utility>

#include <kernelsmith/evaluator/provider_settings.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/python/python_registration.hpp>

namespace kernelsmith {
namespace {

const Choices<PythonSandbox> kPythonSandbox = {
    {"task", PythonSandbox::as_task}, {"required", PythonSandbox::required}, {"none", PythonSandbox::none}};

class PythonProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    std::uint64_t parallel = options_.runs_at_a_time, processes = options_.processes;
    in.optional("python", options_.python);
    in.optional("parallel", parallel, {0, 1024});
    in.optional("sandbox", options_.sandbox, kPythonSandbox);
    in.optional("processes", processes, {1, 1 << 16});
    options_.runs_at_a_time = static_cast<unsigned>(parallel);
    options_.processes = static_cast<unsigned>(processes);
    if (in.kind("sandbox") != YamlKind::absent) stored_sandbox_ = false;
    if (in.kind("python") != YamlKind::absent) stored_python_ = false;
  }

  void write(YamlWriter& out) const override {
    out.put("python", options_.python);
    out.put("parallel", std::uint64_t{options_.runs_at_a_time});
    out.put("sandbox", kPythonSandbox[static_cast<std::size_t>(options_.sandbox)].first);
    out.put("processes", std::uint64_t{options_.processes});
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    const auto settings = python_settings(task);
    if (!settings) return settings.error();
    if (stored_sandbox_ && runs_unsandboxed(*settings, options_)) return SandboxSetting::not_said_again();
    if (const std::string python = named_python(*settings, options_); stored_python_ && !python.empty())
      return python_not_said_again(python);
    return make_python_evaluator(task, stopped_by(stop, options_));
  }

  void mark_untrusted() override { stored_sandbox_ = stored_python_ = true; }

  std::vector<std::string> settings_to_reconfirm() const override {
    auto settings = SandboxSetting::settings_to_reconfirm(options_.sandbox == PythonSandbox::none);
    if (!options_.python.empty()) settings.push_back("python=" + options_.python);
    return settings;
  }

 private:
  PythonOptions options_;
  /// Only a run folder, or the task in it, says so: see mark_untrusted().
  bool stored_sandbox_ = false, stored_python_ = false;
};

}  // namespace

BackendRegistration python_backend() {
  return {describe_python_backend(), [] { return std::make_unique<PythonProvider>(); }};
}

}  // namespace kernelsmith
