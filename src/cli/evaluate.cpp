// kernelsmith evaluate TASK FILE...
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/session/session.hpp>
#include <kernelsmith/session/share_programs.hpp>

#include "arena_output.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kEvaluateFooter =
    R"(Exit status: 0 all accepted, 1 at least one rejected, else the status of the first error. With --json the command prints
one object for each FILE, in order, each on one line (docs/formats.md). The task is prepared once for all files.
--config and --set affect only the section `evaluator`, for example --set evaluator.compiler=g++-13.)";

void print_shapes(const Report& report) {
  for (const ShapeResult& shape : report.shapes)
    say("  {:<28} {:<8} {:>22}  {}{}{}\n", shape.shape, shape.correct == true ? "correct" : "WRONG",
        shape.runtime_us ? text_of(*shape.runtime_us) : "",
        shape.speedup ? text_of(*shape.speedup) : std::string(shape.timed ? "" : "not timed"),
        shape.short_call ? "  short" : "", weight_text(shape));
  if (std::ranges::any_of(report.shapes, &ShapeResult::short_call))
    say("short: calls of the yardstick are so short that the interval is wider (docs/backend-cpu.md)\n");
}

/// Warns if an error is so close to its tolerance that other inputs may exceed the tolerance.
void warn_of_error(const Evaluation& evaluation, const std::string& file) {
  constexpr double kClose = 0.5;
  if (!evaluation.accepted()) return;
  for (const ShapeResult& shape : evaluation.report().shapes)
    if (shape.error > kClose)
      say(stderr,
          "note: {} at {}: the worst error is {} of the allowed error; with other inputs it may be too "
          "large\n",
          file, shape.shape, short_number(shape.error));
}

/// Warns if the yardstick is much slower than the candidate: a busy machine disturbs such different kernels
/// differently, which changes their ratio. Returns whether it printed a warning.
bool warn_of_yardstick(const Evaluation& evaluation) {
  constexpr double kAlike = 2;
  const auto& ratio = evaluation.report().over_yardstick;
  if (!evaluation.accepted() || !ratio || ratio->median < kAlike) return false;
  say(stderr,
      "note: the yardstick takes {} times as long as this candidate; on a busy machine such speedups vary "
      "a lot. Give the task a kernel that works like the best ones (files: yardstick, "
      "docs/backend-cpu.md)\n",
      short_number(ratio->median));
  return true;
}

/// Prints why the gain may not come from a faster kernel.
void print_shortcuts(const Metrics& metrics) {
  const auto has = [&](const char* name) {
    const auto found = metrics.features().find(name);
    return found != metrics.features().end() && found->second > 0;
  };
  if (has("degenerate"))
    say("degenerate: an output of the reference is the same for all inputs, so a constant would pass "
        "(kernelsmith doctor TASK names it)\n");
  if (has("algebraic"))
    say("algebraic: this device cannot do the reference's products in that time, so the candidate leaves "
        "out work of the reference\n");
}

void print_text(const Evaluation& evaluation) {
  const Report& report = evaluation.report();
  if (const Rejection* rejection = evaluation.rejection()) {
    say("rejected at {}: {}\n{}\n", name_of(rejection->stage), name_of(rejection->code),
        rejection->diagnostics);
  } else if (report.speedup) {
    say("accepted: {} over the baseline\n", text_of(*report.speedup));
  } else {
    say("accepted: fitness {}\n", text_of(evaluation.metrics()->fitness()));
  }
  if (evaluation.accepted()) {  // after a rejection, shapes that were not checked would look wrong
    print_shapes(report);
    if (const std::string costs = costs_text(*evaluation.metrics()); !costs.empty()) say("{}\n", costs);
    print_shortcuts(*evaluation.metrics());
  }
  if (!report.tier.empty()) say("tier {}\n", report.tier);
}

/// The path of a candidate's only file; `given` is that path, or the folder that holds the file.
std::string only_file(const Source& candidate, const std::string& given) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(given, ignored);
  return is_folder ? (std::filesystem::path(given) / candidate.files().front().path).string() : given;
}

/// The names of a candidate's files; a single file has the path that the user gave.
std::vector<std::string> given_paths_of(const Source& candidate, const std::string& given) {
  if (candidate.files().size() == 1) return {only_file(candidate, given)};
  return cli::paths_of(candidate);
}

