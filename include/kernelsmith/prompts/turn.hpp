// A turn of a conversation: the message that answers a model's reply with its verdict and asks for the next.
// Cold start, reinforcement learning and test time use this one text (docs/learning.md, "One conversation").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

/// Rises when the text of a turn changes for any verdict.
inline constexpr int kTurnVersion = 1;

/// How the next reply gives its program.
enum class TurnForm {
  program,  ///< one file in one fenced code block
  files,    ///< a fenced block for each changed file
  edits,    ///< SEARCH/REPLACE edits of the last readable program
};

/// What a turn says about a verdict. A verdict of a search, of the service and of a trajectory gives the
/// same.
struct TurnVerdict {
  bool compiled = false;
  bool correct = false;
  bool decoy = false;               ///< correct without a kernel of its own, or it evades the measurement
  std::optional<double> speed;      ///< the speedup over the baseline, or the fitness if there is no baseline
  bool over_baseline = true;        ///< `speed` is a speedup
  std::optional<double> own_share;  ///< of a call's GPU time in the candidate's own kernels
  std::string code, message;        ///< of a rejection or a refusal
  std::string advice;               ///< what limits the speed

  friend bool operator==(const TurnVerdict&, const TurnVerdict&) = default;
};

/// Pure.
TurnVerdict turn_verdict(const Evaluation& evaluation);
/// For a reply from which no program could be taken.
TurnVerdict turn_verdict(const Refusal& refusal);

/// The user message after a reply. It ends with `request`, or with the request for this form if that is
/// empty. Pure.
std::string turn_message(const TurnVerdict& verdict, TurnForm form, std::string_view request = {});

}  // namespace kernelsmith
