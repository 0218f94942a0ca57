// The `torch` backend as an evaluator: it plans candidates, runs the plans and judges them.
#include <algorithm>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/evaluator/judge.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>
#include <kernelsmith/evaluator/supported.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "extension/extension_compiler.hpp"
#include "on_device.hpp"
#include "plan_figures.hpp"
#include "product_rate.hpp"
#include "python_program.hpp"
#include "searched_workloads.hpp"
#include "task_planner.hpp"
#include "torch_backend.hpp"
#include "torch_host.hpp"
#include "warm_program.hpp"
#include "worker_supply.hpp"
#include "workload_report.hpp"

namespace kernelsmith {
namespace torch {
namespace {

Status check_supported(const Task& task) {
  if (auto s = check_backend(task, "torch"); !s) return s;
  if (!is_utf8(task.reference.main_text()))
    return fail(ErrorCode::refused, "the reference is not UTF-8", "files: reference");
  const auto torch = torch_settings(task);
  if (!torch) return torch.error();
  if (const auto module = baseline_module(task); !module) return module.error();
  for (const std::string& folder : torch->include)
    if (std::error_code unknown; !std::filesystem::is_directory(folder, unknown))
      return fail(ErrorCode::not_found, "there is no such folder: " + folder, "toolchain: include",
                  "name folders of headers of this machine, such as CUTLASS's");
  return {};
}

using SpentMs = std::map<std::string, double>;

class TorchBackend final : public Backend {
 public:
  TorchBackend(TaskPlanner planner, std::string toolchain)
      : planner_(std::move(planner)), toolchain_(std::move(toolchain)) {}

  /// Sets the objects that need the device. Without a device, run() fails with cannot_run()'s `why`.
  void judge_on(std::unique_ptr<OnDevice> device) { device_ = std::move(device); }
  void cannot_run(Error why) { why_not_ = std::move(why); }
  /// Sets the workloads that evaluations of a search are planned for. Call it before the first compile().
  void search_at(std::vector<std::size_t> workloads) { planner_.plan_only(std::move(workloads)); }
  /// Sets how long preparing the task took, by step. The first candidate's report has it.
  void prepared_in(SpentMs spent_ms) {
    const MutexLock lock(preparation_mutex_);
    preparation_ms_ = std::move(spent_ms);
  }

  Result<Compilation> compile(const Source& source, std::stop_token stop) override {
    Report report;
    report.toolchain = toolchain_;
    report.spent_ms = take_preparation();
    const Stopwatch planning;
    auto planned = planner_.plan(source, stop);
    report.spent_ms["plan"] = planning.ms();
    if (!planned) return reported<Compilation>(planned.error(), std::move(report));
    if (planned->build_ms > 0) report.spent_ms["plan: build"] = planned->build_ms;
    report.artifacts.push_back({kPlanText, std::move(planned->text)});
    auto features = features_of(planned->figures);
    features[kCompileMs] = report.spent_ms["plan"];
    return Compilation{BinaryPtr(std::move(planned->plan)), std::move(report), std::move(features)};
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    if (!device_) return why_not_;
    const MutexLock lock(mutex_);
    const double started_s = device_->host->waited_s();
    device_->waited_ms = 0;
    if (request.careful || request.remeasurement)
      if (const auto failed = plan_everywhere(request, stop)) return *failed;
    double profiling_ms = 0;
    auto evaluation = with_device(*device_, DeviceLease::Use::timed, device_->need_bytes, request.works, stop,
                                  [&](bool alone) { return evaluate(request, alone, profiling_ms, stop); });
    if (!evaluation) return evaluation;
    Report report = evaluation->report();
    report.spent_ms["wait"] = device_->waited_ms;
    report.spent_ms["start"] = (device_->host->waited_s() - started_s) * 1e3;
    report.spent_ms["profile"] = profiling_ms;
    return with_report(*evaluation, std::move(report));
  }

  std::string needs() const override { return device_ ? memory_text(device_->host->reference()) : ""; }
  std::vector<std::string> degenerate() const override {
    std::vector<std::string> outputs;
    if (!device_) return outputs;
    for (const WorkloadFacts& one : device_->host->reference().workloads)
      for (const std::string& output : one.degenerate)
        outputs.push_back(output + (one.told.name.empty() ? "" : " at " + one.told.name));
    return outputs;
  }

