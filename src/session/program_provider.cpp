// The proposer `python` of run.yaml. What only reads such a run needs no object of the program's, and learns
// what goes on with it.
#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/session/program_proposer.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

constexpr const char *kMcp = "mcp", *kAgent = "agent";

}  // namespace

/// Who goes on with a run takes the place of who began it.
void ProgramProposer::read(YamlMap& in) {
  std::string by;
  in.optional("by", by);
  if (!by.empty() && by != kMcp && by != kAgent) in.refuse("by", "by is mcp or agent");
  if (by_.empty()) by_ = by;
}

void ProgramProposer::write(YamlWriter& out) const {
  if (!by_.empty()) out.put("by", by_);
}

Result<std::shared_ptr<Proposer>> ProgramProposer::make(const Task& task, const std::stop_token&) const {
  return fail(ErrorCode::unsupported,
              by_.empty() ? "this run's proposer is an object of the Python program that began it"
                          : "this run's proposer is somebody outside: kernelsmith " + by_ + " began it",
              task.name, "what goes on with it: " + goes_on("RUN", false));
}

std::string ProgramProposer::goes_on(const std::string& run, bool to_the_end) const {
  const std::string word = shell_word(run);
  if (by_.empty()) return "in Python, kernelsmith.run('" + run + "/task', proposer=..., out='" + run + "')";
  if (to_the_end) return "python -m kernelsmith mcp " + word + " --finish";
  return "python -m kernelsmith " + by_ + " " + word + (by_ == kAgent ? " --model NAME" : "");
}

std::unique_ptr<ProposerProvider> program_provider() { return std::make_unique<ProgramProposer>(); }

}  // namespace kernelsmith
