// How many evaluations the tuner's search needs to come within 5 % of a recorded space's optimum, and random
// search on the same space: one JSON line for each run, as tuning_kernel_tuner.py writes them.
//
//   tuning_benchmark NAME CACHE.json [REPEATS [CAP [DRAWS]]]
//
// DRAWS: a point costs the mean of as many of its recorded repeats; 0 (the default) the recorded mean, which
// is what Kernel Tuner's simulation gives.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tuning_cache.hpp"

namespace {

using namespace kernelsmith;

// Ticket numbers tell the streams of proposals apart, as they do in a run.
std::size_t search(const bench::RecordedSpace& recorded, std::uint64_t seed, std::size_t cap,
                   std::size_t draws) {
  std::vector<TuningObservation> seen;
  while (seen.size() < cap) {
    Rng rng(seed, seen.size(), Purpose::proposal);
    const auto point = next_point(recorded.space(), seen, rng);
    if (!point) break;
    Rng measurement(seed, seen.size(), Purpose::evaluation);
    seen.push_back(recorded.observe(*point, draws, measurement));
    if (recorded.near_optimum(*point)) return seen.size();
  }
  return 0;
}

std::size_t random_search(const bench::RecordedSpace& recorded, std::uint64_t seed, std::size_t cap) {
  TuningSpace::Set seen;
  Rng rng(seed, 0, Purpose::proposal);
  while (seen.size() < cap) {
    const TuningPoint point = recorded.space().random(rng);
    if (seen.insert(point).second && recorded.near_optimum(point)) return seen.size();
  }
  return 0;
}

void print(const std::string& space, const char* strategy, std::uint64_t seed, std::size_t found,
           std::size_t cap) {
  std::printf(R"({"space": "%s", "strategy": "%s", "seed": %lu, "found": %s, "cap": %zu})"
              "\n",
              space.c_str(), strategy, static_cast<unsigned long>(seed),
              found == 0 ? "null" : std::to_string(found).c_str(), cap);
  std::fflush(stdout);
}

std::size_t number(int argc, char** argv, int i, std::size_t otherwise) {
  return i < argc ? std::strtoul(argv[i], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: tuning_benchmark NAME CACHE.json [REPEATS [CAP [DRAWS]]]\n";
    return 2;
  }
  std::ifstream file(argv[2]);
  const auto recorded = bench::RecordedSpace::read({std::istreambuf_iterator<char>(file), {}});
  if (!recorded) {
    std::cerr << argv[2] << ": " << describe(recorded.error()) << '\n';
    return 1;
  }
  const auto repeats = number(argc, argv, 3, 100);
  const auto cap = std::min<std::size_t>(number(argc, argv, 4, 2000), recorded->space().size());
  const auto draws = number(argc, argv, 5, 0);
  std::size_t evaluations = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = 0; seed < repeats; ++seed) {
    const auto found = search(*recorded, seed, cap, draws);
    evaluations += found == 0 ? cap : found;
    print(argv[1], draws == 0 ? "kernelsmith" : "kernelsmith, noisy", seed, found, cap);
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  std::cerr << argv[1] << ": " << spent.count() / static_cast<double>(evaluations) << " ms a proposal\n";
  if (draws == 0) {
    for (std::uint64_t seed = 0; seed < repeats; ++seed) {
      print(argv[1], "random", seed, random_search(*recorded, seed, cap), cap);
    }
  }
  return 0;
}
