// The registration of the backend `python`, with its settings in run.yaml.
#include <memory>

#include <kernelsmith/evaluator/provider_settings.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/python/python_registration.hpp>

namespace kernelsmith {
namespace {

const Choices<PythonSandbox> kPythonSandbox = {
    {"task", PythonSandbox::as_task}, {"required", PythonSandbox::required}, {"none", PythonSandbox::none}};

class PythonProvider final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    const auto settings = python_settings(task);
    if (!settings) return settings.error();
    if (is_only_stored("sandbox") && runs_unsandboxed(*settings, options_)) return sandbox_not_said_again();
    const std::string python = named_python(*settings, options_);
    if (is_only_stored("python") && !python.empty()) return python_not_said_again(python);
    return make_python_evaluator(task, stopped_by(stop, options_));
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    auto settings = sandbox_to_reconfirm(options_.sandbox == PythonSandbox::none);
    if (!options_.python.empty()) settings.push_back("python=" + options_.python);
    return settings;
  }

 private:
  void list(Section& io) override {
    io("python", options_.python, "the Python that runs evaluators");
    io.by_default("the task's, else `python3`");
    io("parallel", options_.runs_at_a_time, {0, 1024}, "evaluations at a time; 0: one for each core");
    io("sandbox", options_.sandbox, kPythonSandbox,
       "whether evaluators run in one; `task`: as task.yaml says");
    io("processes", options_.processes, {1, 1 << 16}, "processes that one evaluation may have at a time");
  }

  PythonOptions options_;
};

}  // namespace

BackendRegistration python_backend() {
  return {describe_python_backend(), [] { return std::make_unique<PythonProvider>(); }};
}

}  // namespace kernelsmith
