// What the backend `python` costs for each evaluation, and how late it acts on a limit of 1 s: late_ms is the
// time from the limit to the answer, when no process of the program is left.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>

namespace {

namespace ks = kernelsmith;
namespace fs = std::filesystem;

constexpr double kLimitS = 1;

/// An evaluator that calls run() of the program, in a folder of its own.
class Bench {
 public:
  explicit Bench(bool sandbox) {
    std::string name = (fs::temp_directory_path() / "kernelsmith-bench-XXXXXX").string();
    if (!::mkdtemp(name.data())) std::abort();
    folder_ = name;
    fs::permissions(folder_, fs::perms{0755});  // as root, the sandbox runs as nobody
    std::ofstream(folder_ / "evaluator.py") << "def evaluate(path):\n    names = {}\n    "
                                               "exec(open(path).read(), names)\n    return names['run']()\n";
    ks::Task task;
    task.name = "bench";
    task.backend = "python";
    task.timeout_s = kLimitS;
    task.evaluator.path = (folder_ / "evaluator.py").string();
    ks::PythonSettings settings;
    settings.sandbox = sandbox;
    task.settings = settings_text(settings);
    ks::PythonOptions options;
    options.runs_at_a_time = 1;
    evaluator_ = ks::make_python_evaluator(std::move(task), options).value();
  }
  ~Bench() {
    evaluator_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  ks::Evaluation run(const std::string& program) {
    ks::EvaluationJob job;
    job.source = ks::Source::create({{"program.py", program}}).value();
    return ks::answer_of<ks::Evaluation>([&](auto done) { evaluator_->start(job, {}, std::move(done)); })
        .get()
        .value();
  }

 private:
  fs::path folder_;
  std::shared_ptr<ks::Evaluator> evaluator_;
};

void evaluate(benchmark::State& state, bool sandbox) {
  Bench bench(sandbox);
  for (auto _ : state) benchmark::DoNotOptimize(bench.run("def run(): return 1\n"));
}

void act_on_limit(benchmark::State& state, bool sandbox, const std::string& program) {
  Bench bench(sandbox);
  double late_ms = 0;
  for (auto _ : state) {
    const auto begun = std::chrono::steady_clock::now();
    const ks::Evaluation evaluation = bench.run(program);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    if (evaluation.accepted()) state.SkipWithError("it was accepted");
    late_ms = std::max(late_ms, (passed.count() - kLimitS) * 1000);
  }
  state.counters["late_ms"] = late_ms;
}

const std::string kHang = "def run():\n    while True: pass\n";
const std::string kTree =
    "import os, time\ndef run():\n    for _ in range(20):\n        if os.fork() == 0:\n            "
    "os.setsid()\n"
    "            time.sleep(1000)\n    time.sleep(1000)\n";

BENCHMARK_CAPTURE(evaluate, sandboxed, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(evaluate, unsandboxed, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(act_on_limit, spins_sandboxed, true, kHang)->Iterations(5)->UseRealTime();
BENCHMARK_CAPTURE(act_on_limit, spins_unsandboxed, false, kHang)->Iterations(5)->UseRealTime();
BENCHMARK_CAPTURE(act_on_limit, twenty_sessions_sandboxed, true, kTree)->Iterations(5)->UseRealTime();
BENCHMARK_CAPTURE(act_on_limit, twenty_sessions_unsandboxed, false, kTree)->Iterations(5)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
