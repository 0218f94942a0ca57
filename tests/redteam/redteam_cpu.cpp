// Evaluates every case of tests/redteam/cpu and compares what happened with what the case declares. README.md
// beside this file explains the cases; `redteam_cpu --help` the options.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "case_file.hpp"
#include "plants.hpp"
#include "round.hpp"

namespace {

using namespace kernelsmith;
using namespace kernelsmith::redteam;

struct Options {
  std::string folder = KERNELSMITH_SOURCE_DIR "/tests/redteam/cpu";
  int repeat = 1;
  bool load = false;
  bool unsandboxed = false;
  bool weak = false;
  bool list = false;
  std::vector<std::string> only;
  std::string json;
};

/// A busy loop on each core.
class Load {
 public:
  Load() {
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        std::atomic<unsigned> spins = 0;
        while (!stop.stop_requested()) ++spins;
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

/// The named cases with their twins; all where none is named.
Result<std::vector<Case>> chosen(std::vector<Case> all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Case> some;
  const auto named = [&](const Case& one) {
    return std::ranges::any_of(names, [&](const std::string& name) { return one.name == name; });
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

void print(const Row& row, bool verbose) {
  std::printf("%-8s %-16s %-28s %5.2f s  %s\n", name_of(row.standing), row.task.c_str(), row.name.c_str(),
              row.seconds, row.got.c_str());
  if (verbose || row.standing != Standing::held)
    std::printf("         must: %s\n         %s\n", row.must.c_str(), row.note.c_str());
}

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
    honest_not_accepted += row.honest && verdict && row.verdict != "accepted" ? 1 : 0;
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
          {"seconds", row.seconds}};
}

Result<Totals> run(const Options& options) {
  auto plants = Plants::create();
  if (!plants) return plants.error();
  auto all = load_cases(options.folder + "/cases", plants->places());
  if (!all) return all.error();
  const auto cases = chosen(std::move(*all), options.only);
  if (!cases) return cases.error();

  const Hold hold = options.unsandboxed ? Hold::unsandboxed : options.weak ? Hold::weak : Hold::full;
  std::optional<Load> load;
  if (options.load) load.emplace();
  Totals totals;
  auto rows = nlohmann::json::array();
  for (int round = 1; round <= options.repeat; ++round) {
    if (options.repeat > 1) std::printf("round %d of %d\n", round, options.repeat);
    for (const Row& row : run_round(options.folder + "/tasks", *cases, *plants, hold)) {
      totals.add(row);
      rows.push_back(to_json(row, round));
      if (round == 1 || row.standing == Standing::failed) print(row, !options.only.empty());
    }
    std::fflush(stdout);
  }
  if (!options.json.empty()) std::ofstream(options.json) << rows.dump(1) << "\n";
  return totals;
}

int list(const Options& options) {
  const auto cases = load_cases(options.folder + "/cases", {});
  if (!cases) return report(stderr, cases.error());
  for (const Case& one : *cases) std::puts(table_row(one).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("The red team against the cpu backend.");
  app.add_option("--cases", options.folder, "the folder with cases and tasks")->check(CLI::ExistingDirectory);
  app.add_option("--repeat", options.repeat, "rounds")->check(CLI::PositiveNumber);
  app.add_option("--case", options.only, "only these cases and their twins");
  app.add_option("--json", options.json, "write the rows to this file");
  app.add_flag("--load", options.load, "keep every core busy meanwhile");
  app.add_flag("--unsandboxed", options.unsandboxed, "let the tricks run free, to see that they work");
  app.add_flag("--weak", options.weak, "hold them as on a machine that lends no cgroup")
      ->excludes("--unsandboxed");
  app.add_flag("--list", options.list, "print the table of README.md and do nothing");
  CLI11_PARSE(app, argc, argv);

  if (options.list) return list(options);
  const auto totals = run(options);
  if (!totals) return report(stderr, totals.error());
  print(*totals);
  return totals->good(options.repeat) ? 0 : 1;
}
