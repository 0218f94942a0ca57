// The backends that run.yaml can configure.
#include <kernelsmith/evaluator_command/command_evaluator.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// "none" must be asked for by name: candidates then run with the user's own rights.
const Choices<bool> kUnsandboxed = {{"required", false}, {"none", true}};

std::string_view word_of(bool unsandboxed) { return kUnsandboxed[unsandboxed ? 1 : 0].first; }

class CpuProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    std::size_t bank_mib = options_.bank_bytes / kMiB;
    in.optional("compiler", options_.compiler);
    in.optional("flags", options_.flags);
    in.optional("sandbox", options_.unsandboxed, kUnsandboxed);
    in.optional("bank_mib", bank_mib, {1, 1 << 20});
    options_.bank_bytes = bank_mib * kMiB;
  }

  void write(YamlWriter& out) const override {
    out.put("compiler", options_.compiler);
    out.put("flags", options_.flags);
    out.put("sandbox", word_of(options_.unsandboxed));
    out.put("bank_mib", options_.bank_bytes / kMiB);
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task) const override {
    return make_cpu_evaluator(task, options_);
  }

 private:
  CpuOptions options_;
};

class CommandProvider final : public EvaluatorProvider {
 public:
  void read(YamlMap& in) override {
    std::size_t memory_mib = options_.memory_bytes / kMiB;
    in.optional("memory_mib", memory_mib, {1, 1 << 30});
    in.optional("sandbox", options_.unsandboxed, kUnsandboxed);
    options_.memory_bytes = memory_mib * kMiB;
  }

  void write(YamlWriter& out) const override {
    out.put("memory_mib", options_.memory_bytes / kMiB);
    out.put("sandbox", word_of(options_.unsandboxed));
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task) const override {
    return make_command_evaluator(task, options_);
  }

 private:
  CommandOptions options_;
};

}  // namespace

std::unique_ptr<EvaluatorProvider> cpu_evaluator_provider() { return std::make_unique<CpuProvider>(); }

std::unique_ptr<EvaluatorProvider> command_evaluator_provider() {
  return std::make_unique<CommandProvider>();
}

}  // namespace kernelsmith
