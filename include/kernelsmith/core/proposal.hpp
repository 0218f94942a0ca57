// What a proposer is asked and what it answers.
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

/// What a proposer may have evaluated before it answers: a child, which becomes a program of the run, or a
/// program of the run, which is measured again with care and on fresh inputs, as the final best is.
using Trial = std::variant<Child, ProgramId>;

/// What a trial came to.
struct Tried {
  ProgramPtr program;
  Evaluation evaluation;
  bool repeated = false;  ///< the child is a program that was there already: its verdict, free of charge
};

/// Takes a trial on behalf of a request, and calls `done` once, on any thread: with what it came to, or with
/// an Error if the budgets leave no room for it (`over_budget`), the request was answered, or the run ends
/// (`cancelled`). Thread-safe; returns at once.
using TrialRunner = std::function<void(Trial trial, std::function<void(Result<Tried>)> done)>;

/// A request for one child. Data, but for `lost`, `attempt` and `ending`.
struct ProposalRequest {
  std::uint64_t seed = 0;  ///< the run's seed
  TicketId ticket;
  Operator op = Operator::rewrite;
  std::string model;
  Selection selection;
  /// Told at once of what an attempt cost that gave nothing, so that it is counted while the call still goes
  /// on; the answer's cost leaves it out. Called on any thread, before the answer. If it is empty the
  /// answer's cost holds all attempts.
  std::function<void(const Cost&)> lost = {};
  /// Has something evaluated while the request is open: an evaluation of the run's budgets each, journalled
  /// as the answer's is. Empty in a deterministic run, where what is sampled must not depend on it.
  TrialRunner attempt = {};
  /// The programs that this request was tried with in an earlier session, which ended before the answer.
  std::vector<IndividualPtr> tried = {};
  std::uint64_t trials = 0;  ///< all that were begun for it, `tried` among them
  /// Requested when the run's time or money is used up. From then on nothing is begun for the request: no
  /// attempt at a call, no pause, no place in a queue. What was begun is waited for.
  std::stop_token ending = {};

  /// The stream that a proposer draws from, so that the same request gives the same child.
  Rng rng() const { return {seed, ticket.value, Purpose::proposal}; }
};

/// Why a proposer gave no child. Every code has a line in docs/errors.md.
enum class RefusalCode {
  empty_reply,     ///< nothing came
  no_code,         ///< a reply without a program in it
  truncated,       ///< a reply that was cut off
  declined,        ///< the model refused
  edit_unmatched,  ///< a SEARCH text that does not occur in the parent
  edit_ambiguous,  ///< a SEARCH text that occurs more than once
  edit_conflict,   ///< two edits that change the same lines
  edit_frozen,     ///< an edit or rewrite that changes bytes outside the EVOLVE-BLOCKs
  bad_path,        ///< a file name that climbs out or does not belong to the candidate
  too_large,       ///< a reply, or the child it describes, beyond every program's size
  unchanged,       ///< a reply that gives the parent back
  no_knobs,        ///< the tuner found nothing to vary
  exhausted,       ///< nothing is left to propose
  finished,        ///< whoever proposes has no more to do: it ends the run
};

std::string_view name_of(RefusalCode code);
std::optional<RefusalCode> refusal_code_from(std::string_view name);

/// Why a proposer gave no child.
struct Refusal {
  RefusalCode code = RefusalCode::no_code;
  std::string detail;  ///< which edit, which file, at which line

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// What the calls for one proposal cost, or one failed attempt. Zero for proposers without a model.
struct Cost {
  double usd = 0;  ///< US dollars for the tokens, at the model's price
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::optional<std::uint64_t> cached_tokens = std::nullopt;     ///< of the input; empty if not reported
  std::optional<std::uint64_t> reasoning_tokens = std::nullopt;  ///< of the output; likewise
  std::string model = {};                                        ///< that was asked, as it is configured
  std::uint64_t calls = 0;   ///< that were answered, or broke off after they may have been billed
  std::uint64_t untold = 0;  ///< of the calls, those whose tokens the server did not report
  bool unpriced = false;     ///< the model has no price: what the tokens cost is unknown
  /// The revision of the model's weights, if its server names it by answering as `MODEL@REVISION`.
  std::string revision = {};
  double guessed_usd = 0;  ///< beside `usd`: of what the server did not report, by the length of the texts

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// An Error that cost something. It is treated as the Error that it is, and its proposal's cost is
/// journalled.
struct PaidError {
  explicit PaidError(Error why) : error(std::move(why)) {}
  Error error;

  friend bool operator==(const PaidError&, const PaidError&) = default;
};

/// How a reply was asked for, as far as that was not left to the server, and why it ended.
struct Sampling {
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> max_output_tokens;
  std::string reasoning_effort = {};
  std::string finish_reason = {};  ///< stop, length, declined or other

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// A model's reply as it came, kept for training if that is asked for. What the server did not report is
/// empty.
struct KeptReply {
  std::string model;  ///< as the server names it
  std::string text;
  std::string reasoning = {};
  std::vector<std::string> tokens = {};       ///< of text and reasoning, as far as there are logprobs
  std::vector<double> logprobs = {};          ///< natural logarithms, one for each token
  std::vector<std::uint64_t> token_ids = {};  ///< of the reply
  std::vector<std::uint64_t> prompt_token_ids = {};
  std::string system = {}, user = {};          ///< the prompt's two messages
  std::optional<Digest> template_digest = {};  ///< Prompt::templates
  Sampling sampling = {};
  bool cut = false;  ///< a limit of size left some of it out, from the end of a list or text

  friend bool operator==(const KeptReply&, const KeptReply&) = default;
};

/// A proposer's answer.
struct Proposal {
  std::variant<Child, Refusal, PaidError> outcome;
  Cost cost;
  std::optional<Digest> prompt;  ///< of the prompt as sent, if there was one
  std::optional<KeptReply> reply = std::nullopt;
  std::optional<Digest> transcript = std::nullopt;  ///< of what an agent printed

  const Child* child() const { return std::get_if<Child>(&outcome); }
  const Refusal* refusal() const { return std::get_if<Refusal>(&outcome); }
  const Error* error() const {
    const auto* paid = std::get_if<PaidError>(&outcome);
    return paid ? &paid->error : nullptr;
  }

  friend bool operator==(const Proposal&, const Proposal&) = default;
};

}  // namespace kernelsmith
