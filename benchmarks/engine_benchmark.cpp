// What the engine itself costs for one iteration: the evaluator and the proposer do nothing. The archive has
// 1,000 cells on four islands, as a long run would; a program is a kernel-sized text.

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <kernelsmith/engine/engine.hpp>

#include "memory_journal.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kSourceBytes = 4000;

Source program(std::uint64_t number) {
  std::string text = std::to_string(number) + "\n";
  text.resize(kSourceBytes, 'x');
  return Source::create({{"kernel.cpp", std::move(text)}}).value();
}

Evaluation with_report(std::uint64_t number, Report report) {
  const double feature = static_cast<double>(number * 2654435761U % 1000);
  return Acceptance{Metrics::create(Measurement::exact(feature), {{"f", feature}}).value(),
                    std::move(report)};
}

Evaluation evaluation(std::uint64_t number) { return with_report(number, {}); }

/// As a backend that compiles gives it: every program has a binary of its own.
Evaluation compiled_evaluation(std::uint64_t number) {
  Report report;
  report.binary.emplace();
  std::memcpy(report.binary->bytes.data(), &number, sizeof number);
  return with_report(number, std::move(report));
}

EngineOptions options(std::uint64_t iterations) {
  EngineOptions options;
  options.budgets.iterations = iterations;
  options.seeds = {program(0)};
  options.axes = {{"f", LinearScale{0, 1000, 1000}}};
  options.topology = Topology::ring(4).value();
  return options;
}

/// A run folder that is gone with it.
class TemporaryRun {
 public:
  TemporaryRun()
      : path_(std::filesystem::temp_directory_path() / ("ks-engine-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~TemporaryRun() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryRun(const TemporaryRun&) = delete;
  TemporaryRun& operator=(const TemporaryRun&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void ask_and_tell(Engine engine, Evaluation (*evaluate)(std::uint64_t) = evaluation) {
  while (auto ticket = engine.ask().value()) {
    const auto id = ticket->id;
    if (std::holds_alternative<Evaluate>(ticket->work)) {
      engine.tell(id, evaluate(id.value)).value();
    } else {
      engine.tell(id, program(id.value), evaluate(id.value)).value();
    }
  }
}

void report_time(benchmark::State& state) {
  state.counters["per_iteration"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void ask_in_memory(benchmark::State& state, Evaluation (*evaluate)(std::uint64_t)) {
  for (auto _ : state) {
    auto journal = std::make_unique<testing::MemoryJournal>(testing::no_events());
    ask_and_tell(
        Engine::create(std::move(journal), options(static_cast<std::uint64_t>(state.range(0)))).value(),
        evaluate);
  }
  report_time(state);
}

void in_memory(benchmark::State& state) { ask_in_memory(state, evaluation); }
/// What the gate adds to it.
void in_memory_compiled(benchmark::State& state) { ask_in_memory(state, compiled_evaluation); }

void in_sqlite(benchmark::State& state) {
  for (auto _ : state) {
    const TemporaryRun run;
    ask_and_tell(Engine::open(run.path(), options(static_cast<std::uint64_t>(state.range(0)))).value());
  }
  report_time(state);
}

/// With the pools of blocking() and the threads' hand-overs.
void run_in_memory(benchmark::State& state) {
  for (auto _ : state) {
    auto journal = std::make_unique<testing::MemoryJournal>(testing::no_events());
    auto engine = Engine::create(
        std::move(journal), options(static_cast<std::uint64_t>(state.range(0))),
        blocking([](const EvaluationJob& job) { return evaluation(job.candidate.value); }),
        blocking([](const ProposalRequest& request) { return program(request.ticket.value); }));
    engine->run().value();
  }
  report_time(state);
}

BENCHMARK(in_memory)
    ->Arg(10)
    ->Arg(1000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(in_memory_compiled)->Arg(2000)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(run_in_memory)->Arg(2000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(in_sqlite)->Arg(2000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace kernelsmith

BENCHMARK_MAIN();
