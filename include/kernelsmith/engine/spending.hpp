// Spending: the cost of a run's calls by model, and by revision for a model whose weights change.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

/// Sums over the calls to one model or to all.
struct CallTotals {
  std::uint64_t calls = 0;
  std::uint64_t untold = 0;    ///< how many of the calls have tokens that the server did not report
  std::uint64_t unpriced = 0;  ///< how many of the calls went to a model without a price
  std::uint64_t input_tokens = 0;
  std::uint64_t cached_tokens = 0;  ///< part of the input tokens
  std::uint64_t output_tokens = 0;
  std::uint64_t reasoning_tokens = 0;  ///< part of the output tokens
  double usd = 0;                      ///< price of the reported tokens, if the model has a price
  double guessed_usd = 0;              ///< in addition, an estimate for replies without usage

  CallTotals& operator+=(const CallTotals& other);
  friend bool operator==(const CallTotals&, const CallTotals&) = default;
};

/// A value.
class Spending {
 public:
  /// Adds the cost of calls. A cost of zero is not a call.
  void add(const Cost& cost);

  /// Adds calls that may have been under way when the process was killed. Their cost is unknown.
  void add_interrupted(std::uint64_t calls) { interrupted_ += calls; }

  /// The sums for each `MODEL`, or `MODEL@REVISION` if the server named its revision.
  const std::map<std::string, CallTotals>& models() const { return models_; }
  std::uint64_t interrupted() const { return interrupted_; }
  CallTotals total() const;
  /// What counts against the budget: reported and estimated cost.
  double usd() const;
  bool empty() const { return models_.empty() && interrupted_ == 0; }
  /// True if no call has a price, so that usd() is meaningless.
  bool unpriced() const;

  friend bool operator==(const Spending&, const Spending&) = default;

 private:
  std::map<std::string, CallTotals> models_;
  std::uint64_t interrupted_ = 0;
};

}  // namespace kernelsmith
