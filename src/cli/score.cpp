// kernelsmith score CANDIDATES --tasks FOLDER
#include <algorithm>

#include <fmt/format.h>

#include <kernelsmith/session/share_programs.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "say.hpp"
#include "suite_command.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kScoreFooter =
    R"(CANDIDATES holds, for a task level1/softmax: softmax.cpp, softmax/any.cpp or the same below level1 (.cpp, .cu, .py;
candidates of several files are folders in softmax/), or KernelBench's level_1_problem_3_sample_0_kernel.py, which
is for the task of level 1 that begins with 3_. CANDIDATES may also be a published set, whose files are then
written to DIR/set: KernelBench's leaderboard (its repository), or a file of CUDA-L1's optimized_cuda_code; or
FlashInfer-Bench's data set, or problems of SOL-ExecBench or GPU MODE with solutions beside them (docs/arenas.md).
Without --tasks the tasks are the set's own problems, to which its claimed speedups refer. With --references,
CANDIDATES is a folder of KernelBench's problems, and each one's reference is its own candidate, which should score 1.
The best candidate of a task counts; a task without candidates is not solved.
After an interruption the same command continues, and evaluates again what has changed.
Exit status: 0 every task has its result, 130 interrupted, else the status of the first task's error.
docs/suite.md explains the figures and the files.)";

constexpr std::size_t kMostTold = 5;
/// By default so many tasks of a set are scored at once: one is measured while processes start for the
/// others, and their modules are planned. More of them would have to wait for the GPU.
constexpr std::size_t kAtOnce = 4;

/// Warns about sources whose names match no task.
void tell_without_task(const std::vector<std::filesystem::path>& files) {
  for (std::size_t i = 0; i < std::min(files.size(), kMostTold); ++i)
    say(stderr, "note: {} belongs to none of the tasks\n", files[i].string());
  if (files.size() > kMostTold)
    say(stderr, "note: neither do {}\n", number_text(files.size() - kMostTold, "other file"));
}

Error without_tasks() {
  return fail(
      ErrorCode::invalid_argument, "--tasks is required: these candidates come without problems", {},
      "name the folder of the tasks; only KernelBench's leaderboard and CUDA-L1's files include problems");
}

class ScoreHost final : public SuiteHost {
 public:
  ScoreHost(const ConfigOptions& config, const Registry& registry, std::size_t at_once)
      : config_(config), registry_(registry), at_once_(at_once) {}

  Result<RunConfig> configure(const Task& task) override { return config_.configure(task, registry_); }

  void begin(const SuiteTask& task, std::size_t number, std::size_t of) override {
    tell_begin(task, number, of);
  }
  void end(const TaskResult& result) override { ends_.tell(result, at_once_ > 1); }

 private:
  const ConfigOptions& config_;
  const Registry& registry_;
  const std::size_t at_once_;
  TaskEnds ends_;
};

struct ScoreCommand {
  std::string candidates;
  TaskSetOptions tasks;
  bool references = false, quick = false;
  std::optional<std::size_t> at_once;
  std::optional<std::string> task_time;
  ConfigOptions config;

  int operator()() const {
    Interrupt interrupt;
    Registry registry = default_registry();
    share_programs(registry, note);
    const std::string out = tasks.out_folder(candidates, ".score");
    const auto set = find_set(std::filesystem::path(out) / "set");
    if (!set) return report(stderr, set.error());
    TaskSetOptions of_tasks = tasks;
    if (of_tasks.folder.empty() && *set) of_tasks.folder = (*set)->tasks.string();
    if (of_tasks.folder.empty()) return report(stderr, without_tasks());
    const auto found = of_tasks.tasks();
    if (!found) return report(stderr, found.error());
    auto sources = find_candidates(*set ? (*set)->candidates : std::filesystem::path(candidates), *found);
    if (!sources) return report(stderr, sources.error());
    if (*set) sources->claims.insert((*set)->claims.begin(), (*set)->claims.end());
    tell_without_task(sources->without_task);
    auto shared = settings_of(config);
    if (!shared) return report(stderr, shared.error());
    if (quick) (*shared)["quick"] = "yes";
    const std::size_t tasks_at_once = at_once.value_or(*set ? kAtOnce : 1);
    ScoreHost host(config, registry, tasks_at_once);
    if (const Status ok = try_out(*found, registry, host, false); !ok) return report(stderr, ok.error());
    SuiteOptions options{out, std::move(*shared)};
    options.at_once = tasks_at_once;
    if (task_time) {
      const auto seconds = parse_duration(*task_time, "--task-time");
      if (!seconds) return report(stderr, seconds.error());
      options.longest_task = Seconds(*seconds);
    }
    return conclude(score_candidates(*found, *sources, options, registry, host, !quick, interrupt.token()),
                    out);
  }

 private:
  Result<std::optional<PublicSet>> find_set(const std::filesystem::path& folder) const {
    if (!references) return unpack_public_set(candidates, folder);
    TaskSetOptions of_problems = tasks;
    of_problems.folder = candidates;
    const auto problems = of_problems.tasks();
    if (!problems) return problems.error();
    auto set = references_as_candidates(*problems, folder);
    if (!set) return set.error();
    return std::optional(std::move(*set));
  }
};

}  // namespace

void add_score(CLI::App& app, Command& chosen) {
  const auto [score, command] = add_command<ScoreCommand>(
      app, chosen, "score", "Evaluate ready-made candidates of many tasks", kScoreFooter);
  command.add_option("CANDIDATES", score.candidates, "The folder of the candidates, or a published set")
      ->required();
  add_value(command, "--tasks", score.tasks.folder, "The folder of the tasks", "FOLDER");
  score.tasks.add_to(command, "CANDIDATES.score");
  command
      .add_flag("--references", score.references,
                "CANDIDATES are KernelBench's problems: each reference is its own candidate")
      ->excludes("--tasks");
  add_value(
      command, "--at-once", score.at_once,
      fmt::format("How many tasks are worked on at once (default: {} of a set, else 1); on a CPU they would "
                  "disturb each other",
                  kAtOnce),
      "N")
      ->check(whole_number(1));
  add_value(command, "--task-time", score.task_time,
            "Give a task up after this time: 90s, 30m. Its result is an error", "DURATION");
  command.add_flag("--quick", score.quick, "Time as a search does, with wider intervals");
  score.config.add_to(command);
}

}  // namespace kernelsmith::cli
