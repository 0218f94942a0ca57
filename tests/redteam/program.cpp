#include "program.hpp"

#include <cstdio>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "plants.hpp"
#include "summary.hpp"

namespace kernelsmith::redteam {
namespace {

Result<Totals> run_rounds(const ProgramOptions& options, const Attack& attack) {
  auto plants = Plants::create();
  if (!plants) return plants.error();
  auto all = load_cases(options.folder + "/cases", plants->places());
  if (!all) return all.error();
  auto cases = chosen(std::move(*all), options.only);
  if (!cases) return cases.error();
  if (options.third && options.only.empty()) cases = third_of(std::move(*cases), *options.third);

  Totals totals;
  auto rows = nlohmann::json::array();
  for (int round = 1; round <= options.repeat; ++round) {
    if (options.repeat > 1) std::printf("round %d of %d\n", round, options.repeat);
    run_round(options.folder + "/tasks", *cases, *plants, attack, [&](const Row& row) {
      totals.add(row);
      rows.push_back(to_json(row, round));
      if (round == 1 || row.standing == Standing::failed) print(row, !options.only.empty());
      std::fflush(stdout);
    });
  }
  if (!options.json.empty()) std::ofstream(options.json) << rows.dump(1) << "\n";
  return totals;
}

}  // namespace

void ProgramOptions::add_to(CLI::App& app) {
  app.add_option("--cases", folder, "the folder with cases and tasks")->check(CLI::ExistingDirectory);
  app.add_option("--repeat", repeat, "rounds")->check(CLI::PositiveNumber);
  app.add_option("--case", only, "only these cases and their twins: names, or patterns as extension_*");
  app.add_option("--third", third, "only every third task, from this one on: 0, 1 or 2")
      ->check(CLI::Range(0, 2))
      ->envname("KERNELSMITH_REDTEAM_THIRD");
  app.add_option("--json", json, "write the rows to this file");
  app.add_flag("--list", list, "print a table of the cases and do nothing");
}

int run_program(const ProgramOptions& options, const Attack& attack) {
  if (options.list) return list_cases(options.folder);
  const auto totals = run_rounds(options, attack);
  if (!totals) return report(stderr, totals.error());
  print(*totals);
  return totals->good(options.repeat) ? 0 : 1;
}

}  // namespace kernelsmith::redteam
