#include "summary.hpp"

#include <algorithm>
#include <cstdio>

#include <fnmatch.h>
#include <nlohmann/json.hpp>

namespace kernelsmith::redteam {

Result<std::vector<Case>> chosen(std::vector<Case> all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Case> some;
  const auto named = [&](const Case& one) {
    return std::ranges::any_of(
        names, [&](const std::string& name) { return ::fnmatch(name.c_str(), one.name.c_str(), 0) == 0; });
  };
  for (const Case& one : all) {
    const auto is_twin = [&](const Case& other) {
      return named(other) && other.task == one.task && other.twin == one.name;
    };
    if (named(one) || std::ranges::any_of(all, is_twin)) some.push_back(one);
  }
  if (some.empty()) return fail(ErrorCode::not_found, "no case has that name", names.front());
  return some;
}

namespace {

const char* name_of(Standing standing) {
  switch (standing) {
    case Standing::held:
      return "held";
    case Standing::open:
      return "OPEN";
    case Standing::unstable:
      return "UNSTABLE";
    case Standing::failed:
      break;
  }
  return "FAILED";
}

}  // namespace

void print(const Row& row, bool verbose) {
  std::string ratio = "     ";
  if (row.over_twin) std::snprintf(ratio.data(), ratio.size() + 1, "%5.2f", *row.over_twin);
  std::printf("%-8s %-16s %-28s %5.2f s %s  %s\n", name_of(row.standing), row.task.c_str(), row.name.c_str(),
              row.seconds, ratio.c_str(), row.got.c_str());
  if (verbose || row.standing != Standing::held)
    std::printf("         must: %s\n         %s\n", row.must.c_str(), row.note.c_str());
}

void print(const Totals& totals) {
  std::puts("\nverdicts:");
  for (const auto& [verdict, count] : totals.by_verdict) std::printf("  %5d %s\n", count, verdict.c_str());
  for (const auto& [standing, count] : totals.by_standing) std::printf("%d %s, ", count, name_of(standing));
  std::printf("%zu leaks, %d left behind\n", totals.leaks, totals.left_behind);
  std::printf("honest: %d verdicts, %d not accepted\n", totals.honest, totals.honest_not_accepted);
  const auto unstable = totals.by_standing.find(Standing::unstable);
  std::printf("noise: %d without a verdict, %zu retries after Error{unstable}, %zu second looks\n",
              unstable != totals.by_standing.end() ? unstable->second : 0, totals.retries,
              totals.second_looks);
}

nlohmann::json to_json(const Row& row, int round) {
  return {{"round", round},
          {"case", row.name},
          {"task", row.task},
          {"must", row.must},
          {"got", row.got},
          {"note", row.note},
          {"standing", name_of(row.standing)},
          {"honest", row.honest},
          {"retries", row.retries},
          {"second_looks", row.second_looks},
          {"over_twin", row.over_twin ? nlohmann::json(*row.over_twin) : nlohmann::json()},
          {"seconds", row.seconds}};
}

int list_cases(const std::string& folder) {
  const auto cases = load_cases(folder + "/cases", {});
  if (!cases) return report(stderr, cases.error());
  for (const Case& one : *cases) std::puts(table_row(one).c_str());
  return 0;
}

}  // namespace kernelsmith::redteam
