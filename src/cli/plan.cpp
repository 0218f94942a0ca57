// kernelsmith plan TASK FILE
#include <string>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kPlanFooter =
    R"(Plans the candidate and prints what one call does on the GPU. For CUDA C++: its kernels at the first timed shape, and
each launch, copy and memset in order, with invented addresses (docs/plan.md). For a PyTorch module: its launches and
operators (docs/torch-plan.md), and whether its outputs have the reference's shapes and types. No GPU is needed.
--config and --set affect only the section `evaluator`, for example --set evaluator.python=/opt/torch/bin/python.

Exit status: 0 planned, 1 the candidate cannot be compiled or planned, 2 wrong use, 3 a broken machine or environment.)";

struct PlanCommand {
  std::string task, file;
  ConfigOptions config;

  int operator()() const {
    const Registry registry = default_registry();
    const auto loaded = load_task_folder(task, registry.backends);
    if (!loaded) return report(stderr, loaded.error());
    const auto run = config.configure(loaded->task, registry);
    if (!run) return report(stderr, run.error());
    const auto candidate = load_candidate(loaded->task, file);
    if (!candidate) return report(stderr, candidate.error());
    const auto text = run->evaluator.provider->describe_plan(loaded->task, *candidate);
    if (!text) {
      Error error = text.error();
      error.message = naming_given_file(error.message, *candidate, file);
      const int status = report(stderr, error);
      return error.code == ErrorCode::refused ? kRejected : status;
    }
    say("{}", naming_given_file(*text, *candidate, file));
    return kDone;
  }
};

}  // namespace

void add_plan(CLI::App& app, Command& chosen) {
  const auto [plan, command] =
      add_command<PlanCommand>(app, chosen, "plan", "Print what a candidate does on the GPU", kPlanFooter);
  command
      .add_option("TASK", plan.task,
                  "The task's folder, or a problem of KernelBench or an arena (docs/arenas.md)")
      ->required();
  command.add_option("FILE", plan.file, "A candidate")->required();
  plan.config.add_to(command);
}

}  // namespace kernelsmith::cli