/// Prints the knobs that the tuner could vary.
void print_knobs(const Source& candidate, const std::vector<std::string>& paths) {
  const auto knobs = find_knobs(candidate);
  if (!knobs) return;  // the evaluator rejects such a candidate
  for (const Knob& knob : *knobs) say("{}\n", describe(knob, paths[knob.file]));
}

Evaluation with_given_name(const Evaluation& evaluation, const Source& candidate, const std::string& given) {
  const Rejection* rejection = evaluation.rejection();
  if (!rejection) return evaluation;
  Rejection renamed = *rejection;
  renamed.diagnostics =
      naming_given_file(std::move(renamed.diagnostics), candidate, only_file(candidate, given));
  return renamed;
}

struct EvaluateCommand {
  std::string task;
  std::vector<std::string> files;
  JsonOption json;
  bool quick = false;
  ArenaOutput arena;
  ConfigOptions config;

  int operator()() const {
    Registry registry = default_registry();
    tell_of_waiting(registry, note);
    const auto loaded = load_task_folder(task, registry.backends);
    if (!loaded) return report(loaded.error(), json);
    if (const Status ok = arena.check(loaded->task); !ok) return report(ok.error(), json);
    std::vector<Source> candidates;
    for (const std::string& file : files) {
      auto candidate = load_candidate(loaded->task, file);
      if (!candidate) return report(candidate.error(), json);
      if (!loaded->task.seed.empty() && !check_frozen(loaded->task.seed, *candidate))
        say(stderr,
            "note: {} differs from the seed outside the EVOLVE-BLOCKs, which a search would not allow\n",
            file);
      warn_of_near_knobs(*candidate, given_paths_of(*candidate, file));
      candidates.push_back(std::move(*candidate));
    }
    const auto run = config.configure(loaded->task, registry);
    if (!run) return report(run.error(), json);

    // Made after reading the files: while an idle pipe is being read, a first signal would have no effect.
    Interrupt interrupt;
    const std::vector<Source> sources = candidates;
    say(stderr, "task {}; preparing\n", loaded->task.name);
    int status = kDone;
    bool told_error = false;
    const auto backend = registry.backends.find(loaded->task.backend);
    bool warned = backend == registry.backends.end() || !backend->second.shared_device;
    const auto tell = [&](std::size_t i, const Result<Evaluation>& answer) {
      if (!json && files.size() > 1) say("{}{}:\n", i > 0 ? "\n" : "", files[i]);
      std::fflush(stdout);
      if (!answer) {
        const int failed = report(answer.error(), json, files[i]);
        status = told_error ? status : failed;
        told_error = true;
        return;
      }
      const Evaluation evaluation = with_given_name(*answer, sources[i], files[i]);
      if (const Status written = arena.write(loaded->task, files[i], evaluation); !written) {
        status = report(stderr, written.error());
        told_error = true;
      }
      const auto score = arena.score(loaded->task, evaluation);
      if (json) {
        std::fputs(
            json_of(files[i], evaluation, sources[i], given_paths_of(sources[i], files[i]), json, score)
                .c_str(),
            stdout);
      } else {
        print_text(evaluation);
        if (score) arena.print(*score);
        print_knobs(sources[i], given_paths_of(sources[i], files[i]));
      }
      warn_of_error(evaluation, files[i]);
      warned = warned || warn_of_yardstick(evaluation);
      std::fflush(stdout);
      if (!evaluation.accepted() && !told_error) status = kRejected;
    };
    // `tell` has printed each error with its file.
    (void)evaluate_all(loaded->task, *run, std::move(candidates), tell, interrupt.token(), !quick);
    return status;
  }
};

}  // namespace

void add_evaluate(CLI::App& app, Command& chosen) {
  const auto [evaluate, command] = add_command<EvaluateCommand>(
      app, chosen, "evaluate", "Compile, check and time candidates of a task", kEvaluateFooter);
  command
      .add_option("TASK", evaluate.task,
                  "The task's folder, or a problem of KernelBench or an arena (docs/arenas.md)")
      ->required();
  command.add_option("FILE", evaluate.files, "A candidate; a folder if the task's seed has several files")
      ->required();
  evaluate.json.add_to(command, "Print one JSON object for each FILE, each on one line");
  command.add_flag("--quick", evaluate.quick,
                   "Time each FILE as briefly as a search does: faster, but with a wider interval");
  evaluate.arena.add_to(command);
  evaluate.config.add_to(command);
}

}  // namespace kernelsmith::cli
