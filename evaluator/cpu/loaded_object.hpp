// LoadedObject: an object and the processes that it is loaded into, one after the other, each of which sees
// every set of the bank at most once, those first that none has seen yet.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bank.hpp"
#include "check.hpp"
#include "dealing.hpp"
#include "inputs.hpp"
#include "judged.hpp"
#include "runner_pool.hpp"
#include "runner_process.hpp"

namespace kernelsmith {

/// How an object is treated.
enum class Trust {
  candidate,  ///< fresh sets only, a wiped arena, poisoned outputs, every output checked
  trusted,    ///< the yardstick and the baseline, once they passed as candidates: sets may come again
};

struct LoadedObjectSetup {
  const Task& task;
  const std::vector<TaskShape>& shapes;
  RunnerPool& runners;
  double empty_request_us = 0;  ///< what an empty request to a trusted runner costs
  /// Of wall time for all loads and calls; beyond it the object is too slow.
  double allowance_s = std::numeric_limits<double>::infinity();
  /// Ends what is being loaded or called, with `cancelled`.
  std::stop_token stop{};
};

/// Not thread-safe.
class LoadedObject {
 public:
  /// What sets are dealt for.
  enum class Purpose { trial, pair };
  using Manner = runner::Manner;

  LoadedObject(LoadedObjectSetup setup, const Bank& bank, CpuBinaryPtr binary, Arena& arena, Trust trust);

  /// The time of one call in microseconds, from a batch of about `calls` calls at `shape`.
  Judged<double> batch(std::size_t shape, std::size_t calls);
  /// The same without a warm-up before it where the process has not been called at `shape` yet: it is one.
  Judged<double> cold_batch(std::size_t shape, std::size_t calls);

  /// The same in steps, so that little comes between the batches of two objects: deals the sets of `batches`
  /// batches of `calls` calls each, ...
  Judged<void> deal(std::size_t shape, std::size_t calls, std::size_t batches, Purpose purpose,
                    Manner manner = Manner::at_once);
  /// ... or, of an object that is trusted, those that were dealt to `other` as far as they go: some inputs
  /// take longer than others, ...
  Judged<void> deal_as(const LoadedObject& other, std::size_t shape, std::size_t calls, std::size_t batches,
                       Purpose purpose, Manner manner = Manner::at_once);
  /// ... says whether an earlier process of this object had met one of them, ...
  bool met_before() const;
  /// ... lays out the next batch's inputs, not earlier, since what is there can be worked on, does the batch,
  /// gives the time of one call, and checks what was written, unless it is the last: a later batch could do
  /// what this one should have done. One by one, it is what a call takes as a rule, with what it costs to
  /// show it, ...
  Judged<double> next_batch();
  /// ... and checks what the last one wrote.
  Judged<void> check();

  /// Has the last batch (one of `batch()`) done again by another process, which must write the same bytes.
  Judged<void> repeat_last();

  /// Whether calls at the shape can be shown one by one.
  bool can_go_one_by_one(std::size_t shape) const { return !arena_->streamed(shape).empty(); }
  /// What it costs to show a call, in microseconds, from so many that are not made. For trusted objects.
  Judged<double> cost_of_showing(std::size_t shape, std::size_t calls);
  /// What a request costs just now beyond what is taken off every batch, in microseconds. For trusted
  /// objects.
  Judged<double> cost_of_asking();
  /// What an empty batch takes, in microseconds. For trusted objects.
  Judged<double> empty_batch();

  /// The most calls of each of a pair's two batches that are shown one by one, where two pairs are to be had
  /// of the sets for trials.
  std::size_t most_steps(std::size_t shape) const;

  /// The most calls of a batch(), and of each of `batches` batches that are dealt at once.
  std::size_t most_calls(std::size_t shape) const;
  std::size_t most_calls(std::size_t shape, std::size_t batches) const;

  /// The worst error seen at the shape, as a fraction of the budget.
  double worst_error(std::size_t shape) const { return worst_error_[shape]; }