 private:
  /// Completes the plans of the request. The evaluation that it ends with, if a plan cannot be completed.
  std::optional<Result<Evaluation>> plan_everywhere(RunRequest& request, const std::stop_token& stop) {
    const AddedTime watch(request.report.spent_ms["plan"]);
    for (BinaryPtr* const binary : {&request.candidate, &request.rival}) {
      const auto plan = std::dynamic_pointer_cast<const Plan>(*binary);
      if (!plan) continue;
      auto completed = planner_.completed(plan, stop);
      if (completed && binary == &request.candidate && request.remeasurement == Remeasurement::confirm)
        completed = confirmed(plan, std::move(*completed), stop);
      if (completed) {
        *binary = std::move(*completed);
        continue;
      }
      const Failure failure = completed.error();
      const auto* const rejection = std::get_if<Rejection>(&failure);
      if (binary == &request.candidate || !rejection)
        return reported<Evaluation>(failure, std::move(request.report));
      request.report.incumbent_failed = rejection->diagnostics;
      request.rival.reset();
    }
    return std::nullopt;
  }

  /// The plan, if it is the same when the workloads at which a search does not evaluate are planned again.
  /// The evaluator has compared the others.
  Judged<PlanPtr> confirmed(const PlanPtr& partial, PlanPtr plan, const std::stop_token& stop) {
    const auto again = planner_.completed(partial, stop);
    if (!again) return again.error();
    if ((*again)->digest() == plan->digest()) return plan;
    return reject(Stage::integrity, RejectionCode::not_reproducible,
                  "planning the same source again gave another plan");
  }

  Result<Evaluation> evaluate(const RunRequest& request, bool alone, double& profiling_ms,
                              const std::stop_token& stop) {
    device_->host->be_alone(alone);
    auto evaluation = device_->judge->evaluate(request, stop);
    if (!evaluation || !evaluation->accepted()) return evaluation;
    const AddedTime watch(profiling_ms);
    const auto plan = std::dynamic_pointer_cast<const Plan>(request.candidate);
    const ReferenceFacts& reference = device_->host->reference();
    evaluation = with_shortcut(*evaluation, reference, device_->least_products_us);
    const auto rows = timed_rows(evaluation->report(), reference);
    // The workload that gains least.
    const auto worst =
        std::ranges::min_element(rows, {}, [](const TimedRow& row) { return row.result->speedup->median; });
    const std::size_t workload = worst == rows.end() ? 0 : worst->workload;
    const auto profile = device_->host->profile(plan, workload, stop);
    if (!profile) return evaluation;
    return with_profile(*evaluation, *profile, reference.workloads[workload].told.name, reference,
                        memory_text(reference));
  }

  SpentMs take_preparation() {
    const MutexLock lock(preparation_mutex_);
    return std::exchange(preparation_ms_, {});
  }

  static std::map<std::string, double> features_of(const std::map<std::string, double>& figures) {
    std::map<std::string, double> features;
    const auto take = [&](const char* figure, const char* feature) {
      if (const auto found = figures.find(figure); found != figures.end()) features[feature] = found->second;
    };
    take("launches", "own_kernels");
    take("aten_ops", "aten_ops");
    take("trivial", "trivial");
    take("registers", "registers");
    take("spill_bytes", "spill_bytes");
    take("shared_bytes", "shared_bytes");
    return features;
  }

