// What a long run costs beside its evaluations: resident memory and the folder's size as programs come in,
// and the time until it goes on when it is opened again.
//
//   long_run [PROGRAMS] [BYTES] [FOLDER]     a FOLDER is kept, and if it holds a run that is only resumed
//
// The bars are for 100,000 programs of 2,000 bytes in a release build: 150 MB resident, 3 s to resume.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <kernelsmith/engine/engine.hpp>

namespace kernelsmith {
namespace {

std::size_t bytes_of_source = 2000;

/// Text that does not repeat itself, in lines.
Source program(std::uint64_t number) {
  Rng rng(1, number, Purpose::evaluation);
  std::string text = "// " + std::to_string(number) + "\n";
  while (text.size() < bytes_of_source) text += "  x[" + std::to_string(rng.below(1 << 20)) + "] += y;\n";
  text.resize(bytes_of_source);
  return Source::create({{"kernel.cpp", std::move(text)}}).value();
}

/// Every third is rejected, every other one finds one of 1,000 cells.
Evaluation evaluation(std::uint64_t number) {
  const Measurement runtime{100, 99, 101, 20, "us"}, speedup{2, 1.98, 2.02, 20, ""};
  Report report;
  for (const char* shape : {"rows=1024 cols=1024", "rows=4096 cols=512"})
    report.shapes.push_back({shape, true, true, 0.01, runtime, speedup});
  report.speedup = speedup;
  report.tier = "full";
  report.hardware = "some processor";
  report.toolchain = "g++ -O3 -march=native";
  report.spent_ms = {{"compile", 300.5}, {"check", 20.25}, {"timing", 500.125}};
  if (number % 3 == 2)
    return Rejection{Stage::compile, RejectionCode::compile_failed, "kernel.cpp:3: error", std::move(report)};
  const double feature = static_cast<double>(number * 2654435761U % 1000);
  return Acceptance{Metrics::create(Measurement::exact(feature), {{"f", feature}}).value(),
                    std::move(report)};
}

EngineOptions options(std::uint64_t iterations) {
  EngineOptions options;
  options.budgets.iterations = iterations;
  options.seeds = {program(0)};
  options.axes = {{"f", LinearScale{0, 1000, 1000}}};
  options.topology = Topology::ring(2).value();
  return options;
}

double resident_mb() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double file_mb(const std::filesystem::path& run) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  return bytes / 1e6;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void search(const std::filesystem::path& run, std::uint64_t programs) {
  auto engine = Engine::open(run, options(programs)).value();
  std::printf("%12s %12s %12s %12s\n", "programs", "resident MB", "folder MB", "us each");
  auto begin = Clock::now();
  const std::uint64_t part = std::max<std::uint64_t>(programs / 10, 1);
  while (auto ticket = engine.ask().value()) {
    const auto id = ticket->id;
    if (std::holds_alternative<Evaluate>(ticket->work))
      engine.tell(id, evaluation(id.value)).value();
    else
      engine.tell(id, program(id.value), evaluation(id.value)).value();
    if (id.value % part != 0 || id.value == 0) continue;
    std::printf("%12llu %12.1f %12.1f %12.1f\n", static_cast<unsigned long long>(id.value), resident_mb(),
                file_mb(run), 1e6 * seconds_since(begin) / static_cast<double>(part));
    begin = Clock::now();
  }
}

void resume(const std::filesystem::path& run, std::uint64_t programs) {
  const double before = resident_mb();
  const auto begin = Clock::now();
  const auto engine = Engine::open(run, options(programs + 1)).value();
  std::printf("resumed in %.2f s; resident %.1f MB before, %.1f MB behind it; folder %.1f MB\n",
              seconds_since(begin), before, resident_mb(), file_mb(run));
}

}  // namespace
}  // namespace kernelsmith

int main(int argc, char** argv) {
  const std::uint64_t programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  if (argc > 2) kernelsmith::bytes_of_source = std::strtoull(argv[2], nullptr, 10);
  const std::filesystem::path kept = argc > 3 ? argv[3] : "";
  const auto run =
      kept.empty() ? std::filesystem::temp_directory_path() / ("ks-long-run-" + std::to_string(::getpid()))
                   : kept;
  if (!std::filesystem::exists(run / "run.db")) kernelsmith::search(run, programs);
  kernelsmith::resume(run, programs);
  if (kept.empty()) std::filesystem::remove_all(run);
}
