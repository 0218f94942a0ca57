// Evaluates every case of tests/redteam/cpu and compares what happened with what the case declares. README.md
// beside this file explains the cases; `redteam_cpu --help` the options.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>

#include "program.hpp"

namespace {

using namespace kernelsmith;
using namespace kernelsmith::redteam;

struct Options : ProgramOptions {
  bool load = false;
  bool unsandboxed = false;
  bool weak = false;
};

/// If nothing is right within the time that a compiler has. Elsewhere a busy machine must not cut it
/// short.
constexpr std::string_view kBombs = "bombs";
constexpr double kBombCompileS = 4, kCompileS = 30;

Result<std::shared_ptr<Evaluator>> make_evaluator(const Task& task, const Options& asked) {
  if (task.backend == "command") {
    CommandOptions options;
    options.unsandboxed = asked.unsandboxed;
    return make_command_evaluator(task, options);
  }
  CpuOptions options;
  options.unsandboxed = asked.unsandboxed;
  options.without_cgroup = asked.weak;
  options.bank_bytes = std::size_t{96} << 20;
  options.bank_seconds = 1;
  options.compile_timeout_s = task.name == kBombs ? kBombCompileS : kCompileS;
  return make_cpu_evaluator(task, options);
}

/// A busy loop on each core.
class Load {
 public:
  Load() {
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        std::atomic<unsigned> spins = 0;
        while (!stop.stop_requested()) ++spins;
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.folder = KERNELSMITH_SOURCE_DIR "/tests/redteam/cpu";
  CLI::App app("The red team against the cpu backend.");
  options.add_to(app);
  app.add_flag("--load", options.load, "keep every core busy meanwhile");
  app.add_flag("--unsandboxed", options.unsandboxed, "let the tricks run free, to see that they work");
  app.add_flag("--weak", options.weak, "hold them as on a machine that lends no cgroup")
      ->excludes("--unsandboxed");
  CLI11_PARSE(app, argc, argv);

  Attack attack;
  attack.make_evaluator = [&options](const Task& task) { return make_evaluator(task, options); };
  if (options.weak) attack.forbidden_tier = "full";
  std::optional<Load> load;
  if (options.load) load.emplace();
  return run_program(options, attack);
}
