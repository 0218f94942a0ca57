// What a proposer is asked and what it answers. Both are data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/rng.hpp>

namespace kernelsmith {

/// A request for one child.
struct ProposalRequest {
  std::uint64_t seed = 0;  ///< the run's seed
  TicketId ticket;
  Operator op = Operator::rewrite;
  std::string model;
  Selection selection;

  /// The stream that a proposer draws from, so that the same request gives the same child.
  Rng rng() const { return {seed, ticket.value, Purpose::proposal}; }
};

/// A child to be evaluated.
struct Child {
  Source source;
  Origin origin = Origin::rewrite;
  std::vector<ProgramId> parents;

  friend bool operator==(const Child&, const Child&) = default;
};

/// Why a proposer gave no child. Every code has a line in docs/errors.md.
enum class RefusalCode {
  empty_reply,     ///< nothing came
  no_code,         ///< a reply without a program in it
  truncated,       ///< a reply that was cut off
  declined,        ///< the model refused
  edit_unmatched,  ///< a SEARCH text that does not occur in the parent
  edit_ambiguous,  ///< a SEARCH text that occurs more than once
  edit_frozen,     ///< an edit or rewrite that changes bytes outside the EVOLVE-BLOCKs
  bad_path,        ///< a file name that climbs out or does not belong to the candidate
  unchanged,       ///< a reply that gives the parent back
  no_knobs,        ///< the tuner found nothing to vary
  exhausted,       ///< nothing is left to propose
};

std::string_view name_of(RefusalCode code);
std::optional<RefusalCode> refusal_code_from(std::string_view name);

struct Refusal {
  RefusalCode code = RefusalCode::no_code;
  std::string detail;  ///< which edit, which file, at which line

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// What a proposal cost. Zero for proposers without a model.
struct Cost {
  double usd = 0;
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::optional<std::uint64_t> cached_tokens = std::nullopt;     ///< of the input; empty where not told
  std::optional<std::uint64_t> reasoning_tokens = std::nullopt;  ///< of the output; likewise

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// A proposer's answer.
struct Proposal {
  std::variant<Child, Refusal> outcome;
  Cost cost;
  std::optional<Digest> prompt;  ///< of the prompt as sent, where there was one

  const Child* child() const { return std::get_if<Child>(&outcome); }
  const Refusal* refusal() const { return std::get_if<Refusal>(&outcome); }

  friend bool operator==(const Proposal&, const Proposal&) = default;
};

}  // namespace kernelsmith
