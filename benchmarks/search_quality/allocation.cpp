// What further evaluations are expected to gain, against what they gained; and one budget that ten tasks
// share, handed out in equal parts or by that estimate. Writes both as CSV:
//
//   allocation --fit fit.json --gains gains.csv --shares shares.csv [--seeds 100] [--first-seed 1001]
//
// Equal arguments give equal files.
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <kernelsmith/engine/search_state.hpp>
#include <kernelsmith/suite/allocation.hpp>

#include "ours.hpp"

namespace kernelsmith::bench {
namespace {

/// Where the estimate is looked at: it is of as many evaluations again.
const std::vector<std::uint64_t> kMade = {5, 10, 20, 40, 80, 160};
/// Evaluations for each task, at the mean.
const std::vector<std::uint64_t> kRounds = {40, 200};

/// One search on one instance of a task.
class Search {
 public:
  Search(const NamedFamily& task, std::uint64_t seed, std::uint64_t most)
      : problem_(task.family->open(seed)), server_(*problem_, {most, {}}, seed), ours_(server_, seed) {}

  std::uint64_t made() const { return server_.curve().size(); }
  double score() const { return server_.score(); }
  bool step() { return ours_.step(); }
  void until(std::uint64_t evaluations) { ours_.until(evaluations); }

  std::vector<Improvement> improvements() const {
    std::vector<Improvement> found;
    ours_.engine().inspect([&](const SearchState& state) { found = state.improvements(); });
    return found;
  }

 private:
  std::unique_ptr<Problem> problem_;
  EvalServer server_;
  Ours ours_;
};

void write_gains(const NamedFamily& task, std::uint64_t seed, std::ofstream& out) {
  Search search(task, seed, 2 * kMade.back() + 1);  // the last one confirms
  std::map<std::uint64_t, double> expected, score;
  const auto note = [&] {
    const std::uint64_t made = search.made();
    score[made] = search.score();
    expected[made] = expected_log_gain(search.improvements(), made, made);
  };
  note();
  while (search.step()) note();
  for (const std::uint64_t made : kMade)
    out << task.kind << ',' << task.name << ',' << seed << ',' << made << ',' << expected.at(made) << ','
        << score.at(2 * made) - score.at(made) << '\n';
}

TaskStanding standing_of(const Search& search, std::uint64_t granted) {
  return {.granted = granted, .used = search.made(), .improvements = search.improvements()};
}

void write_shares(const std::vector<NamedFamily>& tasks, std::uint64_t rounds, std::uint64_t seed,
                  std::ofstream& out) {
  const auto write = [&](const char* how, std::size_t task, const Search& search) {
    out << how << ',' << rounds << ',' << seed << ',' << tasks[task].name << ',' << search.made() << ','
        << search.score() << '\n';
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Search search(tasks[i], seed, rounds);
    search.until(rounds);
    write("equal", i, search);
  }
  const Allocation allocation = adaptive_allocation(rounds, tasks.size());
  std::vector<std::unique_ptr<Search>> searches;
  for (const auto& task : tasks) searches.push_back(std::make_unique<Search>(task, seed, allocation.total));
  std::vector<TaskStanding> standings(tasks.size());
  while (const auto grant = next_grant(standings, allocation)) {
    searches[grant->task]->until(grant->evaluations);
    standings[grant->task] = standing_of(*searches[grant->task], grant->evaluations);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) write("adaptive", i, *searches[i]);
}

void run(std::map<std::string, std::string> options) {
  const auto number = [&](const char* name, std::uint64_t otherwise) {
    return options.contains(name) ? std::stoull(options.at(name)) : otherwise;
  };
  const std::uint64_t first = number("--first-seed", 1001), end = first + number("--seeds", 100);
  std::ofstream gains(options.at("--gains")), shares(options.at("--shares"));
  gains << "kind,task,seed,made,expected,actual\n";
  shares << "how,rounds,seed,task,evaluations,score\n";
  auto tasks = fitted_tasks(options.at("--fit"));
  for (std::uint64_t seed = first; seed < end; ++seed)
    for (const auto& task : tasks) write_gains(task, seed, gains);
  std::erase_if(tasks, [](const NamedFamily& task) { return task.kind != "kernel"; });
  for (const std::uint64_t rounds : kRounds)
    for (std::uint64_t seed = first; seed < end; ++seed) write_shares(tasks, rounds, seed, shares);
}

}  // namespace
}  // namespace kernelsmith::bench

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    kernelsmith::bench::run(std::move(options));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allocation: %s\n", error.what());
    return 2;
  }
}
