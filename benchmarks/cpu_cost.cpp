// What an evaluation on the cpu backend costs beyond compiling and the calls themselves, and where that time
// goes: for each task as many candidates as asked for, the seed with its knobs drawn at random, evaluated
// once and one after the other.
//
//   cmake --preset release -DKERNELSMITH_BUILD_BENCHMARKS=ON && cmake --build --preset release --target
//   cpu_cost build/release/benchmarks/cpu_cost [--candidates N] TASK_FOLDER...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeed = 1;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The times of one step: a figure for each candidate.
struct Figures {
  std::vector<double> values;

  double quantile(double fraction) const {
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
  }
  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
};

/// The seed with every knob drawn anew, and a function that no other candidate has: nothing is known of its
/// binary.
Result<Source> draw_candidate(const Source& seed, std::uint64_t number) {
  const auto knobs = find_knobs(seed);
  if (!knobs) return knobs.error();
  Rng rng(kSeed, number, Purpose::proposal);
  std::vector<std::size_t> choice;
  for (const Knob& knob : *knobs) choice.push_back(static_cast<std::size_t>(rng.below(knob.values.size())));
  const auto drawn = with_knobs(seed, choice);
  if (!drawn) return drawn.error();
  std::vector<SourceFile> files = drawn->files();
  std::string& text = files.front().text;
  // What stands behind the block is frozen.
  text.insert(std::min(text.rfind("// EVOLVE-BLOCK-END"), text.size()),
              "extern \"C\" int candidate_number() { return " + std::to_string(number) + "; }\n");
  return Source::create(std::move(files));
}

Result<Evaluation> evaluate(Evaluator& evaluator, const Task& task, Source source, std::uint64_t number) {
  EvaluationJob job;
  job.run = "cpu_cost";
  job.attempt = static_cast<std::uint32_t>(number);
  job.task = task.digest;
  job.source = std::move(source);
  return answer_of<Evaluation>([&](auto done) { evaluator.start(std::move(job), {}, std::move(done)); })
      .get();
}

void print(const std::string& step, const Figures& figures) {
  std::printf("  %-24s %8.1f %8.1f %8.1f\n", step.c_str(), figures.quantile(0.5), figures.quantile(0.9),
              figures.mean());
}

Status measure(const std::string& folder, std::uint64_t candidates) {
  const auto task = load_task(folder);
  if (!task) return task.error();
  auto start = Clock::now();
  const auto evaluator = make_cpu_evaluator(*task);
  if (!evaluator) return evaluator.error();
  std::printf("%s: evaluator made in %.0f ms\n", task->name.c_str(), ms_since(start));

  std::map<std::string, Figures> steps;
  Figures overhead, total;
  std::map<std::string, int> not_accepted;
  start = Clock::now();
  for (std::uint64_t number = 0; number < candidates; ++number) {
    auto source = draw_candidate(task->seed, number);
    if (!source) return source.error();
    const auto began = Clock::now();
    const auto evaluation = evaluate(**evaluator, *task, std::move(*source), number);
    const double ms = ms_since(began);
    if (!evaluation && evaluation.error().code != ErrorCode::unstable) return evaluation.error();
    if (!evaluation || !evaluation->metrics()) {
      ++not_accepted[evaluation ? std::string(name_of(evaluation->rejection()->code)) : "unstable"];
      continue;
    }
    auto spent = evaluation->report().spent_ms;
    total.values.push_back(ms);
    overhead.values.push_back(ms - spent["compile"] - spent["candidate: calls"] - spent["yardstick: calls"]);
    for (const auto& [step, value] : spent) steps[step].values.push_back(value);
  }
  std::printf("  %zu accepted, %.2f candidates a second\n", total.values.size(),
              static_cast<double>(candidates) * 1000 / ms_since(start));
  for (const auto& [code, count] : not_accepted) std::printf("  %d %s\n", count, code.c_str());
  if (total.values.empty()) return {};
  std::printf("  %-24s %8s %8s %8s\n", "ms", "median", "90 %", "mean");
  print("whole evaluation", total);
  print("overhead", overhead);
  for (const auto& [step, figures] : steps) print(step, figures);
  return {};
}

}  // namespace
}  // namespace kernelsmith

int main(int argc, char** argv) {
  std::uint64_t candidates = 40;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--candidates" && i + 1 < argc)
      candidates = std::strtoull(argv[++i], nullptr, 10);
    else
      folders.emplace_back(argv[i]);
  }
  if (folders.empty() || candidates == 0) {
    std::fputs("usage: cpu_cost [--candidates N] TASK_FOLDER...\n", stderr);
    return 2;
  }
  for (const std::string& folder : folders)
    if (const auto status = kernelsmith::measure(folder, candidates); !status) {
      std::fprintf(stderr, "%s\n", kernelsmith::describe(status.error()).c_str());
      return 3;
    }
  return 0;
}
