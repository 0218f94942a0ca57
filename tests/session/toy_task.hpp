// A task without tools: the candidate's knobs are added up by a function in this process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/session/session.hpp>

namespace kernelsmith::toy {

inline constexpr const char* kTask =
    "version: 1\nname: toy\nbackend: command\nfiles: {seed: seed.txt}\ncommand: [none]\n";
inline constexpr const char* kSeed = "a = 0  # @tune 0 1 2 3\nb = 0  # @tune 0 1 2 3 4\nc = 0  # @tune 0 1\n";

inline double sum_of_knobs(const EvaluationJob& job) {
  double sum = 0;
  for (const Knob& knob : find_knobs(job.source).value()) sum += static_cast<double>(knob.current);
  return sum;
}

/// Scores with sum_of_knobs, or refuses the task as an evaluator does whose seed fails its own check.
class SumProvider final : public EvaluatorProvider {
 public:
  Result<std::shared_ptr<Evaluator>> make(const Task&, const std::stop_token&) const override {
    if (refuse_) return fail(ErrorCode::refused, "the seed fails its own check");
    return blocking(sum_of_knobs);
  }

 private:
  void list(Section& io) override { io("refuse", refuse_, "the seed"); }

  bool refuse_ = false;
};

/// The default registry with this evaluator in place of `command`.
inline Registry registry() {
  Registry registry = default_registry();
  registry.evaluators["command"] = [] { return std::make_unique<SumProvider>(); };
  return registry;
}

/// The task, in a folder of its own below `parent`.
inline TaskFolder task_in(const std::filesystem::path& parent) {
  TaskFolder files;
  files.files = {{"task.yaml", kTask}, {"seed.txt", kSeed}};
  write_task_folder(files, parent / "task").value();
  return load_task_folder(parent / "task").value();
}

/// Its defaults with the keys of `yaml` laid over them.
inline RunConfig config_for(const TaskFolder& task, std::string_view yaml) {
  RunConfig config = default_config(task.task, registry()).value();
  read_config(yaml, "run.yaml", registry(), config).value();
  return config;
}

}  // namespace kernelsmith::toy
