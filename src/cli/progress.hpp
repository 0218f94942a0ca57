// The progress output of `run` and `resume`: one live line on a terminal, otherwise a plain line at every new
// best and at every tenth of the budget.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/engine/engine.hpp>

namespace kernelsmith::cli {

/// Prints to stderr. Thread-safe.
class Progress final : public Observer {
 public:
  Progress();
  ~Progress() override;

  /// Begins to show what `engine` does, until finish().
  void start(const Engine& engine);
  void on_commit(const Commit& commit);
  /// Removes the live line, and stops showing progress.
  void finish();

  void on_event(const Event& event) override;
  void on_notice(const Notice& notice) override;

 private:
  /// The data that the line shows.
  struct Snapshot {
    Counts counts;
    Budgets budgets;
    std::string best = "none yet";
    std::uint64_t cells = 0, filled = 0;
    std::string money;  ///< empty if there were no calls
    double elapsed_s = 0;
    double progress = 0;
  };

  Snapshot look() const;
  double session_s() const;
  /// At most about `columns` characters.
  std::string line_of(const Snapshot& now, std::size_t columns) const KERNELSMITH_REQUIRES(mutex_);
  void log_line() KERNELSMITH_REQUIRES(mutex_);
  void draw() KERNELSMITH_REQUIRES(mutex_);
  void erase() KERNELSMITH_REQUIRES(mutex_);

  const bool live_;
  const Engine* engine_ = nullptr;
  std::chrono::steady_clock::time_point started_;
  std::uint64_t evaluations_before_ = 0;
  double elapsed_before_ = 0;

  Mutex mutex_;  ///< also guards stderr
  Snapshot shown_ KERNELSMITH_GUARDED_BY(mutex_);
  int tenths_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  bool drawn_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  /// The final measurement that is under way; empty before the end of the run.
  std::string last_look_ KERNELSMITH_GUARDED_BY(mutex_);
  std::optional<Repeater> ticker_;
};

}  // namespace kernelsmith::cli