  /// Where the time went since the last call of this, added to `spent_ms` as "WHO: load", "... unload"
  /// (letting the process go, and waiting until it is gone before anything is timed), "... lay out",
  /// "... calls" (from request to standstill), "... stop and go" (what a request costs beside that) and
  /// "... compare".
  void take_costs(const std::string& who, std::map<std::string, double>& spent_ms);

  bool trusted() const { return trust_ == Trust::trusted; }

  bool full_tier() const { return process_ && process_->full_tier(); }

  /// The rule that it broke, if it did: nothing more is to be had of it then.
  const std::optional<Rejection>& rejection() const { return rejection_; }

  /// Whether to deal so much would have the object loaded anew.
  bool is_out_of_sets(std::size_t shape, std::size_t calls, std::size_t batches, Purpose purpose) const;

  /// Lets the process go; the next batch loads the object anew.
  void unload();

  /// Loads what is not loaded, side by side. A failure is told by the object's next batch.
  static void load_both(LoadedObject& a, LoadedObject& b);

  /// Unloads both, and loads both.
  static void load_both_anew(LoadedObject& a, LoadedObject& b);

  /// Unloads both, and gives each the other's arena.
  static void exchange_arenas(LoadedObject& a, LoadedObject& b);

 private:
  struct Costs {
    double load_ms = 0, unload_ms = 0, lay_out_ms = 0, calls_ms = 0, requests_ms = 0, compare_ms = 0;
  };

  /// The batches that are dealt: rows of the call table, and the set that each of them shows.
  struct Dealt {
    std::size_t shape = 0, calls = 0;
    std::vector<std::size_t> sets;
    Manner manner = Manner::at_once;
    std::size_t done = 0, checked = 0;  ///< rows
  };

  /// What one output of a call holds, part by part, and whether nothing beside it was written.
  struct Written {
    std::vector<Findings> parts;
    bool margins_hold = true;
  };

  template <class Step>
  auto noting_rejection(Step step);
  Judged<double> one_batch(std::size_t shape, std::size_t calls);
  void lay_out_batch();
  Judged<double> time_rows();
  Judged<double> time_one_by_one(double timeout_s);
  Judged<double> time_at_once(double timeout_s);
  template <class Ask>
  auto requested(Ask ask) -> decltype(ask());
  Judged<void> check_rows();
  std::size_t dealt_each(std::size_t shape, std::size_t calls, std::size_t batches) const;
  bool is_out_of_sets(const Hand& hand, std::size_t rows) const;
  Judged<void> ready_for(std::size_t shape, Hand& hand, std::size_t rows);
  void gather(Deal& deal, Hand& hand, std::size_t rows);
  Judged<void> load();
  void load_in_advance();
  static void unload_both(LoadedObject& a, LoadedObject& b);
  void show(std::size_t shape, std::size_t calls, std::vector<std::size_t> sets,
            Manner manner = Manner::at_once);
  bool comes_later(std::size_t tensor) const;
  void write_row(std::size_t slot, std::size_t lane, std::size_t lanes);
  void look_through_row(std::size_t slot, std::size_t part, std::vector<Written>& written) const;
  Judged<void> judge_row(std::size_t slot, const std::vector<Written>& written);
  template <class Step>
  auto killed_on_stop(RunnerProcess& process, Step step) const;
  Judged<double> allowed_s(std::size_t shape) const;
  double time_of(const BatchClock& clock, std::size_t calls) const;

  LoadedObjectSetup setup_;
  const Bank& bank_;
  CpuBinaryPtr binary_;
  Arena* arena_;
  Trust trust_;
  std::optional<RunnerProcess> process_;
  std::optional<Failure> failed_load_;  ///< in advance
  std::optional<Rejection> rejection_;
  std::vector<Deal> deals_;
  std::size_t processes_ = 0;  ///< loaded so far
  std::vector<double> worst_error_;
  Costs costs_;
  double used_ms_ = 0;  ///< of the allowance
  SecretStream random_;
  std::uint32_t poison_ = 0;
  Dealt dealt_;
};

}  // namespace kernelsmith
