// Evaluates every case of tests/redteam/cpu and compares what happened with what the case declares. README.md
// beside this file explains the cases; `redteam_cpu --help` the options.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <kernelsmith/evaluator_command/command_evaluator.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>

#include "case_file.hpp"
#include "plants.hpp"
#include "round.hpp"
#include "summary.hpp"

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

/// Where nothing is right within the time that a compiler has. Elsewhere a busy machine must not cut it
/// short.
constexpr std::string_view kBombs = "bombs";
constexpr double kBombCompileS = 4, kCompileS = 30;

Result<std::shared_ptr<Evaluator>> make_evaluator(const Task& task, const Options& asked) {
  if (task.backend == "command") {
    CommandOptions options;
    options.unsandboxed = asked.unsandboxed;
    return make_command_evaluator(task, options);
  }
  CpuOptions options;
  options.unsandboxed = asked.unsandboxed;
  options.without_cgroup = asked.weak;
  options.bank_bytes = std::size_t{96} << 20;
  options.bank_seconds = 1;
  options.compile_timeout_s = task.name == kBombs ? kBombCompileS : kCompileS;
  return make_cpu_evaluator(task, options);
}

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

Result<Totals> run(const Options& options) {
  auto plants = Plants::create();
  if (!plants) return plants.error();
  auto all = load_cases(options.folder + "/cases", plants->places());
  if (!all) return all.error();
  const auto cases = chosen(std::move(*all), options.only);
  if (!cases) return cases.error();

  const Attack attack{[&options](const Task& task) { return make_evaluator(task, options); },
                      options.weak ? "full" : "", false};
  std::optional<Load> load;
  if (options.load) load.emplace();
  Totals totals;
  auto rows = nlohmann::json::array();
  for (int round = 1; round <= options.repeat; ++round) {
    if (options.repeat > 1) std::printf("round %d of %d\n", round, options.repeat);
    for (const Row& row : run_round(options.folder + "/tasks", *cases, *plants, attack)) {
      totals.add(row);
      rows.push_back(to_json(row, round));
      if (round == 1 || row.standing == Standing::failed) print(row, !options.only.empty());
    }
    std::fflush(stdout);
  }
  if (!options.json.empty()) std::ofstream(options.json) << rows.dump(1) << "\n";
  return totals;
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

  if (options.list) return list_cases(options.folder);
  const auto totals = run(options);
  if (!totals) return report(stderr, totals.error());
  print(*totals);
  return totals->good(options.repeat) ? 0 : 1;
}
