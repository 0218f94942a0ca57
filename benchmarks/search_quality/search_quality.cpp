// Runs every arm on every task, budget and seed, and writes one line for each search:
//
//   search_quality --fit fit.json --out results.csv [--curves curves.csv] [--seeds 100] [--first-seed 1]
//                  [--evaluations 40,200] [--arms ours,best-of-N] [--tasks l2-p18]
//                  [--in-flight 1,16]
//   search_quality --recorded FOLDER --spaces choose|confirm [--worlds plain,kernels,structures]
//                  [--start seed,none] --out ...   in the worlds of recorded spaces, in place of the fitted
//                  tasks
//   search_quality --variants true      names the variants of the default, for --arms
//
// Equal arguments give equal files.
#include <algorithm>
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

struct Settings {
  std::string fit, recorded, out, curves;
  SpaceGroup spaces = SpaceGroup::choose;
  std::uint64_t seeds = 100, first_seed = 1;
  std::vector<std::string> arms, tasks, worlds;  ///< none: all
  std::vector<std::string> starts{"seed"};
  std::vector<std::size_t> evaluations, in_flight{1};
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

bool named(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<Arm> chosen_arms(const std::vector<std::string>& names) {
  if (names.empty()) return arms();
  auto all = arms();
  for (auto& one : variants()) all.push_back(std::move(one));
  std::erase_if(all, [&](const Arm& arm) { return !named(names, arm.name); });
  return all;
}

std::vector<std::size_t> numbers(const std::string& list) {
  std::vector<std::size_t> found;
  for (const auto& part : split(list)) found.push_back(std::stoull(part));
  return found;
}

SpaceGroup group_named(const std::string& name) {
  if (name == "choose") return SpaceGroup::choose;
  if (name == "confirm") return SpaceGroup::confirm;
  throw std::invalid_argument("--spaces is choose or confirm, not " + name);
}

Settings settings_from(const std::map<std::string, std::string>& options) {
  Settings settings;
  for (const auto& [name, value] : options) {
    if (name == "--fit")
      settings.fit = value;
    else if (name == "--recorded")
      settings.recorded = value;
    else if (name == "--spaces")
      settings.spaces = group_named(value);
    else if (name == "--worlds")
      settings.worlds = split(value);
    else if (name == "--start")
      settings.starts = split(value);
    else if (name == "--in-flight")
      settings.in_flight = numbers(value);
    else if (name == "--out")
      settings.out = value;
    else if (name == "--curves")
      settings.curves = value;
    else if (name == "--seeds")
      settings.seeds = std::stoull(value);
    else if (name == "--first-seed")
      settings.first_seed = std::stoull(value);
    else if (name == "--arms")
      settings.arms = split(value);
    else if (name == "--tasks")
      settings.tasks = split(value);
    else if (name == "--evaluations")
      settings.evaluations = numbers(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  if ((settings.fit.empty() && settings.recorded.empty()) || settings.out.empty() ||
      settings.evaluations.empty())
    throw std::invalid_argument("--fit or --recorded, --out and --evaluations are needed");
  return settings;
}

double area(const std::vector<double>& curve) {
  double sum = 0;
  for (const double point : curve) sum += point;
  return sum / static_cast<double>(curve.size());
}

/// What a search is told beside its task and seed.
struct Setting {
  std::size_t budget;
  std::string start;
  std::size_t in_flight;
};

class Writer {
 public:
  explicit Writer(const Settings& settings) : out_(settings.out) {
    out_ << "kind,task,arm,budget,start,in_flight,seed,score,area,evaluations,regret,qd,"
            "coverage,seen\n";
    if (!settings.curves.empty()) curves_.open(settings.curves);
    if (curves_.is_open()) curves_ << "kind,task,arm,budget,evaluation,progress\n";
  }

  void search(const NamedFamily& task, const Arm& arm, const Setting& setting, std::uint64_t seed) {
    const auto problem = task.family->open(seed);
    EvalServer server(*problem, setting.budget, seed, setting.in_flight);
    arm.search(server, seed);
    const auto structures = static_cast<double>(std::max<std::size_t>(1, problem->structures()));
    out_ << place(task, arm, setting.budget) << setting.start << ',' << setting.in_flight << ',' << seed
         << ',' << server.score() << ',' << area(server.curve()) << ',' << server.curve().size() << ','
         << problem->highest() - server.score() << ',' << server.qd_score() << ','
         << static_cast<double>(server.filled()) / structures << ',' << server.seen() << '\n';
    if (sums_.size() < server.curve().size()) sums_.resize(server.curve().size());
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i] += server.curve()[std::min(i, server.curve().size() - 1)];
  }

  void end_of_seeds(const NamedFamily& task, const Arm& arm, std::size_t budget, std::uint64_t seeds) {
    if (curves_.is_open())
      for (std::size_t i = 0; i < sums_.size(); ++i)
        curves_ << place(task, arm, budget) << i + 1 << ',' << sums_[i] / static_cast<double>(seeds) << '\n';
    sums_.clear();
  }

 private:
  static std::string place(const NamedFamily& task, const Arm& arm, std::size_t budget) {
    return task.kind + ',' + task.name + ',' + arm.name + ',' + std::to_string(budget) + ',';
  }

  std::ofstream out_, curves_;
  std::vector<double> sums_;
};

std::vector<NamedFamily> tasks_of(const Settings& settings, const RecordedSpaces& spaces,
                                  const std::string& start) {
  if (!settings.recorded.empty()) return world_tasks(spaces, settings.spaces, start == "seed");
  return fitted_tasks(settings.fit);
}

void run(const Settings& settings) {
  const auto spaces =
      settings.recorded.empty() ? RecordedSpaces{} : read_spaces(settings.recorded, settings.spaces);
  Writer writer(settings);
  for (const auto& start : settings.starts) {
    for (const auto& task : tasks_of(settings, spaces, start)) {
      if (!settings.tasks.empty() && !named(settings.tasks, task.name)) continue;
      if (!settings.worlds.empty() && !named(settings.worlds, task.kind)) continue;
      for (const auto& arm : chosen_arms(settings.arms)) {
        for (const std::size_t budget : settings.evaluations) {
          for (const std::size_t in_flight : settings.in_flight) {
            for (std::uint64_t seed = 0; seed < settings.seeds; ++seed)
              writer.search(task, arm, {budget, start, in_flight}, settings.first_seed + seed);
            writer.end_of_seeds(task, arm, budget, settings.seeds);
          }
        }
      }
    }
  }
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
    kernelsmith::bench::run(kernelsmith::bench::settings_from(options));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_quality: %s\n", error.what());
    return 2;
  }
}
