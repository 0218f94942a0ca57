// An agent as a proposer. An agent is a command that gets a workspace and tools, has programs evaluated while
// it works, and submits one of them at the end.
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

/// An agent: its command, what it may see, and its limits for one request. A value.
struct AgentOptions {
  std::vector<std::string> command;  ///< the program (looked up in PATH if it has no slash) and its arguments
  std::string name;                  ///< the name in the accounts of costs; if empty, the command's name
  double time_s = 1200;              ///< after this time the agent and all its processes are killed
  std::uint64_t evaluations = 20;    ///< the number of evaluations that it may ask for before it answers
  std::optional<double> usd;         ///< the agent is killed if it reports a higher cost
  unsigned parallel = 1;             ///< agents that run at the same time; other requests wait
  bool network = false;              ///< the agent may use the whole network of the host
  std::map<std::string, std::string> environment;  ///< variables in addition to the sandbox's few
  std::vector<std::filesystem::path> read_only;    ///< paths that the agent can read besides the toolchain;
                                                   ///< need not exist
  std::uint64_t memory_bytes = 8ULL << 30;  ///< limit for all its processes together, if the machine can set
                                            ///< one
  std::uint64_t transcript_bytes = 256ULL << 10;  ///< the journal keeps this much of the end of its output
};

/// Makes a Proposer that runs the agent once for each request, each time in a new sandbox. The agent's
/// evaluations go through ProposalRequest::attempt. The agent is killed on a stop request or when its budget
/// is used up; then its best program so far is the answer. Errors: `invalid_argument` without a command,
/// `not_found`.
Result<std::shared_ptr<Proposer>> make_agent_proposer(PromptBuilder prompts, const Task& task,
                                                      AgentOptions options);

}  // namespace kernelsmith
