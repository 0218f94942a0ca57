// Like with like: the yardstick as its own candidate must score 1.00. Twelve combinations of task and shape,
// from 10 us to 5 ms a call and from 10 KB to 4 MB of input, with a fresh evaluator for each invocation.
//
//   cmake --preset release -DKERNELSMITH_BUILD_BENCHMARKS=ON && cmake --build --preset release --target
//   like_with_like && build/release/benchmarks/like_with_like [--invocations N] [--quick] [--load] [NAME...]
//
// Exit status: 0 all scores are within 0.97 to 1.03 and at most 2 of 100 answers are `unstable`, 1 not so,
// 2 wrong use, 3 an evaluation failed. Nothing else should run meanwhile; --load keeps one core busy itself.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

constexpr double kLeast = 0.97, kMost = 1.03;
constexpr double kMostUnstable = 0.02;

struct Combination {
  const char* name;
  const char* folder;     ///< below the source tree
  const char* yardstick;  ///< one of the task's files
  const char* sizes;      ///< of the only timed shape
};

constexpr std::array kCombinations = {
    Combination{"conv2d_small", "examples/conv2d_cpu", "yardstick.cpp",
                "channels: 4, filters: 16, height: 24, width: 24"},
    Combination{"mlp", "tests/tasks/silu_mlp", "seed.cpp", "tokens: 16, dim: 32, hidden: 64"},
    Combination{"rmsnorm_small", "examples/rmsnorm_cpu", "yardstick.cpp", "rows: 128, cols: 768"},
    Combination{"softmax_small", "examples/softmax_cpu", "yardstick.cpp", "rows: 96, cols: 1024"},
    Combination{"batched_gemm", "tests/tasks/batched_gemm", "seed.cpp", "batch: 32"},
    Combination{"adam", "tests/redteam/cpu/tasks/adam", "reference.cpp", "n: 16384"},
    Combination{"cross_entropy", "tests/tasks/cross_entropy", "seed.cpp", "rows: 128, cols: 1000"},
    Combination{"layernorm", "tests/tasks/layernorm", "seed.cpp", "rows: 256, cols: 768"},
    Combination{"matmul", "examples/matmul_cpu", "yardstick.cpp", "m: 192, n: 192, k: 192"},
    Combination{"conv2d", "examples/conv2d_cpu", "yardstick.cpp",
                "channels: 16, filters: 16, height: 56, width: 56"},
    Combination{"softmax", "examples/softmax_cpu", "yardstick.cpp", "rows: 1024, cols: 1024"},
    Combination{"matmul_large", "examples/matmul_cpu", "yardstick.cpp", "m: 512, n: 512, k: 512"},
};

struct Options {
  std::size_t invocations = 10;
  bool quick = false;
  bool load = false;
  std::vector<std::string> names;
};

/// A folder that goes when the object does.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("like_with_like." + std::to_string(getpid()))) {}
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The task with one timed shape, and with its yardstick for baseline and seed.
Result<Task> variant(const Combination& combination, const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  fs::copy(fs::path(KERNELSMITH_SOURCE_DIR) / combination.folder, folder, fs::copy_options::recursive, error);
  if (error) return fail(ErrorCode::io, error.message(), folder.string());
  std::ifstream in(folder / "task.yaml");
  std::string yaml;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("files:") && !line.starts_with("timed:")) yaml += line + "\n";
  const std::string yardstick = combination.yardstick;
  const std::string insert = "files: {reference: reference.cpp, baseline: " + yardstick +
                             ", seed: " + yardstick + "}\ntimed: [{" + combination.sizes + "}]\n";
  const std::size_t after = yaml.find("entry:");
  if (after == std::string::npos) return fail(ErrorCode::bad_input, "no entry", folder.string());
  yaml.insert(after, insert);
  std::ofstream(folder / "task.yaml") << yaml;
  return load_task(folder);
}

Result<Evaluation> evaluate_once(const Task& task, bool careful) {
  const auto evaluator = make_cpu_evaluator(task);
  if (!evaluator) return evaluator.error();
  EvaluationJob job;
  job.run = "like_with_like";
  job.task = task.digest;
  job.source = task.seed;
  job.careful = careful;
  return answer_of<Evaluation>([&](auto done) { (*evaluator)->start(std::move(job), {}, std::move(done)); })
      .get();
}

struct Scores {
  std::vector<Measurement> ratios;
  double call_us = 0;
  std::size_t unstable = 0, outside = 0, not_covering = 0;
};

/// nullopt: the machine was too noisy.
Result<std::optional<Report>> report_of(const Task& task, bool careful) {
  auto evaluation = evaluate_once(task, careful);
  if (!evaluation) {
    if (evaluation.error().code == ErrorCode::unstable) return std::nullopt;
    return evaluation.error();
  }
  if (const Rejection* rejection = evaluation->rejection())
    return fail(ErrorCode::refused, std::string(name_of(rejection->code)) + ": " + rejection->diagnostics,
                task.name);
  return evaluation->report();
}

