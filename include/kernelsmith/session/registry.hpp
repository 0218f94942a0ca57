// Registries of the names in run.yaml: evaluators, proposers, samplers and migrations. They are values, not
// globals: the code that builds a session passes them in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/config/provider.hpp>
#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/engine/arms.hpp>
#include <kernelsmith/engine/follow.hpp>
#include <kernelsmith/evaluator/evaluator_provider.hpp>
#include <kernelsmith/islands/migration.hpp>
#include <kernelsmith/islands/sampler.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// A stored run that a session repeats before it uses its proposer.
struct RecordedRun {
  std::filesystem::path folder;
  RecordedEvaluations evaluations = RecordedEvaluations::measured;
  bool live = false;  ///< after the recording, or when the search departs from it, the run's own proposer is
                      ///< used
};

/// One check of a dry run.
struct DryCheck {
  enum class Verdict { ok, failed, unknown };

  std::string name;  ///< such as "key"
  Verdict verdict = Verdict::ok;
  std::string detail;          ///< the finding, or why nothing can be known without cost
  std::optional<Error> error;  ///< for `failed`
};

/// The terms of calls to a model, or of requests to an agent.
struct CallTerms {
  std::string model;
  bool is_agent = false;                        ///< it is an agent: no tokens are counted in advance, and it
                                                ///< reports its own cost
  std::optional<double> agent_usd;              ///< the most that a request to an agent may cost
  std::optional<double> input_usd, output_usd;  ///< price of one token; empty if unknown
  std::uint64_t most_prompt_tokens = 0;         ///< 0 is no limit
  std::optional<std::uint64_t> most_reply_tokens;  ///< empty if the server decides
};

/// A proposer's estimate before any paid call.
struct ProposerExam {
  std::vector<DryCheck> checks;
  std::vector<CallTerms> calls;  ///< one for each model, in order; empty for a proposer without models
  PromptOptions prompts;
};

/// The call that a request would lead to.
struct PlannedCall {
  Digest prompt;
  /// The highest possible cost if the reply's length is bounded; else the cost of a reply as long as the
  /// parent. Empty without a price.
  std::optional<double> usd;
};

/// Plans without calling; empty if a request leads to no call. Pure; thread-safe.
using CallPlanner = std::function<std::optional<PlannedCall>(const ProposalRequest&)>;

class ChatModel;

/// A session's information for its proposer.
struct ProposerContext {
  std::string place = "proposer";      ///< the place of its settings in run.yaml, for errors
  BackendDescription backend;          ///< the task's, for its prompts
  std::vector<PromptNote> notes;       ///< findings of earlier runs, for its prompts
  std::shared_ptr<Observer> observer;  ///< gets notices, such as a server's pause; may be null
};

/// Properties of a proposer that follow from its settings.
struct ProposerTraits {
  /// The operators that a run uses with this proposer by default. Operators without a model use the first
  /// model.
  std::vector<OperatorChoice> operators;
  /// The names of its models, or of its agent, for operators to choose from. If empty, it has none and cannot
  /// be part of a mix.
  std::vector<std::string> models = {};
  /// The most proposals under way at once. If empty, there may be as many as evaluations.
  std::optional<unsigned> in_flight = {};
  /// The recording to follow first (Engine::follow), if any.
  std::optional<RecordedRun> recorded = {};
  /// What can continue its run: `mcp` or `agent` of `python -m kernelsmith`, or `program` for a Python
  /// program. If empty, `kernelsmith resume` can.
  std::string driver = {};
};

/// What this machine's files and environment say about a model or agent of a proposer.
struct AskedModel {
  std::string name;                      ///< one of ProposerTraits::models, or empty
  std::optional<PromptOptions> prompts;  ///< options of its prompts; empty if it gets no prompts
  bool may_be_given_up = false;  ///< the run does not wait for it beyond its wall time, because it is free
  bool is_free = false;          ///< every call is free
  std::optional<Error> unpriced = {};  ///< why a budget of money would not hold or would never end the run
};

/// The models or agents of a proposer.
struct ProposerOutlook {
  std::vector<AskedModel> models;
  /// The server and the secret that it gets, in words. If empty, only this machine's files are used.
  std::string destination = {};

  /// Finds a model by name, or the first one if the name is empty. Null if it does not exist.
  const AskedModel* find(const std::string& model) const;
  /// Options of prompts for a model. An empty name stands for the first model that gets prompts.
  std::optional<PromptOptions> prompts(const std::string& model) const;
  /// Refuses if a budget of money would not hold or would never end the run. A free model may be combined
  /// with a paid one.
  Status check_prices() const;
};

/// Makes a proposer, which serves some of the operators.
class ProposerProvider : public Provider<Proposer> {
 public:
  ProposerContext context;

  virtual ProposerTraits traits() const = 0;

  /// The models that it asks. Reads files. Default: none.
  virtual ProposerOutlook outlook() const { return {}; }

  /// Returns null for a proposer that sends no prompts.
  virtual Result<CallPlanner> planner(const Task&) const { return CallPlanner(); }

  /// Runs all checks that need no paid call. May take seconds. Default: that make() succeeds.
  virtual ProposerExam examine(const Task& task, const std::stop_token& stop) const;

  /// The model that it asks, for callers that keep their own conversations (kernelsmith/llm/chat_model.hpp).
  /// Default: `invalid_argument`, because it asks no model.
  virtual Result<std::shared_ptr<ChatModel>> chat_model() const;
};

using SamplerProvider = Provider<const Sampler>;
using MigrationProvider = Provider<const Migration>;

/// All parts that a run can be built from. A value: to have kinds of your own, add them to
/// default_registry(). An evaluator without a description in `backends` is for tasks that are not in a file.
struct Registry {
  Backends backends;                    ///< backends that tasks can name
  Kinds<EvaluatorProvider> evaluators;  ///< evaluators by the backends' names
  /// BackendRegistration::make_sharing of those backends that have one, for share_programs().
  std::map<std::string, std::function<MakeEvaluatorProvider()>> sharing_evaluators;
  Kinds<ProposerProvider> proposers;
  Kinds<SamplerProvider> samplers;
  Kinds<MigrationProvider> migrations;
};

/// Adds a backend: tasks can name it, run.yaml can set its evaluator, and the section `evaluator.fleet` sends
/// its jobs to other machines. A backend with the same name is replaced.
void add_backend(Registry& registry, BackendRegistration backend);

/// The registry of this build: evaluators `cpu`, `cuda`, `torch`, `command` and `python`; proposers `tuner`,
/// `agent`, `chat`, `mix` (of those two), `manual`, `recording` and `python` (its make() is `unsupported`,
/// because only the program that began such a run has the proposer); samplers `tree` and `mixture`;
/// migrations `best` and `weighted`.
Registry default_registry();

}  // namespace kernelsmith
