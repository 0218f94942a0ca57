// The backends that run.yaml can configure.
#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/session/share_programs.hpp>
#include <kernelsmith/session/tell_of_waiting.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// "none" must be asked for by name: candidates then run with the user's own rights.
const Choices<bool> kUnsandboxed = {{"required", false}, {"none", true}};

/// Whether candidates run without a sandbox, and whether only a run folder says so.
class SandboxSetting {
 public:
  void read(YamlMap& in, bool& unsandboxed) {
    in.optional("sandbox", unsandboxed, kUnsandboxed);
    if (in.kind("sandbox") != YamlKind::absent) stored_ = false;
  }
  static void write(YamlWriter& out, bool unsandboxed) {
    out.put("sandbox", kUnsandboxed[unsandboxed ? 1 : 0].first);
  }
  void mark_untrusted() { stored_ = true; }
  static std::vector<std::string> settings_to_reconfirm(bool unsandboxed) {
    if (!unsandboxed) return {};
    return {"sandbox=none"};
  }
  Status check(bool unsandboxed) const {
    if (!unsandboxed || !stored_) return {};
    return not_said_again();
  }
  static Error not_said_again() {
    return fail(ErrorCode::invalid_argument,
                "this run turns the sandbox off: its programs would run with all your rights",
                "evaluator.sandbox",
                "if you trust every program of that folder, say so: --set evaluator.sandbox=none; with "
                "--set evaluator.sandbox=required it is on");
  }

 private:
  bool stored_ = false;
};

template <class Options>
Options stopped_by(const std::stop_token& stop, Options options) {
  options.stop = stop;
  return options;
}

void read_devices(YamlMap& in, DeviceRange& devices) {
  in.optional("device", devices.first, {0, 1023});
  in.optional("devices", devices.count, {1, 64});
}

void write_devices(YamlWriter& out, const DeviceRange& devices) {
  out.put("device", devices.first);
  out.put("devices", devices.count);
}

Error python_not_said_again(const std::string& python) {
  return fail(ErrorCode::invalid_argument,
              "this run names a Python, which would run with all your rights: " + python, "evaluator.python",
              "if you trust it, say so: --set evaluator.python=" + python);
}

class CpuProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    std::size_t bank_mib = options_.bank_bytes / kMiB;
    in.optional("compiler", options_.compiler);
    in.optional("flags", options_.flags);
    sandbox_.read(in, options_.unsandboxed);
    in.optional("bank_mib", bank_mib, {1, 1 << 20});
    options_.bank_bytes = bank_mib * kMiB;
  }

  void write(YamlWriter& out) const override {
    out.put("compiler", options_.compiler);
    out.put("flags", options_.flags);
    SandboxSetting::write(out, options_.unsandboxed);
    out.put("bank_mib", options_.bank_bytes / kMiB);
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

class CommandProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    std::size_t memory_mib = options_.memory_bytes / kMiB;
    in.optional("memory_mib", memory_mib, {1, 1 << 30});
    sandbox_.read(in, options_.unsandboxed);
    options_.memory_bytes = memory_mib * kMiB;
  }

  void write(YamlWriter& out) const override {
    out.put("memory_mib", options_.memory_bytes / kMiB);
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

class CudaProvider final : public EvaluatorProvider {
 public:
  /// CudaOptions'.
  explicit CudaProvider(std::function<void(const std::string&)> tell = {}) {
    options_.tell = std::move(tell);
  }

  void read(YamlMap& in) override {
    std::string toolkit = options_.toolkit.string();
    std::size_t bank_mib = options_.bank_bytes / kMiB, buffer_mib = options_.buffer_bytes / kMiB;
    in.optional("toolkit", toolkit);
    in.optional("arch", options_.arch);
    in.optional("flags", options_.flags);
    read_devices(in, options_.devices);
    sandbox_.read(in, options_.unsandboxed);
    in.optional("bank_mib", bank_mib, {1, 1 << 20});
    in.optional("buffer_mib", buffer_mib, {1, 1 << 20});
    in.optional("inspect", options_.inspect);
    options_.toolkit = toolkit;
    options_.bank_bytes = bank_mib * kMiB;
    options_.buffer_bytes = buffer_mib * kMiB;
  }

  void write(YamlWriter& out) const override {
    out.put("toolkit", options_.toolkit.string());
    out.put("arch", options_.arch);
    out.put("flags", options_.flags);
    write_devices(out, options_.devices);
    SandboxSetting::write(out, options_.unsandboxed);
    out.put("bank_mib", options_.bank_bytes / kMiB);
    out.put("buffer_mib", options_.buffer_bytes / kMiB);
    out.put("inspect", options_.inspect);
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status ok = sandbox_.check(options_.unsandboxed); !ok) return ok.error();
    return make_cuda_evaluator(task, stopped_by(stop, options_));
  }

  Result<std::string> describe_plan(const Task& task, const Source& source) const override {
    return describe_cuda_plan(task, source, options_);
  }

  void mark_untrusted() override { sandbox_.mark_untrusted(); }

  std::vector<std::string> settings_to_reconfirm() const override {
    return SandboxSetting::settings_to_reconfirm(options_.unsandboxed);
  }

 private:
  CudaOptions options_;
  SandboxSetting sandbox_;
};

