#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/evaluator/bound.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/device_lease.hpp>
#include <kernelsmith/evaluator/device_memory.hpp>
#include <kernelsmith/evaluator/judge.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>
#include <kernelsmith/evaluator/supported.hpp>
#include <kernelsmith/sandbox/locate.hpp>

#include "call_differences.hpp"
#include "cuda_host.hpp"
#include "cuda_oracle.hpp"
#include "embedded_texts.hpp"
#include "gpu.hpp"
#include "inspector/inspection.hpp"
#include "inspector/inspection_policy.hpp"
#include "inspector/tool.hpp"
#include "launch_profiles.hpp"
#include "plan_cache.hpp"
#include "rates.hpp"
#include "task_objects.hpp"
#include "toolchain/cuda_source.hpp"
#include "vendors/nvidia/nvidia.hpp"
#include "vendors/vendors.hpp"

namespace kernelsmith {
namespace cuda {
namespace {

/// The most calls in a batch. Even with the shortest kernels such a batch takes about 60 us, a hundred times
/// the scatter of an event's time.
constexpr std::size_t kMostSlots = 32;
/// The smallest time limit for planning a call, because the machine may be compiling at the same time.
constexpr double kLeastPlanS = 10;
/// The most threads that compute tolerances of outputs, which is work for the processor.
constexpr std::size_t kMostOracleThreads = 8;

/// Claimed bytes of a device, with the DeviceMemory that they come from.
struct MemoryClaimed {
  DeviceMemory memory;
  std::optional<DeviceMemory::Held> held;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::shared_ptr<const Task> task, std::shared_ptr<const CudaCompiler> compiler,
              std::shared_ptr<PlanCache> plans, DeviceFacts device)
      : task_(std::move(task)),
        compiler_(std::move(compiler)),
        plans_(std::move(plans)),
        device_(std::move(device)) {}

  /// Keeps the claim on device memory for the task's tensors and workspace.
  void claim(std::unique_ptr<MemoryClaimed> memory) { memory_ = std::move(memory); }

  /// Sets the objects that need the device. Without a device, run() fails with cannot_run()'s `why`.
  void judge_with(std::unique_ptr<Judge> judge, DeviceLease lease, double bytes_per_us,
                  InspectFunction inspect) {
    const MutexLock lock(mutex_);
    judge_ = std::move(judge);
    lease_ = std::move(lease);
    bytes_per_us_ = bytes_per_us;
    if (!inspect) return;
    inspections_ =
        InspectionPolicy([plans = plans_, inspect = std::move(inspect)](
                             const BinaryPtr& binary, const std::stop_token& stop) -> Result<Inspection> {
          const auto planned = plans->find_or_plan(std::static_pointer_cast<const CudaBinary>(binary), stop);
          if (!planned) return fail(ErrorCode::tool_failed, "the candidate could not be planned again");
          return inspect(**planned, stop);
        });
  }
  void cannot_run(Error why) { why_not_ = std::move(why); }
  /// Keeps the folder of the runner's own kernels, which every started runner reads.
  void keep(std::unique_ptr<ScratchFolder> runner_kernels) { runner_kernels_ = std::move(runner_kernels); }

  Result<Compilation> compile(const Source& source, std::stop_token stop) override {
    Report report;
    report.toolchain = compiler_->description();
    Compilation compilation{Rejection{}, {}, {}};
    auto built = build_and_plan(source, stop, report, compilation.features);
    if (built) {
      compilation.outcome = std::move(*built);
      compilation.report = std::move(report);
      return compilation;
    }
    return reported<Compilation>(built.error(), std::move(report));
  }

  Result<Evaluation> run(RunRequest request, std::stop_token stop) override {
    if (!judge_) return why_not_;
    const MutexLock lock(mutex_);
    const auto held = in_turn(request.works, [&] { return lease_->take(stop); });
    if (!held) return held.error();
    auto evaluation = judge_->evaluate(request, stop);
    if (!evaluation) return evaluation;
    return inspections_.look(
        with_bound(with_features(*evaluation, rates_of(*task_, evaluation->report(), bytes_per_us_))),
        request, stop);
  }

