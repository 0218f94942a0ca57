// Runs every arm on every task, budget and seed, and writes one line for each search:
//
//   search_quality --recorded FOLDER --spaces choose|confirm ...    in the worlds of recorded spaces
//   search_quality --fit fit.json ...                               on the fitted tasks
//       --out results.csv [--curves curves.csv] [--evaluations 40,200,1000] [--seeds 20] [--first-seed 1]
//       [--in-flight 1,16] [--start seed,none] [--arms ours,best-of-N] [--worlds plain,kernels] [--tasks
//       l2-p18]
//   search_quality --variants true      names the variants of the default, for --arms
//
// FOLDER is what tuning_spaces.py --unpack made. Equal arguments give equal files.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "arms.hpp"
#include "worlds.hpp"

namespace kernelsmith::bench {
namespace {

using Names = std::vector<std::string>;

Names split(const std::string& list) {
  Names parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<std::size_t> numbers(const std::string& list) {
  std::vector<std::size_t> found;
  for (const auto& part : split(list)) found.push_back(std::stoull(part));
  return found;
}

/// Whether an empty list, which stands for all, or another one names it.
bool named(const Names& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

SpaceGroup group_named(const std::string& name) {
  if (name == "choose") return SpaceGroup::choose;
  if (name == "confirm") return SpaceGroup::confirm;
  throw std::invalid_argument("--spaces is choose or confirm, not " + name);
}

class Settings {
 public:
  explicit Settings(std::map<std::string, std::string> options) : options_(std::move(options)) {
    fit = take("--fit", "");
    recorded = take("--recorded", "");
    out = take("--out", "");
    curves = take("--curves", "");
    spaces = group_named(take("--spaces", "choose"));
    seeds = std::stoull(take("--seeds", "20"));
    first_seed = std::stoull(take("--first-seed", "1"));
    evaluations = numbers(take("--evaluations", "40,200,1000"));
    in_flight = numbers(take("--in-flight", "1"));
    starts = split(take("--start", "seed"));
    arms = split(take("--arms", ""));
    worlds = split(take("--worlds", ""));
    tasks = split(take("--tasks", ""));
    if (!options_.empty()) throw std::invalid_argument("unknown option " + options_.begin()->first);
    if (fit.empty() == recorded.empty() || out.empty())
      throw std::invalid_argument("--out and one of --fit and --recorded are needed");
  }

  std::string fit, recorded, out, curves;
  SpaceGroup spaces;
  std::uint64_t seeds, first_seed;
  std::vector<std::size_t> evaluations, in_flight;
  Names starts, arms, worlds, tasks;

 private:
  std::string take(const char* name, const char* otherwise) {
    const auto found = options_.extract(name);
    return found.empty() ? otherwise : found.mapped();
  }

  std::map<std::string, std::string> options_;
};

std::vector<Arm> chosen_arms(const Names& names) {
  if (names.empty()) return arms();
  auto all = arms();
  for (auto& one : variants()) all.push_back(std::move(one));
  std::erase_if(all, [&](const Arm& arm) { return !named(names, arm.name); });
  return all;
}

/// What searches have in common that differ in their seed alone.
struct Cell {
  const BenchTask& task;
  const Arm& arm;
  std::size_t budget, in_flight;
  const std::string& start;
};

class Writer {
 public:
  explicit Writer(const Settings& settings) : out_(settings.out) {
    out_ << "kind,task,arm,budget,start,in_flight,seed,score,evaluations,regret,qd,coverage,seen\n";
    if (!settings.curves.empty()) curves_.open(settings.curves);
    if (curves_.is_open()) curves_ << "kind,task,arm,budget,start,in_flight,evaluation,progress\n";
  }

  void search(const Cell& cell, std::uint64_t first_seed, std::uint64_t seeds) {
    std::vector<double> sums;
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      const auto problem = cell.task.open(seed);
      EvalServer server(*problem, cell.budget, seed, cell.in_flight);
      cell.arm.search(server, seed);
      write(cell, seed, server);
      const auto& curve = server.curve();
      if (sums.size() < curve.size()) sums.resize(curve.size());
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += curve[std::min(i, curve.size() - 1)];
    }
    for (std::size_t i = 0; curves_.is_open() && i < sums.size(); ++i)
      curves_ << place(cell) << i + 1 << ',' << sums[i] / static_cast<double>(seeds) << '\n';
  }

 private:
  void write(const Cell& cell, std::uint64_t seed, const EvalServer& server) {
    const auto structures = static_cast<double>(std::max<std::size_t>(1, server.problem().structures()));
    out_ << place(cell) << seed << ',' << server.score() << ',' << server.curve().size() << ','
         << server.problem().highest() - server.score() << ',' << server.qd_score() << ','
         << static_cast<double>(server.filled()) / structures << ',' << server.seen() << '\n';
  }

  static std::string place(const Cell& cell) {
    return cell.task.kind + ',' + cell.task.name + ',' + cell.arm.name + ',' + std::to_string(cell.budget) +
           ',' + cell.start + ',' + std::to_string(cell.in_flight) + ',';
  }

  std::ofstream out_, curves_;
};

void run(const Settings& settings) {
  RecordedSpaces spaces;
  if (!settings.recorded.empty()) spaces = read_spaces(settings.recorded, settings.spaces);
  Writer writer(settings);
  for (const auto& start : settings.starts)
    for (const auto& task :
         spaces.empty() ? fitted_tasks(settings.fit) : world_tasks(spaces, settings.spaces, start == "seed"))
      for (const auto& arm : chosen_arms(settings.arms))
        for (const std::size_t budget : settings.evaluations)
          for (const std::size_t in_flight : settings.in_flight)
            if (named(settings.tasks, task.name) && named(settings.worlds, task.kind))
              writer.search({task, arm, budget, in_flight, start}, settings.first_seed, settings.seeds);
}

}  // namespace
}  // namespace kernelsmith::bench

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    if (options.contains("--variants")) {
      for (const char* comma = ""; const auto& arm : kernelsmith::bench::variants()) {
        std::printf("%s%s", comma, arm.name.c_str());
        comma = ",";
      }
      return 0;
    }
    kernelsmith::bench::run(kernelsmith::bench::Settings(std::move(options)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_quality: %s\n", error.what());
    return 2;
  }
}
