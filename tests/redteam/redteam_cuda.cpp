// Evaluates every case of tests/redteam/cuda and compares what happened with what the case declares.
// README.md beside this file explains the cases; `redteam_cuda --help` the options.
#include <memory>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>

#include "program.hpp"

using namespace kernelsmith;
using namespace kernelsmith::redteam;

/// No machine has so many GPUs: nothing can be run there.
constexpr int kNoDevice = 1 << 20;

int main(int argc, char** argv) {
  ProgramOptions options;
  options.folder = KERNELSMITH_SOURCE_DIR "/tests/redteam/cuda";
  Attack attack;
  int device = 0;
  CLI::App app("The red team against the cuda backend.");
  options.add_to(app);
  app.add_option("--device", device, "the GPU, as CUDA counts them");
  app.add_flag("--plan", attack.plan_only, "only compile and plan: needs no GPU");
  CLI11_PARSE(app, argc, argv);

  attack.make_evaluator = [&](const Task& task) {
    CudaOptions how;
    how.devices.first = attack.plan_only ? kNoDevice : device;
    how.bank_bytes = std::size_t{512} << 20;
    how.bank_seconds = 1;
    return make_cuda_evaluator(task, how);
  };
  attack.at_once = 2 + std::thread::hardware_concurrency() / 2;
  return run_program(options, attack);
}
