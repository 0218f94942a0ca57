// kernelsmith verify TASK FILE
#include <cmath>
#include <string>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/session.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kVerifyFooter =
    R"(Evaluates a candidate of a `torch` task twice, and prints both verdicts: first as `evaluate` does, then in plain
PyTorch, as KernelBench's harness does. In the second evaluation the candidate's own Python runs, and PyTorch
builds its C++ extensions (docs/kernelbench.md, "verify").

The second evaluation has no sandbox: the candidate can do whatever you can do. Read it first, and use a GPU on which
nobody measures.

Exit status: 0 both accept it, 1 at least one does not, 2 wrong use, 3 a broken machine or environment.)";

/// If the two speedups differ by more than this fraction, they disagree. Launches from Python make short
/// calls longer.
constexpr double kClose = 0.1;

void print_ours(const Evaluation& evaluation) {
  const Rejection* const rejection = evaluation.rejection();
  say("kernelsmith    {}\n",
      rejection ? "rejected at " + std::string(name_of(rejection->stage)) + ": " +
                      std::string(name_of(rejection->code)) + "\n" + rejection->diagnostics
      : evaluation.report().speedup ? "accepted, " + text_of(*evaluation.report().speedup)
                                    : "accepted");
}

void print_plain(const PlainVerdict& plain) {
  if (plain.passed())
    say("plain PyTorch  accepted, {}x ({} us, and the reference {} us; ready in {} s)\n",
        short_number(plain.speedup()), short_number(plain.candidate_us), short_number(plain.reference_us),
        short_number(plain.build_s));
  else
    say("plain PyTorch  fails at {}: {}\n", plain.stage, plain.problem);
  say("               {}\n", plain.environment);
}

/// Explains how the two verdicts differ.
void print_difference(const Evaluation& ours, const PlainVerdict& plain) {
  if (ours.accepted() != plain.passed()) {
    say("They differ: the candidate {}\n", plain.passed()
                                               ? "works in plain PyTorch, but kernelsmith does not accept it"
                                               : "does not work outside kernelsmith");
    return;
  }
  if (!ours.accepted() || !ours.report().speedup) return;
  const double ratio = plain.speedup() / ours.report().speedup->median;
  if (std::abs(std::log(ratio)) > std::log1p(kClose))
    say("They differ: the speedup in plain PyTorch is {} of ours. It includes launches from Python, which "
        "take some "
        "microseconds for each call\n",
        short_number(ratio));
}

struct VerifyCommand {
  std::string task, file;
  ConfigOptions config;

  int operator()() const {
    const Registry registry = default_registry();
    const auto loaded = load_task_folder(task, registry.backends);
    if (!loaded) return report(stderr, loaded.error());
    const auto candidate = load_candidate(loaded->task, file);
    if (!candidate) return report(stderr, candidate.error());
    const auto run = config.configure(loaded->task, registry);
    if (!run) return report(stderr, run.error());

    Interrupt interrupt;
    const auto plain = run->evaluator.provider->verify(loaded->task, *candidate, interrupt.token());
    if (!plain) return report(stderr, plain.error());
    const auto ours = evaluate_one(loaded->task, *run, *candidate, interrupt.token(), true);
    if (!ours) return report(stderr, ours.error());
    print_ours(*ours);
    print_plain(*plain);
    print_difference(*ours, *plain);
    return ours->accepted() && plain->passed() ? kDone : kRejected;
  }
};

}  // namespace

void add_verify(CLI::App& app, Command& chosen) {
  const auto [verify, command] = add_command<VerifyCommand>(
      app, chosen, "verify", "Run a candidate in plain PyTorch too, and compare the verdicts", kVerifyFooter);
  command.add_option("TASK", verify.task, "The task's folder, or a problem of KernelBench or an arena")
      ->required();
  command.add_option("FILE", verify.file, "A candidate")->required();
  verify.config.add_to(command);
}

}  // namespace kernelsmith::cli
