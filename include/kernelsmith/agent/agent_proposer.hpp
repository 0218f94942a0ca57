// An agent as a proposer: a command that is given a workspace and tools, has programs evaluated as it goes,
// and ends with the one that it submits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// What an agent is, what it may see and what it may use up for one request. A value.
struct AgentOptions {
  std::vector<std::string> command;  ///< the program, looked up in PATH if it has no slash, and its arguments
  std::string name;                  ///< what its cost is counted under; empty: the command's name
  double time_s = 1200;              ///< from its start; then it is killed with everything that it started
  std::uint64_t evaluations = 20;    ///< that it may ask for before it answers
  std::optional<double> usd;         ///< beyond what it reports it is killed
  unsigned parallel = 1;             ///< agents at a time; other requests wait
  bool network = false;              ///< the host's, whole
  std::map<std::string, std::string> environment;  ///< beside a short one of the sandbox's
  std::vector<std::filesystem::path> read_only;    ///< of the host, beside the toolchain, where it has them
  std::uint64_t memory_bytes = 8ULL << 30;         ///< of all its processes, where that can be limited
  std::uint64_t transcript_bytes = 256ULL << 10;   ///< of what it prints, the tail is kept in the journal
};

/// A Proposer whose every request is one run of the agent in a sandbox of its own. What it has evaluated goes
/// through ProposalRequest::attempt. On a stop request the agent is killed; then, as when its budget is used
/// up, the best of what it tried is the answer. Errors: `invalid_argument` without a command, `not_found`.
Result<std::shared_ptr<Proposer>> make_agent_proposer(PromptBuilder prompts, const Task& task,
                                                      AgentOptions options);

}  // namespace kernelsmith
