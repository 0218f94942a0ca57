// Registries of what run.yaml can name: evaluators, proposers, samplers and migrations. They are values,
// passed in by whoever builds a session; none is global.
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

/// A stored run that a session repeats before it asks its proposer.
struct RecordedRun {
  std::filesystem::path folder;
  RecordedEvaluations evaluations = RecordedEvaluations::measured;
  bool live =
      false;  ///< behind the recording, or where the search leaves it, the run's own proposer is asked
};

/// One thing that a dry run looked at.
struct DryCheck {
  enum class Verdict { ok, failed, unknown };

  std::string name;  ///< such as "key"
  Verdict verdict = Verdict::ok;
  std::string detail;          ///< what was found, or why it cannot be known without paying
  std::optional<Error> error;  ///< for `failed`
};

/// What calls to a model are made of, or requests to an agent.
struct CallTerms {
  std::string model;
  bool is_agent = false;            ///< it counts no tokens before, and reports what it costs itself
  std::optional<double> agent_usd;  ///< the most that a request to an agent may cost
  std::optional<double> input_usd, output_usd;     ///< of one token; empty without a price
  std::uint64_t most_prompt_tokens = 0;            ///< 0 is no limit
  std::optional<std::uint64_t> most_reply_tokens;  ///< empty if the server alone decides
};

/// What a proposer knows before anything is paid for.
struct ProposerExam {
  std::vector<DryCheck> checks;
  std::vector<CallTerms> calls;  ///< by model, the first one first; empty for a proposer that asks none
  PromptOptions prompts;
};

/// A call as it would be made for a request.
struct PlannedCall {
  Digest prompt;
  /// The most that it can cost if the reply's length is bounded, else what a reply as long as the parent
  /// costs; empty without a price.
  std::optional<double> usd;
};

/// Plans without calling; empty if a request leads to no call. Pure; thread-safe.
using CallPlanner = std::function<std::optional<PlannedCall>(const ProposalRequest&)>;

class ChatModel;

/// What a session tells its proposer before anything is asked.
struct ProposerContext {
  std::string place = "proposer";      ///< where its settings stand in run.yaml, for errors
  BackendDescription backend;          ///< of the task, for its prompts
  std::vector<PromptNote> notes;       ///< of earlier runs, for its prompts
  std::shared_ptr<Observer> observer;  ///< told what is worth knowing, such as a server's pause; may be null
};

/// What a proposer's settings say by themselves.
struct ProposerTraits {
  /// What a run asks this proposer for unless its configuration says otherwise. Without a model it is the
  /// first one's.
  std::vector<OperatorChoice> operators;
  /// The names of its models, or of its agent, by which operators can choose; empty: it has none, and can be
  /// no arm of a mix.
  std::vector<std::string> models = {};
  /// How many proposals may be under way at once; empty: as many as evaluations.
  std::optional<unsigned> in_flight = {};
  /// What is followed first (Engine::follow); empty: nothing.
  std::optional<RecordedRun> recorded = {};
  /// Whoever goes on with its run: `mcp` or `agent` of `python -m kernelsmith`, or `program`, a Python one;
  /// empty: `kernelsmith resume`.
  std::string driver = {};
};

/// One whom a proposer asks, as this machine's files and environment have it.
struct AskedModel {
  std::string name;                      ///< one of ProposerTraits::models, or empty
  std::optional<PromptOptions> prompts;  ///< how prompts for it are made; empty: it is shown none
  bool may_be_given_up = false;          ///< that costs nothing: people are not waited for beyond wall time
  bool is_free = false;                  ///< every call is known to cost nothing
  std::optional<Error> unpriced = {};    ///< why a budget of money would not hold, or never end
};

/// Whom a proposer asks.
struct ProposerOutlook {
  std::vector<AskedModel> models;
  std::string destination = {};  ///< and with which secret, in words; empty: nobody but this machine's files

  /// The model of that name, or the first one if the name is empty. Null if there is no such model.
  const AskedModel* find(const std::string& model) const;
  /// How prompts for that model (empty: the first that is shown any) are made.
  std::optional<PromptOptions> prompts(const std::string& model) const;
  /// Refuses if a budget of money would not hold or never end. A model that costs nothing may stand beside
  /// one that does.
  Status check_prices() const;
};

/// A proposer serves some of the operators.
class ProposerProvider : public Provider<Proposer> {
 public:
  ProposerContext context;

  virtual ProposerTraits traits() const = 0;

  /// Reads files. By default nobody.
  virtual ProposerOutlook outlook() const { return {}; }

  /// Null for a proposer that shows nobody a prompt.
  virtual Result<CallPlanner> planner(const Task&) const { return CallPlanner(); }

  /// Checks what can be checked without a call that costs anything. May take seconds. By default: that make()
  /// succeeds.
  virtual ProposerExam examine(const Task& task, const std::stop_token& stop) const;

  /// The model that it asks, for conversations that others keep (kernelsmith/llm/chat_model.hpp). By default
  /// `invalid_argument`: it asks no model.
  virtual Result<std::shared_ptr<ChatModel>> chat_model() const;
};

using SamplerProvider = Provider<const Sampler>;
using MigrationProvider = Provider<const Migration>;

/// Everything that a run can be wired from. A value: add kinds of your own to the default one. An evaluator
/// without a description in `backends` is for tasks that are in no file.
struct Registry {
  Backends backends;                    ///< what tasks can name as their backend
  Kinds<EvaluatorProvider> evaluators;  ///< by the same names
  /// BackendRegistration::make_sharing of those backends that have one, for share_programs().
  std::map<std::string, std::function<MakeEvaluatorProvider()>> sharing_evaluators;
  Kinds<ProposerProvider> proposers;
  Kinds<SamplerProvider> samplers;
  Kinds<MigrationProvider> migrations;
};

/// Tasks can name the backend, run.yaml can set its evaluator, and the section `evaluator.fleet` sends its
/// jobs to other machines. A backend of the same name is replaced.
void add_backend(Registry& registry, BackendRegistration backend);

/// What this build has: evaluators `cpu`, `cuda`, `torch`, `command` and `python`; proposers `tuner`,
/// `agent`, `chat`, `mix` (of those two), `manual`, `recording` and `python` (whose make() is `unsupported`:
/// the program that began such a run has the proposer); samplers `tree` and `mixture`; migrations `best` and
/// `weighted`.
Registry default_registry();

}  // namespace kernelsmith