class TorchProvider final : public EvaluatorProvider {
 public:
  /// Both are TorchOptions'.
  explicit TorchProvider(std::shared_ptr<torch::WorkerSupply> supply = nullptr,
                         std::function<void(const std::string&)> tell = {}) {
    options_.supply = std::move(supply);
    options_.tell = std::move(tell);
  }

  void read(YamlMap& in) override {
    std::string python = options_.python.string();
    std::size_t bank_mib = options_.bank_bytes / kMiB;
    in.optional("python", python);
    read_devices(in, options_.devices);
    sandbox_.read(in, options_.unsandboxed);
    in.optional("bank_mib", bank_mib, {1, 1 << 20});
    options_.python = python;
    options_.bank_bytes = bank_mib * kMiB;
    if (in.kind("python") != YamlKind::absent) stored_python_ = false;
  }

  void write(YamlWriter& out) const override {
    out.put("python", options_.python.string());
    write_devices(out, options_.devices);
    SandboxSetting::write(out, options_.unsandboxed);
    out.put("bank_mib", options_.bank_bytes / kMiB);
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status ok = sandbox_.check(options_.unsandboxed); !ok) return ok.error();
    if (stored_python_ && !options_.python.empty()) return python_not_said_again(options_.python.string());
    return make_torch_evaluator(task, stopped_by(stop, options_));
  }

  Result<std::string> describe_plan(const Task& task, const Source& source) const override {
    return describe_torch_plan(task, source, options_);
  }

  Result<PlainVerdict> verify(const Task& task, const Source& source,
                              const std::stop_token& stop) const override {
    return verify_in_plain_torch(task, source, stopped_by(stop, options_));
  }

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
  TorchOptions options_;
  SandboxSetting sandbox_;
  bool stored_python_ = false;  ///< only a run folder names it: see mark_untrusted()
};

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
    if (stored_sandbox_ && runs_unsandboxed(task, options_)) return SandboxSetting::not_said_again();
    if (const std::string python = named_python(task, options_); stored_python_ && !python.empty())
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

using MakeProvider = std::function<std::unique_ptr<EvaluatorProvider>()>;

MakeProvider telling(MakeProvider make, const std::function<void(const std::string&)>& tell) {
  return [make = std::move(make), tell] {
    auto provider = make();
    tell_of_server(*provider, tell);
    return provider;
  };
}

}  // namespace

Result<std::string> EvaluatorProvider::describe_plan(const Task& task, const Source&) const {
  return fail(ErrorCode::unsupported, "candidates of the backend '" + task.backend + "' are not planned", {},
              "kernelsmith evaluate measures them");
}

Result<PlainVerdict> EvaluatorProvider::verify(const Task& task, const Source&,
                                               const std::stop_token&) const {
  return fail(ErrorCode::unsupported,
              "candidates of the backend '" + task.backend + "' are no programs that run without kernelsmith",
              {}, "kernelsmith evaluate measures them; verify is for torch");
}

std::unique_ptr<EvaluatorProvider> python_evaluator_provider() { return std::make_unique<PythonProvider>(); }

std::unique_ptr<EvaluatorProvider> torch_evaluator_provider() { return std::make_unique<TorchProvider>(); }

void tell_of_waiting(Registry& registry, const std::function<void(const std::string&)>& tell) {
  registry.evaluators["torch"] = [tell] {
    return with_fleet(std::make_unique<TorchProvider>(nullptr, tell));
  };
  registry.evaluators["cuda"] = [tell] { return with_fleet(std::make_unique<CudaProvider>(tell)); };
  for (auto& [name, make] : registry.evaluators) make = telling(std::move(make), tell);
}

void share_programs(Registry& registry, const std::function<void(const std::string&)>& tell) {
  tell_of_waiting(registry, tell);
  registry.evaluators["torch"] =
      telling([supply = make_torch_worker_supply(),
               tell] { return with_fleet(std::make_unique<TorchProvider>(supply, tell)); },
              tell);
}

std::unique_ptr<EvaluatorProvider> cuda_evaluator_provider() { return std::make_unique<CudaProvider>(); }

std::unique_ptr<EvaluatorProvider> cpu_evaluator_provider() { return std::make_unique<CpuProvider>(); }

std::unique_ptr<EvaluatorProvider> command_evaluator_provider() {
  return std::make_unique<CommandProvider>();
}

}  // namespace kernelsmith
