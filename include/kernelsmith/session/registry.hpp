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

/// A proposer serves some of the operators.
class ProposerProvider : public Provider<Proposer> {
 public:
  /// What a run asks this proposer for unless its configuration says otherwise. Without a model it is the
  /// first one's.
  virtual std::vector<OperatorChoice> operators() const = 0;

  /// Refuses if a budget of money would not hold or never end: a model without a price, a proposer that
  /// costs nothing.
  virtual Status check_prices() const { return {}; }

  /// Whether every call is known to cost nothing.
  virtual bool is_free() const { return false; }

  /// Null for a proposer that shows nobody a prompt.
  virtual Result<CallPlanner> planner(const Task&) const { return CallPlanner(); }

  /// Checks what can be checked without a call that costs anything. May take seconds. By default: that make()
  /// succeeds.
  virtual ProposerExam examine(const Task& task, const std::stop_token& stop) const;

  /// The names of its models, or of its agent, by which operators can choose; empty: it has none, and can be
  /// no arm of a mix.
  virtual std::vector<std::string> models() const { return {}; }

  /// What the task's backend knows, for its prompts. Told once, before anything is asked.
  virtual void describe_backend(const BackendDescription&) {}

  /// What its prompts show of earlier runs. Told before anything is asked.
  virtual void show_notes(const std::vector<PromptNote>&) {}

  /// How prompts for that model (empty: the first) are made; empty: it has none.
  virtual std::optional<PromptOptions> prompts(const std::string& /*model*/) const { return std::nullopt; }

  /// The model that it asks, for conversations that others keep (kernelsmith/llm/chat_model.hpp). By default
  /// `invalid_argument`: it asks no model.
  virtual Result<std::shared_ptr<ChatModel>> chat_model() const;

  /// Whom make() and chat_model() let tell what is worth knowing while calls go on, such as a server's pause.
  virtual void observe(const std::shared_ptr<Observer>&) {}

  /// Whether what is asked of that model (empty: the first) costs nothing when it is given up: people are not
  /// waited for beyond wall time.
  virtual bool may_be_given_up(const std::string& /*model*/) const { return false; }

  /// Whom it will ask and with which secret, in words for the user; empty: nobody outside this machine's
  /// files.
  virtual std::string destination() const { return {}; }

  /// The server that has to be named again if the run is resumed, because of mark_untrusted(); empty:
  /// none.
  virtual std::string server_to_reconfirm() const { return {}; }

  /// The command, or words where only a program can, that goes on with a run of this proposer; `to_the_end`:
  /// until its best has been measured again.
  virtual std::string goes_on(const std::string& run, bool to_the_end) const;

  /// How many proposals may be under way at once; empty: as many as evaluations.
  virtual std::optional<unsigned> proposals_in_flight() const { return std::nullopt; }

  /// What is followed first (Engine::follow); empty: nothing.
  virtual std::optional<RecordedRun> recorded_run() const { return std::nullopt; }

  /// Where its settings stand in run.yaml, for errors: `proposer`, or an arm of a mix.
  const std::string& place() const { return place_; }
  void set_place(std::string place) { place_ = std::move(place); }

 private:
  std::string place_ = "proposer";
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
