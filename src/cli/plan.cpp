// kernelsmith plan TASK FILE
#include <memory>
#include <string>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "run_options.hpp"
#include "say.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kFooter =
    R"(Plans the candidate and prints what one call does on the GPU. Of CUDA C++: its kernels at the first timed shape, and
each launch, copy and memset in order, at addresses that are made up (docs/plan.md). Of a PyTorch module: its launches and
operators (docs/torch-plan.md). No GPU is needed.

Exit status: 0 planned, 1 the candidate cannot be compiled or planned, 2 wrong use, 3 a broken machine or environment.)";

struct PlanCommand {
  std::string task, file;

  int operator()() const {
    const Registry registry = default_registry();
    const auto loaded = load_task_folder(task, registry.backends);
    if (!loaded) return report(stderr, loaded.error());
    const BackendDescription& backend = registry.backends.at(loaded->task.backend);
    if (!backend.describe_plan)
      return report(stderr, fail(ErrorCode::unsupported,
                                 "candidates of the backend '" + backend.name + "' are not planned", {},
                                 "kernelsmith evaluate measures them"));
    const auto candidate = load_candidate(loaded->task, file);
    if (!candidate) return report(stderr, candidate.error());
    const auto text = backend.describe_plan(loaded->task, *candidate);
    if (!text) {
      const int status = report(stderr, text.error());
      return text.error().code == ErrorCode::refused ? kRejected : status;
    }
    say("{}", *text);
    return kDone;
  }
};

}  // namespace

void add_plan(CLI::App& app, Command& chosen) {
  auto plan = std::make_shared<PlanCommand>();
  CLI::App* command = app.add_subcommand("plan", "Print what a candidate does on the GPU");
  command->add_option("TASK", plan->task, "The task's folder")->required();
  command->add_option("FILE", plan->file, "A candidate")->required();
  command->footer(kFooter);
  command->callback([plan, &chosen] { chosen = [plan] { return (*plan)(); }; });
}

}  // namespace kernelsmith::cli
