// Requests to proposers, and their answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>

namespace kernelsmith {

struct Cost;

/// A child to be evaluated.
struct Child {
  Source source;
  Origin origin = Origin::rewrite;
  std::vector<ProgramId> parents;

  friend bool operator==(const Child&, const Child&) = default;
};

/// What a proposer wants evaluated before it answers. A child becomes a program of the run. A program of the
/// run (given by its id) is measured again like the final best: with care and on fresh inputs.
using Trial = std::variant<Child, ProgramId>;

/// The result of a trial.
struct Tried {
  ProgramPtr program;
  Evaluation evaluation;
  bool repeated = false;  ///< the child repeats an earlier program: this is that program's verdict, free of
                          ///< charge
};

/// Runs a trial for a request, and calls `done` once, on any thread: with its result, with `over_budget` if
/// the budgets do not cover it, or with `cancelled` if the request was already answered or the run ends.
/// Thread-safe; returns at once.
using TrialRunner = std::function<void(Trial trial, std::function<void(Result<Tried>)> done)>;

/// A request for one child. All members except `lost`, `attempt` and `ending` are data.
struct ProposalRequest {
  std::uint64_t seed = 0;  ///< the run's seed
  TicketId ticket;
  Operator op = Operator::rewrite;
  std::string model;
  Selection selection;
  /// Called at once with the cost of a failed attempt, so that the cost is counted while the call continues.
  /// The answer's cost then excludes it. Called on any thread, before the answer. If `lost` is empty, the
  /// answer's cost includes all attempts.
  std::function<void(const Cost&)> lost = {};
  /// Evaluates a trial while the request is open. Each trial costs one evaluation of the run's budget and is
  /// journalled like the answer. Empty in a deterministic run, because sampling must not depend on trials.
  TrialRunner attempt = {};
  /// The programs that an earlier session tried for this request before it ended without an answer.
  std::vector<IndividualPtr> tried = {};
  std::uint64_t trials = 0;  ///< number of trials that were begun for this request, including `tried`
  /// A stop is requested when the run's time or money is used up. From then on the proposer starts no call
  /// and no pause for this request, and does not queue it. It waits for calls that are under way.
  std::stop_token ending = {};

  /// The proposer's random stream: the same request gives the same child.
  Rng rng() const { return {seed, ticket.value, Purpose::proposal}; }
};

/// Why a proposer gave no child. Every code has a line in docs/errors.md.
enum class RefusalCode {
  empty_reply,     ///< the reply is empty
  no_code,         ///< the reply contains no program
  truncated,       ///< the reply was cut off
  declined,        ///< the model refused
  edit_unmatched,  ///< the parent does not contain a SEARCH text
  edit_ambiguous,  ///< the parent contains a SEARCH text more than once
  edit_conflict,   ///< two edits change the same lines
  edit_frozen,     ///< an edit or rewrite changes bytes outside the EVOLVE-BLOCKs
  bad_path,        ///< a file name that leaves the folder or is not one of the candidate's
  too_large,       ///< the reply or child is larger than a program may be
  unchanged,       ///< the reply repeats the parent
  no_knobs,        ///< the tuner found nothing to vary
  exhausted,       ///< no proposals are left
  finished,        ///< the proposer is done: the run ends
};

std::string_view name_of(RefusalCode code);
std::optional<RefusalCode> refusal_code_from(std::string_view name);

/// Why a proposer gave no child.
struct Refusal {
  RefusalCode code = RefusalCode::no_code;
  std::string detail;  ///< which edit, file and line

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// What the calls for one proposal, or one failed attempt, cost. Zero for proposers without a model.
struct Cost {
  double usd = 0;  ///< US dollars for the tokens, at the model's price
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::optional<std::uint64_t> cached_tokens = std::nullopt;     ///< part of the input tokens; empty if not
                                                                 ///< reported
  std::optional<std::uint64_t> reasoning_tokens = std::nullopt;  ///< part of the output tokens; empty if not
                                                                 ///< reported
  std::string model = {};                                        ///< the configured name of the model
  std::uint64_t calls = 0;   ///< calls that were answered, or that broke off and may have been billed
  std::uint64_t untold = 0;  ///< how many of these calls have tokens that the server did not report
  bool unpriced = false;     ///< the model has no price, so the cost of its tokens is unknown
  /// The revision of the model's weights, if the server answers as `MODEL@REVISION`.
  std::string revision = {};
  double guessed_usd = 0;  ///< not part of `usd`: an estimate for unreported usage, from the length of the
                           ///< texts

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// An Error of a call that cost something. It is handled like any Error, and its cost is journalled.
struct PaidError {
  explicit PaidError(Error why) : error(std::move(why)) {}
  Error error;

  friend bool operator==(const PaidError&, const PaidError&) = default;
};

/// The sampling settings of a reply (those that were set) and the reason why it ended.
struct Sampling {
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> max_output_tokens;
  std::string reasoning_effort = {};
  std::string finish_reason = {};  ///< stop, length, declined or other

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// A model's reply as received, kept for training on request. Members that the server did not report are
/// empty.
struct KeptReply {
  std::string model;  ///< the model's name on the server
  std::string text;
  std::string reasoning = {};
  std::vector<std::string> tokens = {};       ///< the tokens of text and reasoning, if the server reported
                                              ///< logprobs
  std::vector<double> logprobs = {};          ///< one natural logarithm for each token
  std::vector<std::uint64_t> token_ids = {};  ///< the token ids of the reply
  std::vector<std::uint64_t> prompt_token_ids = {};
  std::string system = {}, user = {};          ///< the prompt's two messages
  std::optional<Digest> template_digest = {};  ///< Prompt::templates
  Sampling sampling = {};
  bool cut = false;  ///< a size limit cut off the end of a list or text

  friend bool operator==(const KeptReply&, const KeptReply&) = default;
};

/// A proposer's answer.
struct Proposal {
  std::variant<Child, Refusal, PaidError> outcome;
  Cost cost;
  std::optional<Digest> prompt;  ///< the digest of the prompt as sent, if there was one
  std::optional<KeptReply> reply = std::nullopt;
  std::optional<Digest> transcript = std::nullopt;  ///< the digest of what an agent printed

  const Child* child() const { return std::get_if<Child>(&outcome); }
  const Refusal* refusal() const { return std::get_if<Refusal>(&outcome); }
  const Error* error() const {
    const auto* paid = std::get_if<PaidError>(&outcome);
    return paid ? &paid->error : nullptr;
  }

  friend bool operator==(const Proposal&, const Proposal&) = default;
};

}  // namespace kernelsmith
