// What the engine itself costs for one program of a run, by how many programs the run has: ask() and tell()
// of an engine that has the options of a run, made by the same functions, over a run folder. Models,
// compilers and kernels do nothing. The command's arguments are those of Google Benchmark; TMPDIR says where
// the folder is, which grows to 4 GB with a million programs.

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <kernelsmith/session/session.hpp>

namespace kernelsmith {
namespace {

/// Whose search it is.
struct Kind {
  const char* settings;
  std::size_t knobs, values;  ///< of its programs: how many, and each one's values
};
/// What `run --model` sets (src/cli/run_options.cpp).
constexpr Kind kModel{
    "proposer: {kind: chat, base_url: 'http://127.0.0.1:9', models: [{name: m}]}\n"
    "limits: {repairs: 2, tunings: 4}\n",
    2, 5};
/// The same with a grid of a million cells, over which the programs are spread.
constexpr Kind kLargeGrid{
    "proposer: {kind: chat, base_url: 'http://127.0.0.1:9', models: [{name: m}]}\n"
    "limits: {repairs: 2, tunings: 4}\n"
    "archive: {axes: [{feature: x, low: 0, high: 1, bins: 1000}, {feature: y, low: 0, high: 1, bins: "
    "1000}]}\n",
    2, 5};
/// What needs no setting. Its knobs have a point for every program.
constexpr Kind kTuner{"limits: {repairs: 0}\n", 5, 16};

/// Bytes of a program. The time that it takes to read one goes by them.
constexpr std::size_t kBytes = 1000;

/// How many programs' calls are measured at each size.
constexpr std::uint64_t kMeasured = 1000;

/// A kernel whose structure is `number`'s, at the point `knobs`.
Source kernel(const Kind& kind, std::uint64_t number, std::uint64_t knobs) {
  std::string text = "// EVOLVE-BLOCK-START\n";
  for (std::size_t i = 0; i < kind.knobs; ++i, knobs /= kind.values) {
    text += "constexpr int k" + std::to_string(i) + " = " + std::to_string(1 + knobs % kind.values) +
            ";  // @tune";
    for (std::size_t value = 1; value <= kind.values; ++value) text += " " + std::to_string(value);
    text += "\n";
  }
  text += "void kernel(const float* x, float* y, long n) {\n  const float scale = " + std::to_string(number) +
          ";\n";
  for (std::uint64_t i = 0; i < 1 + number % 8; ++i)
    text +=
        "  for (long i = 0; i < n; i += k0) {\n    if (x[i] > scale) y[i] = x[i] * scale + y[i - 1];\n  }\n";
  while (text.size() < kBytes)
    text += "  // accumulates in registers, four rows at a time\n  y[0] += x[0] * k0;\n";
  text += "}\n// EVOLVE-BLOCK-END\n";
  return Source::create({{"kernel.cpp", std::move(text)}}).value();
}

Task task(const Kind& kind) {
  Task task;
  task.name = "benchmark";
  task.backend = "cpu";
  task.reference = task.seed = kernel(kind, 0, 0);
  return task;
}

double processor_us() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

/// Adds up what calls of `function` take.
template <class Answer, class... Arguments>
void add_up(std::function<Answer(Arguments...)>& function, double& us) {
  function = [called = std::move(function), &us](Arguments... arguments) {
    const double began = processor_us();
    Answer answer = called(arguments...);
    us += processor_us() - began;
    return answer;
  };
}

/// Those of a run. What reading programs takes (tokens, knobs, features) is added up.
EngineOptions options_of(const Kind& kind, double& reading_us) {
  const Registry registry = default_registry();
  const Task searched = task(kind);
  RunConfig config = default_config(searched, registry).value();
  read_config(kind.settings, "run.yaml", registry, config).value();
  config.budgets.iterations = config.budgets.evaluations = 1'000'000'000;
  set_default_axes(searched, config);
  EngineOptions options = engine_options(searched, config).value();
  add_up(options.fingerprint, reading_us);
  add_up(options.knobs, reading_us);
  add_up(options.describe, reading_us);
  return options;
}

/// Every third is rejected. The others are a little better or worse than their parent, the less the closer it
/// is to thirty times the seed.
Evaluation verdict(ProgramId program, const IndividualPtr& parent) {
  Rng rng(1, program.value, Purpose::evaluation);
  Report report;
  report.binary = digest_of(std::to_string(program.value));
  if (program.value % 3 == 2)
    return Rejection{Stage::compile, RejectionCode::compile_failed, "kernel.cpp:3: error", std::move(report)};
  const Metrics* before = parent ? parent->evaluation.metrics() : nullptr;
  const double speed = before ? before->fitness().median : 1;
  const double fitness = speed * std::exp(0.1 * std::log(30 / speed) * (rng.normal() - 1));
  return Acceptance{Metrics::create({fitness, 0.99 * fitness, 1.01 * fitness, 5, "x"},
                                    {{"x", rng.uniform()}, {"y", rng.uniform()}})
                        .value(),
                    std::move(report)};
}

/// A run folder's journal, which adds up what it takes.
class TimedJournal final : public Journal {
 public:
  explicit TimedJournal(const std::filesystem::path& folder) : store_(RunStore::create(folder, "").value()) {}