  TaskPlanner planner_;
  const std::string toolchain_;
  Mutex mutex_;  ///< only one run at a time, because it changes the object of device_
  std::unique_ptr<OnDevice> device_;
  Error why_not_;
  Mutex preparation_mutex_;
  SpentMs preparation_ms_ KERNELSMITH_GUARDED_BY(preparation_mutex_);
};

std::shared_ptr<PlannerPool> make_pool(const Python& python, const TorchOptions& options,
                                       const PlannerLimits& limits) {
  const auto confinement = options.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
  const SandboxSpec spec = untrusted_program(python, "planner", confinement);
  return std::make_shared<PlannerPool>([spec] { return PythonProcess::start(spec); }, limits);
}

WorkerStart start_workers(const Python& python, int device, const WorkerLimits& limits) {
  const auto warm = std::make_shared<WarmProgram>(limits.start_s);
  return [python, device, warm](Role role, const std::stop_token& stop) {
    const std::vector<std::string> arguments = {role == Role::judge ? "judge" : "runner", "--device",
                                                std::to_string(device)};
    return warm->start(trusted_program(python, "worker", arguments), stop);
  };
}

ProcessSources sources_of(const Python& python, const TorchOptions& options, int device,
                          const Limits& limits) {
  const auto make = [&] {
    return ProcessSources{make_pool(python, options, limits.planner),
                          start_workers(python, device, limits.worker),
                          make_build_service(python.extensions, options.unsandboxed)};
  };
  if (!options.supply) return make();
  return options.supply->get({python.program, device, options.unsandboxed}, make);
}

/// The reference and its imports, on disk for the workers.
Result<ScratchFolder> write_reference(const Task& task) {
  auto folder = ScratchFolder::create();
  if (!folder) return folder.error();
  for (const auto& files : {task.reference.files(), task.files})
    for (const SourceFile& file : files)
      if (const Status written = folder->write(file.path, file.text); !written) return written.error();
  return folder;
}

/// The judge's task: with the reference's actual outputs, and its baseline.
std::shared_ptr<const Task> with_outputs(const Task& task, const ReferenceFacts& reference) {
  Task told = task;
  told.tensors = reference.workloads.front().outputs;
  if (const SourceFile* const module = baseline_module(task).value())
    told.baseline = Source::create({*module}).value();
  return std::make_shared<const Task>(std::move(told));
}

struct Opened {
  std::unique_ptr<ReferenceProcess> process;
  Result<DeviceFacts> device;
  Spares runners;  ///< started but unused; a failed one is reported when it is taken
};

/// The number of tries, and the pauses between them, in which a neighbour may end: a minute in all.
constexpr unsigned kOpenings = 20;
constexpr Seconds kFirstPause(0.25), kLongestPause(4);

/// The number of runners that are started at once: for a candidate, and for its yardstick.
constexpr int kFirstRunners = 2;

/// Retries while a neighbour leaves no room for a context.
Opened open_reference(const WorkerStart& start, const WorkerLimits& limits, const std::stop_token& stop) {
  Spares runners;
  for (int i = 0; i < kFirstRunners; ++i)
    if (auto runner = TrustedProcess::start(start, Role::runner, stop)) runners.push_back(std::move(*runner));
  auto process = std::make_unique<ReferenceProcess>(start, limits);
  auto device = process->open(stop);
  for (unsigned i = 1; i < kOpenings && !device && device.error().code == ErrorCode::busy; ++i) {
    pause_for(growing_pause(kFirstPause, i, kLongestPause), stop);
    device = process->open(stop);
  }
  return Opened{std::move(process), std::move(device), std::move(runners)};
}

std::unique_ptr<MemoryHold> hold_memory(OnDevice& device, const DeviceFacts& facts,
                                        const TorchOptions& options, double turn_s) {
  if (claimable(facts.memory_bytes) == 0) return nullptr;
  return std::make_unique<MemoryHold>(
      DeviceMemory(facts.bus_id, claimable(facts.memory_bytes)),
      [&device] { device.host ? device.host->release() : device.process->release(); }, options.tell, turn_s);
}

/// The task's own modules besides the reference; null if missing.
struct TaskPlans {
  PlanPtr seed, baseline;
};

Result<std::unique_ptr<Judge>> make_judge(const Task& task, OnDevice& device, const ReferenceFacts& reference,
                                          const std::vector<std::size_t>& searched, const TaskPlans& plans,
                                          SpentMs& spent, const std::stop_token& stop) {
  JudgeParts parts;
  parts.spent_ms = &spent;
  parts.task = with_outputs(task, reference);
  parts.host = device.host;
  parts.draw_bank = [host = device.host.get()] { return host->draw_bank(); };
  parts.degenerate = reference.has_degenerate();
  parts.shapes = device.host->shapes();
  if (searched.size() < reference.workloads.size()) parts.quick = device.host->shapes_of(searched);
  parts.yardstick = std::make_shared<const Reference>();
  parts.baseline = plans.baseline ? BinaryPtr(plans.baseline) : parts.yardstick;
  parts.seed = plans.seed;
  parts.now_s = [host = device.host.get()] { return host->now_s(); };
  return Judge::create(std::move(parts), stop);
}

/// The steps of preparing a task as a report has them.
SpentMs of_preparation(SpentMs steps, double whole_ms) {
  explain_rest(steps, whole_ms);
  SpentMs parts{{kPrepareStep, whole_ms}};
  for (const auto& [step, ms] : steps) parts[std::string(kPrepareStep) + ": " + step] = ms;
  return parts;
}

using PlannedTask = std::future<Result<TaskPlans>>;

/// Plans seed and baseline while the workers start.
PlannedTask plan_task(const TaskPlanner& planner, const std::stop_token& stop) {
  return std::async(std::launch::async, [&planner, stop]() -> Result<TaskPlans> {
    TaskPlans plans;
    auto baseline = planner.plan_baseline(stop);
    if (!baseline) return cannot_be_planned(baseline.error(), "baseline");
    plans.baseline = std::move(*baseline);
    if (planner.task().seed.empty()) return plans;
    auto planned = planner.plan_everywhere(planner.task().seed, stop);
    if (!planned) return cannot_be_planned(planned.error(), "seed");
    plans.seed = planned->plan;
    return plans;
  });
}

/// `guess_bytes` are claimed until the judge has measured what the task needs.
Result<std::unique_ptr<OnDevice>> prepare_device(const Task& task, const TorchOptions& options, Opened opened,
                                                 const WorkerStart& start, PlannedTask planning,
                                                 std::uint64_t guess_bytes, double turn_s, SpentMs& spent) {
  auto files = write_reference(task);
  if (!files) return files.error();
  ReferenceSettings settings;
  settings.reference = files->path() / task.reference.files().front().path;
  settings.torch = torch_settings(task).value();
  settings.tolerance = task.tolerance;
  settings.bank_bytes = options.bank_bytes;
  const DeviceFacts& facts = *opened.device;
  auto device = std::make_unique<OnDevice>(OnDevice{DeviceLease(facts.bus_id),
                                                    std::move(*files),
                                                    std::move(opened.process),
                                                    {},
                                                    {},
                                                    {},
                                                    guess_bytes,
                                                    {},
                                                    0,
                                                    {}});
  device->memory = hold_memory(*device, facts, options, turn_s);
  {
    const AddedTime watch(spent["read"]);
    device->process->read(settings, options.stop);
  }
  const auto on_device = [&](DeviceLease::Use use, const auto& step) {
    return with_device(*device, use, guess_bytes, {}, options.stop, [&](bool alone) {
      settings.alone = alone;
      return step();
    });
  };
  const auto tried = on_device(DeviceLease::Use::untimed,
                               [&] { return device->process->try_reference(settings, options.stop); });
  if (!tried) return tried.error();
  const auto reference =
      on_device(DeviceLease::Use::timed, [&] { return device->process->prepare(settings, options.stop); });
  if (!reference) return reference.error();
  spent.insert(reference->spent_ms.begin(), reference->spent_ms.end());
  const auto plans = [&] {
    const AddedTime watch(spent["plan"]);
    return planning.get();
  }();
  if (!plans) return plans.error();
  device->need_bytes = reference->largest().need_bytes;
  for (const WorkloadFacts& one : reference->workloads)
    device->least_products_us.push_back(least_products_us(one.flops, facts.arch, settings.torch.precision));
  device->searched = searched_workloads(*reference, task.digest);
  device->host = std::make_shared<TorchHost>(*device->process, start, std::move(opened.runners), settings,
                                             facts, *reference, !options.unsandboxed);
  device->host->set_baseline(plans->baseline);
  // The judge times the baseline on the device.
  SpentMs of_judge;
  auto judge =
      with_device(*device, DeviceLease::Use::timed, device->need_bytes, {}, options.stop, [&](bool alone) {
        device->host->be_alone(alone);
        return make_judge(task, *device, *reference, device->searched, *plans, of_judge, options.stop);
      });
  if (!judge) return judge.error();
  device->judge = std::move(*judge);
  spent["wait"] = device->waited_ms;
  spent["start"] += device->host->waited_s() * 1e3;
  for (const auto& [step, ms] : of_judge) spent[step.substr(step.find(": ") + 2)] += ms;
  return device;
}

/// For another vendor's GPU no device is opened, because its plans are not run.
Opened open_unless_other(const WorkerStart& start, const TorchOptions& options, const WorkerLimits& limits) {
  if (options.arch.empty()) return open_reference(start, limits, options.stop);
  return Opened{nullptr,
                fail(ErrorCode::unsupported, "modules run on NVIDIA's GPUs only, and not on " + options.arch,
                     "evaluator.arch", "leave evaluator.arch out to measure on the GPU that is here"),
                {}};
}

/// The backend on one GPU, or for work that needs no GPU.
Result<DeviceBackend> make_on(const std::shared_ptr<const Task>& task, const TorchOptions& options,
                              const Limits& limits, int device_index) {
  if (auto supported = check_supported(*task); !supported) return supported.error();
  const Stopwatch whole;
  SpentMs spent;
  const auto python = find_python(options.python);
  if (!python) return python.error();
  const auto [pool, start, extensions] = sources_of(*python, options, device_index, limits);
  // The planner and the warm process of the workers import PyTorch, which takes seconds.
  auto opening = std::async(std::launch::async, open_unless_other, start, options, limits.worker);
  const auto facts = pool->facts(options.stop);
  if (!facts) return facts.error();
  Opened opened = opening.get();
  spent["start"] = whole.ms();
  if (!opened.device && (options.must_measure || opened.device.error().code != ErrorCode::unsupported))
    return opened.device.error();

  TaskPlanner planner(task, pool, extensions, options.arch);
  if (opened.device) planner.plan_for(opened.device->arch);
  const Stopwatch planning_reference;
  const auto reference = planner.plan_reference(options.stop);
  spent["plan"] = planning_reference.ms();
  // A reference may use features that candidates may not, because it runs unchanged on a GPU.
  if (!reference && !opened.device) return cannot_be_planned(reference.error(), "reference");
  if (reference) planner.compare_with(reference->heavy);
  PlannedTask planning = plan_task(planner, options.stop);
  auto backend = std::make_shared<TorchBackend>(planner, facts->words());
  if (!opened.device) {
    if (auto planned = planning.get(); !planned) return planned.error();
    Error why = opened.device.error();
    why.message = "the candidate was planned, but there is no GPU to run it on: " + why.message;
    backend->cannot_run(std::move(why));
    backend->prepared_in(of_preparation(spent, whole.ms()));
    return DeviceBackend{std::move(backend), {}};
  }
  const std::string hardware = opened.device->hardware;
  const CallBytes call = reference ? largest_call(*reference->plan) : CallBytes{};
  auto device = prepare_device(planner.task(), options, std::move(opened), start, std::move(planning),
                               guess_of_need(call), limits.memory_turn_s, spent);
  if (!device) return device.error();
  backend->prepared_in(of_preparation(spent, whole.ms()));
  backend->search_at((*device)->searched);
  backend->judge_on(std::move(*device));
  return DeviceBackend{std::move(backend), hardware};
}

}  // namespace

Result<std::shared_ptr<Backend>> make_backend(const std::shared_ptr<const Task>& task,
                                              const TorchOptions& options, const Limits& limits) {
  return make_backend_on(options.devices, [&](int device) { return make_on(task, options, limits, device); });
}

}  // namespace torch

Result<std::shared_ptr<Backend>> make_torch_backend(const std::shared_ptr<const Task>& task,
                                                    const TorchOptions& options) {
  return torch::make_backend(task, options, {});
}

Result<std::shared_ptr<Evaluator>> make_torch_evaluator(Task task, const TorchOptions& options) {
  const auto shared = std::make_shared<const Task>(std::move(task));
  auto backend = make_torch_backend(shared, options);
  if (!backend) return backend.error();
  return make_staged_evaluator(shared, std::move(*backend),
                               EvaluatorOptions::for_devices(options.devices.count));
}

Result<std::string> describe_torch_plan(const Task& task, const Source& source, const TorchOptions& options) {
  if (auto supported = torch::check_supported(task); !supported) return supported.error();
  const auto python = torch::find_python(options.python);
  if (!python) return python.error();
  const torch::TaskPlanner planner(std::make_shared<const Task>(task), torch::make_pool(*python, options, {}),
                                   torch::make_build_service(python->extensions, options.unsandboxed),
                                   options.arch);
  const auto planned = planner.plan(source, {});
  if (planned) {
    const auto reference = planner.plan_reference({});
    const std::string wrong = reference ? torch::different_outputs(*reference->plan, *planned->plan) : "";
    if (wrong.empty())
      return planned->text + (reference ? torch::need_text(torch::largest_call(*reference->plan)) : "");
    return fail(ErrorCode::refused, std::string(name_of(RejectionCode::wrong_output)) + ": " + wrong);
  }
  return refused_alone(planned.error());
}

}  // namespace kernelsmith
