// What the search itself costs for each evaluation: one add and one sample, on an island with 10,000 filled
// cells. An evaluation takes tens of milliseconds at least, so both must stay far below 100 us.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <kernelsmith/islands/archipelago.hpp>
#include <kernelsmith/islands/sampler.hpp>

namespace {

using namespace kernelsmith;

constexpr std::size_t kSide = 100;
constexpr std::size_t kCells = kSide * kSide;

Grid grid() {
  const LinearScale scale{0, kSide, kSide};
  return Grid::create({{"a", scale}, {"b", scale}}).value();
}

IndividualPtr individual(std::uint64_t id, double fitness, std::size_t cell) {
  auto program = std::make_shared<const Program>(Program{ProgramId{id}, {}, {}, Origin::edit});
  Metrics metrics = Metrics::create(Measurement::exact(fitness), {{"a", static_cast<double>(cell / kSide)},
                                                                  {"b", static_cast<double>(cell % kSide)}})
                        .value();
  return std::make_shared<const Individual>(
      Individual{std::move(program), Acceptance{std::move(metrics), {}}});
}

/// `count` individuals of random fitness from `base` to `base` + 1, one for each cell in a random order.
std::vector<IndividualPtr> generation(std::uint64_t number, double base) {
  Rng rng(1, number, Purpose::evaluation);
  std::vector<std::size_t> cells(kCells);
  for (std::size_t i = 0; i < kCells; ++i) cells[i] = i;
  rng.shuffle(std::span(cells));
  std::vector<IndividualPtr> individuals;
  for (const std::size_t cell : cells) {
    individuals.push_back(individual(number * kCells + individuals.size(), base + rng.uniform(), cell));
  }
  return individuals;
}

Island full_island() {
  Island island(grid());
  for (const auto& one : generation(0, 1)) island.add(one);
  return island;
}

/// Filling an empty archive of 10,000 cells; an item is one add.
void fill(benchmark::State& state) {
  const auto newcomers = generation(0, 1);
  for (auto _ : state) {
    Archive archive(grid());
    for (const auto& one : newcomers) benchmark::DoNotOptimize(archive.add(one));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCells));
}
BENCHMARK(fill)->Unit(benchmark::kMillisecond);

/// Every newcomer replaces the elite of its cell in a full archive; an item is one add.
void improve(benchmark::State& state) {
  const Island full = full_island();
  const auto newcomers = generation(1, 2);
  for (auto _ : state) {
    state.PauseTiming();
    Archive archive = full.archive();
    state.ResumeTiming();
    for (const auto& one : newcomers) benchmark::DoNotOptimize(archive.add(one));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCells));
}
BENCHMARK(improve)->Unit(benchmark::kMillisecond);

void sample(benchmark::State& state, MixtureOptions options) {
  const Island island = full_island();
  const MixtureSampler sampler = MixtureSampler::create(options).value();
  std::uint64_t ticket = 0;
  for (auto _ : state) {
    Rng rng(1, ++ticket, Purpose::sampling);
    benchmark::DoNotOptimize(sampler.sample(island, rng));
  }
}
BENCHMARK_CAPTURE(sample, mixture, MixtureOptions{})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sample, weighted_only, MixtureOptions{.explore = 0, .exploit = 0, .weighted = 1})
    ->Unit(benchmark::kMicrosecond);

/// One epoch of a ring of five islands, each with 10,000 elites, two migrants along each edge.
void migrate(benchmark::State& state) {
  Archipelago archipelago(grid(), Topology::ring(5).value());
  for (std::uint32_t island = 0; island < 5; ++island) {
    for (const auto& one : generation(island, 1)) archipelago.add({island}, one);
  }
  std::uint64_t epoch = 0;
  for (auto _ : state) benchmark::DoNotOptimize(archipelago.migrate(WeightedMigration(2), 1, ++epoch));
}
BENCHMARK(migrate)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
