// One agent at work on one request: from its start to its end, with everything that it asks for meanwhile.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include <kernelsmith/agent/agent_proposer.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/sandbox/process.hpp>

#include "asks.hpp"
#include "workspace.hpp"

namespace kernelsmith::agent {

/// Lives on one thread; what is tried is answered on others.
class Sitting {
 public:
  Sitting(const PromptBuilder& prompts, const AgentOptions& options, ProposalRequest request);

  /// Runs the agent and returns its answer. When it returns nothing of the agent is left. Errors:
  /// Workspace::lay's and SandboxedProcess::start's; `cancelled` if it was stopped with nothing in hand;
  /// `tool_failed` as a PaidError if the agent ended with an error before it asked for anything.
  Result<Proposal> run(const std::stop_token& stop);

 private:
  /// Where results of trials arrive, from any thread; shared with the callbacks.
  struct Arrived {
    struct One {
      std::uint64_t ask = 0;
      bool careful = false;            ///< a confirmation is wanted
      std::optional<Tried> confirmed;  ///< the first result, if this is the confirmation's
      Result<Tried> tried;
    };
    Mutex mutex;
    std::vector<One> results KERNELSMITH_GUARDED_BY(mutex);
  };

  SandboxSpec sandbox() const;
  std::string budget_text() const;

  /// Takes every ask that is there, and every result that has arrived.
  Status attend();
  Status take(std::uint64_t number, const Result<Ask>& ask);
  Status take(std::uint64_t number, const AskEvaluate& ask);
  Status take(std::uint64_t number, const AskConfirm& ask);
  Status take(std::uint64_t number, const AskSubmit& ask);
  Status take(std::uint64_t number, const AskReport& ask);
  Status take(std::uint64_t number, const AskBudget& ask);
  Status answer_arrived();
  void attempt(std::uint64_t number, Trial trial, bool careful, std::optional<Tried> confirmed);
  std::optional<Error> refusal_of_attempt() const;
  std::optional<Error> refusal_of_files(const Source& source) const;
  bool is_spent() const { return options_.usd && cost_.usd > *options_.usd; }

  Result<Proposal> conclude(const SandboxResult& end, bool stopped);
  std::optional<Source> answer() const;
  const Source* source_of(ProgramId program) const;

  const PromptBuilder& prompts_;
  const AgentOptions& options_;
  const ProposalRequest request_;
  std::optional<Workspace> workspace_;
  std::shared_ptr<Arrived> arrived_ = std::make_shared<Arrived>();
  std::vector<IndividualPtr> tried_;
  std::uint64_t next_ask_ = 1, evaluations_ = 0;
  std::size_t under_way_ = 0;
  std::optional<Source> submitted_;
  Cost cost_;
};

}  // namespace kernelsmith::agent