  Status append(std::span<const Event> events) override {
    const double began = processor_us();
    Status appended = store_->append(events);
    us_ += processor_us() - began;
    return appended;
  }
  Status replay(std::uint64_t after,
                const std::function<Status(std::uint64_t, const Event&)>& visit) const override {
    const double began = processor_us();
    Status replayed = store_->replay(after, visit);
    us_ += processor_us() - began;
    return replayed;
  }
  double us() const { return us_; }

 private:
  std::unique_ptr<RunStore> store_;
  mutable double us_ = 0;
};

double resident_bytes() {
  double pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double mean(const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum / static_cast<double>(times.size());
}

double percentile(std::vector<double> times, double share) {
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
  std::ranges::nth_element(times, at);
  return *at;
}

/// What calls took: the search itself, reading programs, and the journal.
struct Times {
  std::vector<double> search, reading, journal;
};

/// A search that goes on from one size to the next.
class Search {
 public:
  explicit Search(const Kind& kind)
      : kind_(kind),
        folder_(std::filesystem::temp_directory_path() / ("ks-engine-" + std::to_string(::getpid()))),
        before_(resident_bytes()) {
    auto journal = std::make_unique<TimedJournal>(folder_);
    journal_ = journal.get();
    engine_.emplace(
        Engine::create(std::move(journal), options_of(kind, reading_us_), nullptr, nullptr).value());
  }
  ~Search() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  template <class Call>
  auto timed(Times& times, const Call& call) {
    const double began = processor_us(), read = reading_us_, journalled = journal_->us();
    auto answer = call();
    times.reading.push_back(reading_us_ - read);
    times.journal.push_back(journal_->us() - journalled);
    times.search.push_back(processor_us() - began - times.reading.back() - times.journal.back());
    return answer;
  }

  void grow_to(std::uint64_t programs) {
    while (programs_ < programs) step();
    asks = tells = {};
  }

  void step() {
    const auto ticket = timed(asks, [&] { return engine_->ask().value().value(); });
    Child child{kernel(kind_, 0, 0), Origin::seed, {}};
    IndividualPtr parent;
    if (const auto* propose = std::get_if<Propose>(&ticket.work)) {
      parent = propose->selection.parent;
      const bool tunes = propose->op == Operator::tune;
      child = {
          tunes ? kernel(kind_, structure_of(parent), ticket.id.value) : kernel(kind_, ticket.id.value, 0),
          tunes ? Origin::tune : Origin::rewrite,
          {parent->program->id}};
    }
    const Evaluation evaluation = verdict({ticket.id.value}, parent);
    timed(tells, [&] { return engine_->tell(ticket.id, std::move(child), evaluation).value(); });
    ++programs_;
  }

  double bytes_of_a_program() const { return (resident_bytes() - before_) / static_cast<double>(programs_); }

  Times asks, tells;

 private:
  static std::uint64_t structure_of(const IndividualPtr& parent) {
    const std::string_view text = parent->program->source.main_text(), before = "scale = ";
    return std::stoull(std::string(text.substr(text.find(before) + before.size(), 20)));
  }

  const Kind& kind_;
  std::filesystem::path folder_;
  double before_, reading_us_ = 0;
  const TimedJournal* journal_ = nullptr;
  std::optional<Engine> engine_;
  std::uint64_t programs_ = 0;
};

void ask_and_tell(benchmark::State& state, const Kind& kind) {
  static std::unique_ptr<Search> search;
  static const Kind* whose = nullptr;
  if (std::exchange(whose, &kind) != &kind) {
    search.reset();
    search = std::make_unique<Search>(kind);
  }
  search->grow_to(static_cast<std::uint64_t>(state.range(0)) - kMeasured);
  for (auto _ : state) search->step();
  for (const auto& [call, times] : {std::pair("ask", &search->asks), std::pair("tell", &search->tells)}) {
    const std::string name = call;
    state.counters[name + "_us"] = mean(times->search);
    state.counters[name + "_p99_us"] = percentile(times->search, 0.99);
    state.counters[name + "_reading_us"] = mean(times->reading);
    state.counters[name + "_journal_us"] = mean(times->journal);
  }
  state.counters["bytes_of_a_program"] = search->bytes_of_a_program();
}

void model(benchmark::State& state) { ask_and_tell(state, kModel); }
void large_grid(benchmark::State& state) { ask_and_tell(state, kLargeGrid); }
void tuner(benchmark::State& state) { ask_and_tell(state, kTuner); }

BENCHMARK(model)->RangeMultiplier(10)->Range(1000, 1'000'000)->Iterations(kMeasured);
BENCHMARK(large_grid)->RangeMultiplier(10)->Range(1000, 100'000)->Iterations(kMeasured);
BENCHMARK(tuner)->RangeMultiplier(10)->Range(1000, 1'000'000)->Iterations(kMeasured);

}  // namespace
}  // namespace kernelsmith

BENCHMARK_MAIN();
