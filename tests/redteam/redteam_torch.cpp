// Evaluates every case of tests/redteam/torch and compares what happened with what the case declares.
// README.md beside this file explains the cases; `redteam_torch --help` the options.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "program.hpp"

using namespace kernelsmith;
using namespace kernelsmith::redteam;

/// No machine has so many GPUs: nothing can be run there.
constexpr int kNoDevice = 1 << 20;

int main(int argc, char** argv) {
  ProgramOptions options;
  options.folder = KERNELSMITH_SOURCE_DIR "/tests/redteam/torch";
  Attack attack;
  int device = 0;
  CLI::App app("The red team against the torch backend.");
  options.add_to(app);
  app.add_option("--device", device, "the GPU, as CUDA counts them");
  app.add_flag("--plan", attack.plan_only, "only plan: needs no GPU");
  CLI11_PARSE(app, argc, argv);

  attack.make_evaluator = [&](const Task& task) {
    TorchOptions how;
    how.devices.first = attack.plan_only ? kNoDevice : device;
    return make_torch_evaluator(task, how);
  };
  // A search would judge at some of the workloads only.
  attack.careful = [](const Task& task) { return !torch_settings(task).value().workloads.empty(); };
  attack.backends = {{"torch", describe_torch_backend()}};
  // Two planners, and a candidate on the device.
  attack.at_once = 3;
  return run_program(options, attack);
}
