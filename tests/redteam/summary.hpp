// What a red team's program does with cases and rows: chooses, counts, prints.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "case_file.hpp"
#include "round.hpp"

namespace kernelsmith::redteam {

/// The cases whose names match one of the shell patterns `names`, with their twins; all if there are none.
Result<std::vector<Case>> chosen(std::vector<Case> all, const std::vector<std::string>& names);

/// Prints the table of cases; the exit status.
int list_cases(const std::string& folder);

struct Totals {
  std::map<Standing, int> by_standing;
  std::map<std::string, int> by_verdict;
  int honest = 0, honest_not_accepted = 0;  ///< verdicts on honest cases
  int left_behind = 0;
  std::size_t leaks = 0, retries = 0, second_looks = 0;
  std::map<std::string, bool> decided;  ///< by case: whether any round gave a verdict

  void add(const Row& row) {
    ++by_standing[row.standing];
    const bool verdict = row.standing != Standing::unstable;
    honest += row.honest && verdict ? 1 : 0;
    const bool passed = row.verdict == "accepted" || row.verdict == "planned";
    honest_not_accepted += row.honest && verdict && !passed ? 1 : 0;
    left_behind += row.left_behind ? 1 : 0;
    leaks += row.leaks;
    if (!row.verdict.empty()) ++by_verdict[row.verdict];
    retries += row.retries;
    second_looks += row.second_looks;
    bool& before = decided[row.task + "/" + row.name];
    before = before || verdict;
  }

  /// A case that no round could decide is no case that held; one busy round says nothing.
  bool good(int rounds) const {
    const auto undecided = [](const auto& one) { return !one.second; };
    return !by_standing.contains(Standing::failed) &&
           (rounds == 1 || std::ranges::none_of(decided, undecided));
  }
};

/// `verbose`: with what must happen and what the evaluator said, which is printed for failures anyway.
void print(const Row& row, bool verbose);
void print(const Totals& totals);

nlohmann::json to_json(const Row& row, int round);

}  // namespace kernelsmith::redteam
