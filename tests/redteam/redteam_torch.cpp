// Evaluates every case of tests/redteam/torch and compares what happened with what the case declares.
// README.md beside this file explains the cases; `redteam_torch --help` the options.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <kernelsmith/evaluator_torch/torch_evaluator.hpp>

#include "case_file.hpp"
#include "plants.hpp"
#include "round.hpp"
#include "summary.hpp"

namespace {

using namespace kernelsmith;
using namespace kernelsmith::redteam;

struct Options {
  std::string folder = KERNELSMITH_SOURCE_DIR "/tests/redteam/torch";
  int repeat = 1;
  bool plan = false;
  bool list = false;
  std::vector<std::string> only;
  std::string json;
  int device = 0;
};

/// No machine has so many GPUs: it is there that nothing can be run.
constexpr int kNoDevice = 1 << 20;

Result<std::shared_ptr<Evaluator>> make_evaluator(const Task& task, const Options& asked) {
  TorchOptions options;
  options.device = asked.plan ? kNoDevice : asked.device;
  return make_torch_evaluator(task, options);
}

Result<Totals> run(const Options& options) {
  auto plants = Plants::create();
  if (!plants) return plants.error();
  auto all = load_cases(options.folder + "/cases", plants->places());
  if (!all) return all.error();
  const auto cases = chosen(std::move(*all), options.only);
  if (!cases) return cases.error();

  Attack attack;
  attack.backends = {{"torch", describe_torch_backend()}};
  attack.make_evaluator = [&options](const Task& task) { return make_evaluator(task, options); };
  attack.plan_only = options.plan;
  // Two planners, and a candidate on the device.
  attack.at_once = 3;
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
  CLI::App app("The red team against the torch backend.");
  app.add_option("--cases", options.folder, "the folder with cases and tasks")->check(CLI::ExistingDirectory);
  app.add_option("--repeat", options.repeat, "rounds")->check(CLI::PositiveNumber);
  app.add_option("--case", options.only, "only these cases and their twins");
  app.add_option("--json", options.json, "write the rows to this file");
  app.add_option("--device", options.device, "the GPU, as CUDA counts them");
  app.add_flag("--plan", options.plan, "only plan: needs no GPU");
  app.add_flag("--list", options.list, "print the table of README.md and do nothing");
  CLI11_PARSE(app, argc, argv);

  if (options.list) return list_cases(options.folder);
  const auto totals = run(options);
  if (!totals) return report(stderr, totals.error());
  print(*totals);
  return totals->good(options.repeat) ? 0 : 1;
}
