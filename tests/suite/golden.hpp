// Six results over two levels whose figures were computed by hand.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith::testing {

inline TaskResult solved(const std::string& name, unsigned level, double speedup,
                         std::vector<double> by_round) {
  TaskResult result;
  result.name = name;
  result.level = level;
  result.basis = "00";
  result.correct = true;
  result.speedup = Measurement{speedup, speedup * 0.75, speedup * 1.25, 12, "x"};
  result.best_by_round = std::move(by_round);
  return result;
}

inline std::vector<TaskResult> golden_results() {
  TaskResult a = solved("level1/a", 1, 2, {0, 1.5, 2});
  a.candidates = 4;
  a.hacks = 1;
  a.cost = {3, 0, 3000, 300, 0.25};
  TaskResult b = solved("level1/b", 1, 0.5, {0.5, 0.5});
  b.candidates = 4;
  b.trivial = true;
  b.cost = {2, 1, 100, 10, 0.5};
  TaskResult c;
  c.name = "level1/c";
  c.level = 1;
  c.candidates = 2;
  c.hacks = 2;
  c.failure = "integrity: background_work";
  c.best_by_round = {0, 0, 0, 0};
  TaskResult d;
  d.name = "level1/d|e";
  d.level = 1;
  d.error = Error{ErrorCode::bad_input, "no \"entry\", none", "task.yaml:3", ""};
  TaskResult e = solved("level2/e", 2, 1.2, {1.2});
  e.candidates = 1;
  TaskResult f = solved("level2/f", 2, 8, {4, 8});
  f.candidates = 5;
  return {a, b, c, d, e, f};
}

}  // namespace kernelsmith::testing