 private:
  Judged<BinaryPtr> build_and_plan(const Source& source, const std::stop_token& stop, Report& report,
                                   std::map<std::string, double>& features) {
    const Stopwatch compiling;
    auto output = compiler_->compile(source, stop);
    report.spent_ms["compile"] = compiling.ms();
    if (!output) return output.error();
    if (!output->log.empty()) report.artifacts.push_back({"compile.log", std::move(output->log)});
    const Stopwatch planning;
    auto planned = plans_->find_or_plan(output->binary, stop);
    report.spent_ms["plan"] = planning.ms();
    if (!planned) return planned.error();
    features = features_of(**planned, device_);
    features[kPeakMemory] = peak_memory(**planned, task_->timed.size());
    features[kCompileMs] = report.spent_ms["compile"];
    report.artifacts.push_back({"kernels.txt", kernel_table(**planned)});
    report.artifacts.push_back({"plan.txt", plan_text(**planned, *task_)});
    return BinaryPtr(std::move(output->binary));
  }

  const std::shared_ptr<const Task> task_;
  const std::shared_ptr<const CudaCompiler> compiler_;
  const std::shared_ptr<PlanCache> plans_;
  const DeviceFacts device_;               ///< the GPU's, or the planned target's
  std::unique_ptr<MemoryClaimed> memory_;  ///< released after all members that follow
  std::unique_ptr<ScratchFolder> runner_kernels_;
  Mutex mutex_;
  std::unique_ptr<Judge> judge_ KERNELSMITH_PT_GUARDED_BY(mutex_);
  std::optional<DeviceLease> lease_;
  double bytes_per_us_ = 0;  ///< bandwidth of the device's memory
  InspectionPolicy inspections_ KERNELSMITH_GUARDED_BY(mutex_);
  Error why_not_;
};

const GpuVendor& vendor_of(const CudaOptions& options) {
  return options.vendor != nullptr ? *options.vendor : nvidia();
}

/// The vendor's planner.
Result<std::filesystem::path> locate_planner(const GpuVendor& vendor) {
  std::string variable = "KERNELSMITH_" + std::string(vendor.backend) + "_PLANNER";
  std::ranges::transform(variable, variable.begin(), [](unsigned char c) { return std::toupper(c); });
  return locate_program("kernelsmith-" + std::string(vendor.backend) + "-planner", variable.c_str());
}

Status check_supported(const Task& task, const GpuVendor& vendor) {
  if (auto s = check_backend(task, vendor.backend); !s) return s;
  if (!task.inputs.empty())
    return fail(ErrorCode::unsupported, "the " + task.backend + " backend takes no generator of inputs yet",
                "files: inputs", "use one of the kinds of init in docs/formats.md");
  return check_bounded_by_bytes(task);
}

/// What an evaluator and the checks of a task both begin with.
struct Prepared {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const std::vector<TaskShape>> shapes;
  std::shared_ptr<Gpu> gpu;  ///< null without a device
  Error why_no_gpu;
  std::shared_ptr<const CudaCompiler> compiler;
  Objects objects;
  PlanSetup plan;
  std::unique_ptr<ScratchFolder>
      runner_kernels;  ///< folder of the runner's own kernels; null if they need no file
};

Result<std::shared_ptr<Device>> open_device(const GpuVendor& vendor, int device) {
  std::string why;
  const int count = Device::count(vendor, &why);
  if (count == 0)
    return fail(ErrorCode::unsupported,
                "the candidate was compiled and planned, but there is no GPU to run it on: " + why, {},
                "run this on a machine with a GPU of " + std::string(vendor.maker) +
                    " and its driver (kernelsmith doctor says what it sees)");
  if (device >= count)
    return fail(ErrorCode::unsupported,
                "there is no GPU " + std::to_string(device) + ": this machine has " + std::to_string(count),
                "evaluator.device");
  return Device::open(vendor, device);
}

/// Prepares the start of runners. Compiles the runner's own kernels if the driver does not assemble them.
Status start_runners(Prepared& prepared, std::shared_ptr<Device> device, const GpuVendor& vendor,
                     const std::stop_token& stop) {
  auto runner = locate_program("kernelsmith-cuda-runner", "KERNELSMITH_CUDA_RUNNER");
  if (!runner) return runner.error();
  RunnerSettings settings{std::move(*runner), device->index(), &vendor, {}};
  if (vendor.own_kernels.all == nullptr) {
    const auto image = prepared.compiler->build_kernels(kOwnKernels, stop);
    if (!image) return image.error();
    auto folder = ScratchFolder::create();
    if (!folder) return folder.error();
    prepared.runner_kernels = std::make_unique<ScratchFolder>(std::move(*folder));
    const std::string text(reinterpret_cast<const char*>(image->data()), image->size());
    if (auto written = prepared.runner_kernels->write("own_kernels", text); !written) return written;
    settings.kernels = prepared.runner_kernels->path() / "own_kernels";
  }
  auto gpu = Gpu::create(std::move(device), [settings] { return Runner::start(settings); });
  if (!gpu) return gpu.error();
  prepared.gpu = std::move(*gpu);
  return {};
}

Result<Prepared> prepare(std::shared_ptr<const Task> task, const CudaOptions& options, int device) {
  const GpuVendor& vendor = vendor_of(options);
  if (auto s = check_supported(*task, vendor); !s) return s.error();
  auto planner = locate_planner(vendor);
  if (!planner) return planner.error();
  Prepared prepared;
  prepared.shapes = std::make_shared<const std::vector<TaskShape>>(shapes_of(*task));
  CompilerOptions compiling;
  compiling.vendor = &vendor;
  compiling.toolkit = options.toolkit;
  compiling.flags = options.flags;
  compiling.unsandboxed = options.unsandboxed;
  auto opened = open_device(vendor, device);
  if (!opened && opened.error().code != ErrorCode::unsupported) return opened.error();
  if (!opened) prepared.why_no_gpu = opened.error();
  const DeviceFacts facts = opened ? (*opened)->facts() : vendor.device.usual();
  if (!options.arch.empty())
    compiling.arch = options.arch;
  else if (opened)
    compiling.arch = vendor.device.arch_of(facts, (*opened)->bus_id());
  auto compiler = CudaCompiler::create(*task, compiling, options.stop);
  if (!compiler) return compiler.error();
  prepared.compiler = std::move(*compiler);
  if (opened)
    if (auto started = start_runners(prepared, std::move(*opened), vendor, options.stop); !started)
      return started.error();
  auto objects = build_objects(*task, *prepared.compiler, options.stop);
  if (!objects) return objects.error();
  prepared.task = std::move(task);
  prepared.objects = std::move(*objects);
  prepared.plan = {{*planner, facts, made_up_workspace(), options.unsandboxed, vendor.names},
                   *prepared.shapes,
                   std::max(kLeastPlanS, prepared.task->timeout_s)};
  return prepared;
}

BufferLayout layout_of(const Prepared& prepared, const CudaOptions& options) {
  return {*prepared.task, *prepared.shapes, OraclePrecision::declared, options.buffer_bytes, kMostSlots};
}

/// The device memory of a task: tensors of a batch and copies of their outputs, sets of inputs, the oracle's
/// tensors in two precisions, contexts of the judge and two runners, workspace.
std::uint64_t need_of(const Prepared& prepared, const CudaOptions& options) {
  constexpr std::uint64_t kContexts = 3 * (std::uint64_t{500} << 20), kWorkspace = std::uint64_t{1} << 30;
  const BufferLayout layout = layout_of(prepared, options);
  std::uint64_t call = 0;
  for (std::size_t t = 0; t < layout.tensors(); ++t) call += layout.piece_bytes(t);
  return 2 * layout.slots() * call + options.bank_bytes + 3 * call + kContexts + kWorkspace;
}

/// Claims the device memory that the task needs, and waits until it is free.
Result<std::unique_ptr<MemoryClaimed>> claim_memory(const Prepared& prepared, const CudaOptions& options) {
  const Device& gpu = prepared.gpu->device();
  auto claimed = std::make_unique<MemoryClaimed>(
      MemoryClaimed{DeviceMemory(gpu.bus_id(), claimable(gpu.facts().memory_bytes)), {}});
  auto held = claimed->memory.take(need_of(prepared, options), options.stop, options.tell);
  if (!held) return held.error();
  claimed->held.emplace(std::move(*held));
  return claimed;
}

CallAddressesPtr made_up_addresses(const Prepared& prepared, const CudaOptions& options) {
  auto where = std::make_shared<CallAddresses>();
  where->workspace = made_up_workspace();
  const BufferLayout layout = layout_of(prepared, options);
  for (std::size_t shape = 0; shape < prepared.shapes->size(); ++shape) {
    auto& slots = where->buffers.emplace_back();
    for (std::size_t slot = 0; slot < layout.slots(); ++slot) slots.push_back(layout.made_up(shape, slot));
  }
  return where;
}

/// Plans the task's own kernels at made-up addresses, so that mistakes in them are found without a GPU.
Status plan_trusted(const Prepared& prepared, PlanCache& plans, const std::stop_token& stop) {
  const Objects& objects = prepared.objects;
  const std::vector<std::pair<CudaBinaryPtr, std::string>> all = {{objects.declared, "reference"},
                                                                  {objects.baseline, "baseline"},
                                                                  {objects.seed, "seed"},
                                                                  {objects.yardstick, "yardstick"}};
  for (const auto& [binary, what] : all)
    if (binary)
      if (auto made = plans.find_or_plan(binary, stop); !made) return cannot_be_planned(made.error(), what);
  return {};
}

/// All oracles share one runner, because their calls take only milliseconds.
OracleFactory oracle_factory(const Prepared& prepared) {
  CudaOracle::Setup setup{prepared.task, prepared.shapes, nullptr, std::make_shared<OracleRunner>(),
                          planning_with(prepared.plan)};
  setup.device = prepared.gpu->shared_device();
  setup.runner->start = prepared.gpu->runner_start();
  return [setup, objects = prepared.objects](const std::stop_token& stop) -> Result<Oracles> {
    auto declared = CudaOracle::create(setup, objects.declared, OraclePrecision::declared, stop);
    if (!declared) return declared.error();
    Oracles oracles{std::move(*declared), nullptr, nullptr};
    if (!objects.wide) return oracles;
    auto wide = CudaOracle::create(setup, objects.wide, truth_precision_on_gpu(*setup.task), stop);
    if (!wide) return wide.error();
    oracles.wide = std::move(*wide);
    return oracles;
  };
}

Result<std::unique_ptr<Judge>> make_judge(const Prepared& prepared, const std::shared_ptr<PlanCache>& plans,
                                          const CudaOptions& options) {
  const auto kernels = prepared.compiler->build_kernels(kJudgeKernels, options.stop);
  if (!kernels) return kernels.error();
  auto host = CudaHost::create(prepared.task, prepared.gpu, plans, layout_of(prepared, options), *kernels,
                               !options.unsandboxed);
  if (!host) return host.error();
  JudgeParts parts;
  parts.task = prepared.task;
  parts.host = *host;
  parts.oracles = oracle_factory(prepared);
  parts.oracle_threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, kMostOracleThreads);
  parts.bank.bytes = options.bank_bytes;
  parts.bank.seconds = options.bank_seconds;
  parts.baseline = prepared.objects.baseline;
  parts.seed = prepared.objects.seed;
  parts.yardstick = prepared.objects.yardstick;
  return Judge::create(std::move(parts), options.stop);
}

/// The setup for inspections with the tools that this machine has. Errors: tool_missing (the inspector's
/// program).
Result<InspectionSetup> inspection_setup(const Prepared& prepared) {
  auto program = locate_program("kernelsmith-cuda-inspector", "KERNELSMITH_CUDA_INSPECTOR");
  if (!program) return program.error();
  const std::filesystem::path& toolkit = prepared.compiler->toolkit().root;
  return InspectionSetup{{std::move(*program), prepared.gpu->device().index()},
                         prepared.task,
                         prepared.shapes,
                         planning_with(prepared.plan),
                         find_cuda_tool("compute-sanitizer", toolkit),
                         find_cuda_tool("ncu", toolkit)};
}

/// Errors: inspection_setup's.
Result<InspectFunction> make_inspection(const Prepared& prepared, const CudaOptions& options) {
  if (!options.inspect || !vendor_of(options).inspected) return InspectFunction();
  auto setup = inspection_setup(prepared);
  if (!setup) return setup.error();
  return inspecting_with(std::move(*setup));
}

/// Plans a single candidate at made-up addresses. Errors: `refused` with its diagnostics if it cannot be
/// compiled or planned.
Result<PlannedBinaryPtr> planned_alone(const Prepared& prepared, const Source& source,
                                       const CudaOptions& options) {
  const auto output = prepared.compiler->compile(source, options.stop);
  if (!output) return refused_alone(output.error());
  auto planned =
      plan_binary(prepared.plan, output->binary, made_up_addresses(prepared, options), options.stop);
  if (!planned) return refused_alone(planned.error());
  return std::move(*planned);
}

/// Adds ncu's counts to the profile if ncu supports the vendor's GPUs and this machine has such a GPU.
Status count_on_gpu(const Prepared& prepared, const PlannedBinary& planned, const Source& source,
                    const CudaOptions& options, GpuProfile& profile) {
  const GpuVendor& vendor = vendor_of(options);
  if (!prepared.gpu || !vendor.inspected) {
    profile.missing.push_back("counters, stalls and source lines: " +
                              (prepared.gpu ? "none are read from GPUs of " + std::string(vendor.maker)
                                            : std::string("there is no GPU to run it on")));
    return {};
  }
  const DeviceLease lease(prepared.gpu->device().bus_id());
  const auto held = lease.take(options.stop);
  if (!held) return held.error();
  const auto setup = inspection_setup(prepared);
  if (!setup) return setup.error();
  return add_profile(*setup, planned, source, options.stop, profile);
}

/// The backend on one GPU, or for work that needs no GPU.
Result<DeviceBackend> make_on(const std::shared_ptr<const Task>& task, const CudaOptions& options,
                              int device) {
  auto prepared = prepare(task, options, device);
  if (!prepared) return prepared.error();
  auto plans = std::make_shared<PlanCache>(planning_with(prepared->plan));
  auto backend =
      std::make_shared<CudaBackend>(prepared->task, prepared->compiler, plans, prepared->plan.planner.device);
  if (!prepared->gpu) {
    plans->move_to(made_up_addresses(*prepared, options));
    if (auto planned = plan_trusted(*prepared, *plans, options.stop); !planned) return planned.error();
    backend->cannot_run(prepared->why_no_gpu);
    return DeviceBackend{std::move(backend), {}};
  }
  Device& gpu = prepared->gpu->device();
  auto memory = claim_memory(*prepared, options);
  if (!memory) return memory.error();
  backend->claim(std::move(*memory));
  DeviceLease lease(gpu.bus_id());
  const auto held = lease.take(options.stop);  // because make_judge() times the baseline
  if (!held) return held.error();
  auto judge = make_judge(*prepared, plans, options);
  if (!judge) return judge.error();
  const auto bytes_per_us = gpu.bandwidth();
  if (!bytes_per_us) return bytes_per_us.error();
  auto inspect = make_inspection(*prepared, options);
  if (!inspect) return inspect.error();
  backend->keep(std::move(prepared->runner_kernels));
  backend->judge_with(std::move(*judge), std::move(lease), *bytes_per_us, std::move(*inspect));
  return DeviceBackend{std::move(backend), gpu.hardware()};
}

}  // namespace
}  // namespace cuda

