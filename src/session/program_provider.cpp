// The proposer `python` of run.yaml. Reading such a run needs no object of the program, and shows what can
// continue it.
#include <kernelsmith/session/program_proposer.hpp>
#include <kernelsmith/session/run_config.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

const Choices<std::string> kDrivers = {{"mcp", "mcp"}, {"agent", "agent"}};

}  // namespace

/// The program that continues a run replaces the one that began it.
void ProgramProposer::list(Section& io) {
  std::string by = by_;
  if (io.writes() && by.empty()) return;
  io("by", by, kDrivers, "the command whose client proposes");
  io.by_default("a Python program");
  if (by_.empty()) by_ = by;
}

ProposerTraits ProgramProposer::traits() const {
  return {.operators = {{Operator::rewrite, ""}}, .driver = by_.empty() ? "program" : by_};
}

Result<std::shared_ptr<Proposer>> ProgramProposer::make(const Task& task, const std::stop_token&) const {
  return fail(ErrorCode::unsupported,
              by_.empty() ? "this run's proposer is an object of the Python program that began it"
                          : "this run's proposer is somebody outside: kernelsmith " + by_ + " began it",
              task.name, "what goes on with it: " + goes_on(traits(), "RUN"));
}

std::unique_ptr<ProposerProvider> program_provider() { return std::make_unique<ProgramProposer>(); }

}  // namespace kernelsmith
