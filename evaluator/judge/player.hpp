// Player: one kernel in an evaluation, with all its sessions.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judge/call_faults.hpp"
#include "judge/context.hpp"

namespace kernelsmith::judge {

/// Not thread-safe. A failure of a trusted kernel is an Error, because it has passed its check.
class Player {
 public:
  /// `name` is the kernel's name in Report::spent_ms.
  Player(const Context& context, std::string name, BinaryPtr binary, Trust trust);

  /// Loads the kernel into memory `place`, and closes its earlier session.
  Judged<void> open(std::size_t place);
  void close();

  /// Runs one batch, a call for each of `sets`, and returns the time of one call in microseconds. A candidate
  /// that exceeds its allowance of wall time is `too_slow`.
  Judged<double> run(std::size_t shape, std::span<const std::size_t> sets);

  /// Compares the last batch's outputs; does nothing for a trusted kernel.
  Judged<void> compare(Values values);

  /// Repeats the last batch in another session: the outputs must be the same bytes.
  Judged<void> repeat_elsewhere(std::size_t place);

  bool trusted() const { return trust_ == Trust::trusted; }

  /// The worst error at the shape, as a fraction of the allowed one.
  double worst_error(std::size_t shape) const { return worst_error_[shape]; }

  /// Adds "NAME: STEP" for each step of the player's sessions.
  void add_costs(std::map<std::string, double>& spent_ms) const;

 private:
  template <class Step>
  auto on_the_clock(Step step) -> decltype(step());
  double allowance_s() const;
  Failure told(const Failure& failure) const;
  Failure over_allowance(std::size_t shape) const;

  const Context* context_;
  std::string name_;
  BinaryPtr binary_;
  Trust trust_;
  std::unique_ptr<KernelSession> session_;
  Batch batch_;                             ///< the last one
  std::size_t shape_ = 0;                   ///< of the last batch, in the context
  std::vector<std::size_t> sets_;           ///< of the last batch
  double used_s_ = 0;                       ///< used part of the allowance
  std::vector<double> worst_error_;         ///< by shape
  std::map<std::string, double> spent_ms_;  ///< by step, of closed sessions
};

}  // namespace kernelsmith::judge
