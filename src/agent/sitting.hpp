// Runs one agent for one request, and serves its asks.
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

/// Used by one thread; trials are answered on others.
class Sitting {
 public:
  Sitting(const PromptBuilder& prompts, const AgentOptions& options, ProposalRequest request);

  /// Runs the agent and returns its answer. When it returns, all of the agent's processes have ended. Errors:
  /// those of Workspace::lay() and SandboxedProcess::start(); `cancelled` if it was stopped without an
  /// answer; `tool_failed` as a PaidError if the agent ended with an error before it asked for anything.
  Result<Proposal> run(const std::stop_token& stop);

 private:
  /// The mailbox for results of trials from any thread; shared with the callbacks.
  struct Arrived {
    struct One {
      std::uint64_t ask = 0;
      bool careful = false;            ///< a confirmation was requested
      std::optional<Tried> confirmed;  ///< the first result, if this is the confirmation's
      Result<Tried> tried;
    };
    Mutex mutex;
    std::vector<One> results KERNELSMITH_GUARDED_BY(mutex);
  };

  SandboxSpec sandbox() const;
  std::string budget_text() const;

  /// Processes all present asks and arrived results.
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
