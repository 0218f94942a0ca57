// The proposer `python` of run.yaml: an object of a Python program, or the client of a command. Such a run
// can be read without that object; the provider says which program or command can continue it.
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
                          : "this run's proposer is the client of kernelsmith " + by_ + ", which began it",
              task.name, "continue it with: " + goes_on(traits(), "RUN"));
}

std::unique_ptr<ProposerProvider> program_provider() { return std::make_unique<ProgramProposer>(); }

}  // namespace kernelsmith
