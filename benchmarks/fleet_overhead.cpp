// What the fleet costs beside the embedded evaluator: the same jobs, with evaluations that take no time,
// through a thread pool and through a nats-server with workers of this process.
//
//   fleet_overhead            (needs nats-server)
//
// `one at a time` is the latency of a job; `64 in flight` the throughput.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include <benchmark/benchmark.h>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/fleet/fleet_evaluator.hpp>
#include <kernelsmith/fleet/worker.hpp>

#include "nats_server.hpp"

namespace kernelsmith {
namespace {

constexpr unsigned kSlots = 4;

Task task() {
  Task task;
  task.name = "instant";
  task.backend = "instant";
  task.digest = task_digest(task);
  return task;
}

/// A kernel of 4 KB, whose fitness is its number.
EvaluationJob job(std::uint64_t candidate) {
  EvaluationJob job;
  job.run = "benchmark";
  job.candidate = {candidate};
  job.task = task().digest;
  job.source = Source::create({{"kernel.cpp", std::string(4096, 'x')}}).value();
  return job;
}

std::shared_ptr<Evaluator> instant() {
  return blocking([](const EvaluationJob& of) { return static_cast<double>(of.candidate.value); }, kSlots);
}

/// A server, a worker and a coordinator of this process.
class LocalFleet {
 public:
  LocalFleet() : evaluator_(make()) {}
  ~LocalFleet() { evaluator_.reset(); }
  LocalFleet(const LocalFleet&) = delete;
  LocalFleet& operator=(const LocalFleet&) = delete;
  Evaluator& evaluator() { return *evaluator_; }

 private:
  std::shared_ptr<Evaluator> make() {
    WorkerOptions worker;
    worker.server = parse_fleet_server(server_.url()).value();
    worker.name = "benchmark";
    worker.backends = {{"instant", "", kSlots, [](const Task&) { return instant(); }}};
    worker_ = std::jthread([worker](const std::stop_token& stop) { (void)run_worker(worker, stop); });
    FleetOptions options;
    options.server = worker.server;
    return make_fleet_evaluator(task(), options).value();
  }

  testing::NatsServer server_;
  std::jthread worker_;
  std::shared_ptr<Evaluator> evaluator_;
};

/// Keeps `in_flight` jobs under way for the benchmark's iterations.
void drive(benchmark::State& state, Evaluator& evaluator) {
  static std::uint64_t next = 0;
  const auto in_flight = static_cast<std::uint64_t>(state.range(0));
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t flying = 0, failed = 0;
  const auto start = [&] {
    evaluator.start(job(next++), {}, [&](const Result<Evaluation>& answer) {
      const std::lock_guard lock(mutex);
      --flying;
      failed += answer ? 0 : 1;
      changed.notify_all();
    });
  };
  for (auto _ : state) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return flying < in_flight; });
    ++flying;
    lock.unlock();
    start();
    if (in_flight > 1) continue;
    lock.lock();
    changed.wait(lock, [&] { return flying == 0; });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return flying == 0; });
  if (failed > 0) state.SkipWithError("evaluations failed");
  state.SetItemsProcessed(state.iterations());
}

void embedded(benchmark::State& state) {
  const auto evaluator = instant();
  drive(state, *evaluator);
}

void fleet(benchmark::State& state) {
  if (!testing::NatsServer::is_installed()) return state.SkipWithError("nats-server is not installed");
  static LocalFleet local;
  drive(state, local.evaluator());
}

BENCHMARK(embedded)->Arg(1)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(fleet)->Arg(1)->Arg(64)->UseRealTime()->MinTime(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kernelsmith

BENCHMARK_MAIN();