Result<std::shared_ptr<Backend>> make_cuda_backend(std::shared_ptr<const Task> task,
                                                   const CudaOptions& options) {
  return make_backend_on(options.devices, [&](int device) { return cuda::make_on(task, options, device); });
}

Result<std::shared_ptr<Evaluator>> make_cuda_evaluator(Task task, const CudaOptions& options) {
  const auto shared = std::make_shared<const Task>(std::move(task));
  auto backend = make_cuda_backend(shared, options);
  if (!backend) return backend.error();
  return make_staged_evaluator(shared, std::move(*backend),
                               EvaluatorOptions::for_devices(options.devices.count));
}

Result<std::vector<PrecisionCheck>> check_cuda_precision(const Task& task, const CudaOptions& options) {
  const auto prepared = cuda::prepare(std::make_shared<const Task>(task), options, options.devices.first);
  if (!prepared) return prepared.error();
  if (!prepared->gpu) return prepared->why_no_gpu;
  return check_precision(task, cuda::oracle_factory(*prepared));
}

Result<std::string> describe_cuda_plan(const Task& task, const Source& source, const CudaOptions& options) {
  const auto prepared = cuda::prepare(std::make_shared<const Task>(task), options, options.devices.first);
  if (!prepared) return prepared.error();
  const auto planned = cuda::planned_alone(*prepared, source, options);
  if (!planned) return planned.error();
  return cuda::kernel_table(**planned) + "\n" + cuda::plan_text(**planned, task) +
         cuda::call_differences(**planned, task);
}

Result<GpuProfile> profile_cuda(const Task& task, const Source& source, CudaOptions options) {
  // Line information does not change instructions.
  if (cuda::vendor_of(options).inspected) options.flags.emplace_back("-lineinfo");
  const auto prepared = cuda::prepare(std::make_shared<const Task>(task), options, options.devices.first);
  if (!prepared) return prepared.error();
  const auto planned = cuda::planned_alone(*prepared, source, options);
  if (!planned) return planned.error();
  const cuda::DeviceFacts& device = prepared->plan.planner.device;
  GpuProfile profile{device.name, cuda::launch_profiles(**planned, device), {}};
  if (auto counted = cuda::count_on_gpu(*prepared, **planned, source, options, profile); !counted)
    return counted.error();
  return profile;
}

std::string cuda_task_header(const Task& task) {
  const cuda::GpuVendor* const vendor = cuda::vendor_named(task.backend);
  const cuda::Toolchain& tools = (vendor != nullptr ? *vendor : cuda::nvidia()).toolchain;
  return cuda::task_header(task, tools.dialect, OraclePrecision::declared);
}

}  // namespace kernelsmith