Result<Scores> measure(const Combination& combination, const Options& options) {
  const Folder folder;
  const auto task = variant(combination, folder.path());
  if (!task) return task.error();
  Scores scores;
  for (std::size_t i = 0; i < options.invocations; ++i) {
    const auto report = report_of(*task, !options.quick);
    if (!report) return report.error();
    if (!*report || !(*report)->over_yardstick) {
      ++scores.unstable;
      std::printf("  %-16s unstable\n", combination.name);
      continue;
    }
    const Measurement ratio = *(*report)->over_yardstick;
    scores.ratios.push_back(ratio);
    scores.call_us = (*report)->runtime_us ? (*report)->runtime_us->median : 0;
    const bool inside = ratio.median >= kLeast && ratio.median <= kMost;
    scores.outside += inside ? 0 : 1;
    scores.not_covering += ratio.low <= 1 && 1 <= ratio.high ? 0 : 1;
    std::printf("  %-16s %.3f [%.3f, %.3f] %zu samples%s\n", combination.name, ratio.median, ratio.low,
                ratio.high, ratio.samples, inside ? "" : "  OUTSIDE");
    std::fflush(stdout);
  }
  return scores;
}

void print(const Combination& combination, const Scores& scores) {
  if (scores.ratios.empty()) return;
  double sum = 0, squares = 0, worst = 1;
  for (const Measurement& ratio : scores.ratios) {
    sum += ratio.median;
    if (std::fabs(ratio.median - 1) >= std::fabs(worst - 1)) worst = ratio.median;
  }
  const auto count = static_cast<double>(scores.ratios.size());
  for (const Measurement& ratio : scores.ratios) squares += std::pow(ratio.median - sum / count, 2);
  const double sd = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  std::printf("| %s | %.1f | %.3f | %.2f %% | %.3f | %zu of %zu | %zu |\n", combination.name, scores.call_us,
              sum / count, 100 * sd, worst, scores.ratios.size() - scores.not_covering, scores.ratios.size(),
              scores.unstable);
}

bool wanted(const Combination& combination, const Options& options) {
  return options.names.empty() || std::ranges::find(options.names, combination.name) != options.names.end();
}

int run(const Options& options) {
  std::atomic<bool> done = false;
  std::jthread busy;
  if (options.load)
    busy = std::jthread([&done] {
      std::atomic<unsigned> spins = 0;
      while (!done) ++spins;
    });
  std::vector<std::pair<Combination, Scores>> all;
  std::size_t answers = 0, unstable = 0, outside = 0;
  int status = 0;
  for (const Combination& combination : kCombinations) {
    if (!wanted(combination, options)) continue;
    const auto scores = measure(combination, options);
    if (!scores) {
      std::fprintf(stderr, "%s: %s\n", combination.name, describe(scores.error()).c_str());
      status = 3;
      continue;
    }
    answers += scores->ratios.size() + scores->unstable;
    unstable += scores->unstable;
    outside += scores->outside;
    all.emplace_back(combination, *scores);
  }
  done = true;
  std::puts(
      "| combination | us a call | mean | sd | worst | intervals with 1 | unstable "
      "|\n|---|---|---|---|---|---|---|");
  for (const auto& [combination, scores] : all) print(combination, scores);
  std::printf("%zu answers, %zu outside of %.2f to %.2f, %zu unstable\n", answers, outside, kLeast, kMost,
              unstable);
  if (status != 0) return status;
  const bool too_unstable = static_cast<double>(unstable) > kMostUnstable * static_cast<double>(answers);
  return outside > 0 || too_unstable ? 1 : 0;
}

}  // namespace
}  // namespace kernelsmith

int main(int argc, char** argv) {
  kernelsmith::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--invocations" && i + 1 < argc)
      options.invocations = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--quick")
      options.quick = true;
    else if (argument == "--load")
      options.load = true;
    else
      options.names.emplace_back(argument);
  }
  const bool known = std::ranges::all_of(options.names, [](const std::string& name) {
    return std::ranges::any_of(kernelsmith::kCombinations,
                               [&](const kernelsmith::Combination& one) { return name == one.name; });
  });
  if (options.invocations == 0 || !known) {
    std::fputs("usage: like_with_like [--invocations N] [--quick] [--load] [NAME...]\nnames:", stderr);
    for (const auto& one : kernelsmith::kCombinations) std::fprintf(stderr, " %s", one.name);
    std::fputs("\n", stderr);
    return 2;
  }
  return kernelsmith::run(options);
}
