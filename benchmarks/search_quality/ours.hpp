// The search that `kernelsmith run --model` makes, step by step: its configuration is the registry's, its
// engine the library's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/engine/engine.hpp>

#include "arms.hpp"

namespace kernelsmith::bench {

/// One search. Its budgets are the server's limits until until() sets another one. The engine is asked for as
/// many tickets as the server has in flight before the first is answered; they are answered in their order.
class Ours {
 public:
  Ours(EvalServer& server, std::uint64_t seed, const Change& change = {});

  /// Serves the oldest ticket; false when no ticket is left.
  bool step();

  /// Goes on until so many evaluations were made in all, or until nothing is left to do.
  void until(std::uint64_t evaluations);

  const Engine& engine() const { return engine_; }

 private:
  void serve(TicketId id, const Evaluate& work);
  void serve(TicketId id, const Propose& work);
  void serve(TicketId id, const Remeasure& work);
  Evaluation evaluation(std::size_t program) const;
  Evaluation accepted(std::size_t program, double speedup, Report report) const;
  std::map<std::string, double> features(std::size_t program) const;

  EvalServer& server_;
  double noise_;
  std::vector<StructureAxis> structure_;
  Engine engine_;
  std::deque<Ticket> asked_;
};

}  // namespace kernelsmith::bench
