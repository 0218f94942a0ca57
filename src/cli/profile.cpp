// kernelsmith profile TASK FILE, and kernelsmith profile RUN NUMBER
#include <cstdio>
#include <filesystem>
#include <string>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/session/candidate_profile.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kProfileFooter =
    R"(Evaluates the candidate as briefly as a search does, and prints in a few lines what limits its speed. For CUDA C++ it
prints the registers, shared memory, spills and occupancy of each launch, and what limits the occupancy. On a machine
with a GPU and ncu it also prints the unit that limits each launch, its place on the roofline, what its warps wait for
and its hottest source lines. ncu sets the GPU's clocks, so compare its times only with each other. "missing:" precedes
what this machine cannot report. --config and --set affect only the section `evaluator`. A program of a run is evaluated
with the run's settings, which they override; if the run's settings turn the sandbox off, repeat that setting, as for
`resume`. For the hot spots of a whole PyTorch model:
python -m kernelsmith profile MODEL --out DIR (docs/production.md).

Exit status: 0 accepted, or not run for want of a GPU; 1 rejected; 2 wrong use; 3 a broken machine or environment.)";

/// The most bytes of advice that are printed, so that the output fits into a model's context.
constexpr std::size_t kMostText = 2000;

void print_verdict(const Evaluation& evaluation, const std::string& diagnostics) {
  const Report& report = evaluation.report();
  if (const Rejection* const rejection = evaluation.rejection())
    return say("rejected at {}: {}\n{}\n", name_of(rejection->stage), name_of(rejection->code), diagnostics);
  if (report.speedup)
    say("accepted: {} over the baseline\n", text_of(*report.speedup));
  else
    say("accepted: fitness {}\n", text_of(evaluation.metrics()->fitness()));
  if (!report.advice.empty()) say("{}\n", report.advice.substr(0, kMostText));
}

void print_paces(const CandidateProfile& profile) {
  for (const Pace& pace : profile.paces) {
    say("  {:<28} {:>22}", pace.shape, text_of(pace.us));
    if (pace.gb_per_s) say("  {} GB/s of required traffic", short_number(*pace.gb_per_s));
    if (pace.gflop_per_s) say(", {} Gop/s", short_number(*pace.gflop_per_s));
    if (pace.operations_per_byte) say(", {} operations a byte", short_number(*pace.operations_per_byte));
    say("\n");
  }
}

/// Prints the profile. The diagnostics of a rejection name the file that the user gave.
void print(const CandidateProfile& profile, const Source& candidate, const std::string& file) {
  if (profile.evaluation) {
    const Rejection* const rejection = profile.evaluation->rejection();
    print_verdict(*profile.evaluation,
                  rejection ? naming_given_file(rejection->diagnostics, candidate, file) : "");
  }
  print_paces(profile);
  if (profile.gpu) say("{}", text_of(*profile.gpu));
  for (const std::string& what : profile.missing) say("missing: {}\n", what);
}

/// The candidate to profile, and the settings.
struct Subject {
  Task task;
  RunConfig config;
  Source source;
  std::string file;  ///< the name of its only file
};

Result<Subject> candidate_of_task(const std::string& folder, const std::string& file,
                                  const Registry& registry) {
  auto loaded = load_task_folder(folder, registry.backends);
  if (!loaded) return loaded.error();
  auto config = default_config(loaded->task, registry);
  if (!config) return config.error();
  auto candidate = load_candidate(loaded->task, file);
  if (!candidate) return candidate.error();
  return Subject{std::move(loaded->task), std::move(*config), std::move(*candidate), file};
}

/// A program of a run, with the run's settings. Somebody else may have made the run folder, so the provider
/// must not trust these settings.
Result<Subject> program_of_run(const std::string& folder, const std::string& number,
                               const Registry& registry) {
  if (const std::string wrong = whole_number(0)(number); !wrong.empty())
    return fail(ErrorCode::invalid_argument, wrong, "FILE", "for a run, give the number of a program");
  auto stored = load_stored_run(folder, registry);
  if (!stored) return stored.error();
  const auto view = view_run(folder, registry);
  if (!view) return view.error();
  const ProgramId id{*number_in<std::uint64_t>(number)};
  if (!view->state.programs().contains(id))
    return fail(ErrorCode::not_found, "the run has no program " + number, folder,
                "kernelsmith export prints them all");
  const auto program = view->state.individual(id);
  if (!program) return program.error();
  const Source& source = (*program)->program->source;
  return Subject{std::move(stored->task.task), std::move(stored->config), source,
                 source.files().front().path};
}

struct ProfileCommand {
  std::string place, which;
  JsonOption json;
  bool no_evaluation = false;
  ConfigOptions config;

  int operator()() const {
    const Registry registry = default_registry();
    std::error_code ignored;
    const bool is_run = std::filesystem::exists(std::filesystem::path(place) / "run.db", ignored);
    auto subject =
        is_run ? program_of_run(place, which, registry) : candidate_of_task(place, which, registry);
    if (!subject) return report(subject.error(), json);
    const auto& [task, settings, source, file] = *subject;
    if (const Status applied = config.apply(registry, subject->config); !applied)
      return report(applied.error(), json);
    Interrupt interrupt;
    const auto profile = profile_candidate(task, settings, source, !no_evaluation, interrupt.token());
    if (!profile) {
      Error error = profile.error();
      error.message = naming_given_file(error.message, source, file);
      const int status = report(error, json);
      return error.code == ErrorCode::refused ? kRejected : status;
    }
    if (json)
      std::fputs(json_of_object(profile_json(*profile), json).c_str(), stdout);
    else
      print(*profile, source, file);
    return profile->evaluation && !profile->evaluation->accepted() ? kRejected : kDone;
  }
};

}  // namespace

void add_profile(CLI::App& app, Command& chosen) {
  const auto [profile, command] = add_command<ProfileCommand>(
      app, chosen, "profile", "Print what limits the speed of a candidate", kProfileFooter);
  command
      .add_option("TASK", profile.place,
                  "The task's folder, a KernelBench problem (a .py file), or a run's folder")
      ->required();
  command
      .add_option("FILE", profile.which,
                  "A candidate; a folder if the task's seed has several files; for a run, a program's number")
      ->required();
  profile.json.add_to(command);
  command.add_flag("--no-evaluation", profile.no_evaluation,
                   "Print only launches and counters; the times are then those of ncu");
  profile.config.add_to(command);
}

}  // namespace kernelsmith::cli
