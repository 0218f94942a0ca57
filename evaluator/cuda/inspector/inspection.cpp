#include "inspector/inspection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "inspector/profile.hpp"
#include "inspector/sanitizer.hpp"
#include "inspector/source_lines.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr std::size_t kLargestLog = std::size_t{8} << 20;
/// Another part checks what a call may request; the planner only needs a limit.
constexpr std::uint64_t kWorkspaceBytes = std::uint64_t{4} << 30;

/// The inputs of all shapes, in shared memory.
struct SharedInputs {
  Descriptor values;
  InspectorMemory memory;
};

Status write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(ErrorCode::io, std::string("write: ") + std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<SharedInputs> draw(const InspectionSetup& setup, const PlannedBinary& planned) {
  SharedInputs drawn;
  drawn.values = Descriptor(::memfd_create("kernelsmith-inputs", MFD_CLOEXEC));
  if (!drawn.values) return fail(ErrorCode::io, std::string("memfd_create: ") + std::strerror(errno));
  InputRecipe recipe{draw_key(), draw_key()};
  for (std::size_t shape = 0; shape < setup.shapes->size(); ++shape) {
    const auto inputs = draw_inputs(*setup.task, *setup.shapes, shape, recipe, nullptr);
    if (!inputs) return inputs.error();
    for (std::size_t t = 0; t < setup.task->tensors.size(); ++t) {
      const bool filled = setup.task->tensors[t].role != TensorRole::out;
      drawn.memory.tensors.push_back({(*setup.shapes)[shape].extents[t].bytes, filled});
      if (!filled) continue;
      if (auto written = write_all(drawn.values.get(), (*inputs)[t]); !written) return written.error();
    }
  }
  for (const plan::Plan& plan : planned.by_shape) {
    drawn.memory.kept_workspace = std::max(drawn.memory.kept_workspace, plan.calls.front().kept_workspace);
    drawn.memory.call_workspace = std::max(drawn.memory.call_workspace, plan.calls.front().call_workspace);
  }
  return drawn;
}

CallAddressesPtr where_of(const InspectionSetup& setup, const InspectorAddresses& addresses) {
  auto where = std::make_shared<CallAddresses>();
  where->workspace = {addresses.kept_workspace, addresses.call_workspace, kWorkspaceBytes};
  auto address = addresses.tensors.begin();
  for (const TaskShape& shape : *setup.shapes) {
    std::vector<plan::Buffer> tensors;
    for (std::size_t t = 0; t < setup.task->tensors.size(); ++t)
      tensors.push_back({*address++, shape.extents[t].bytes, setup.task->tensors[t].role != TensorRole::in});
    where->buffers.push_back({std::move(tensors)});
  }
  return where;
}

/// The result of one tool.
struct ToolRun {
  std::string end;  ///< how the tool ended: "exit status 0"
  std::string log;
};

/// Runs one call at each of the first shapes under the tool. A kernel's fault ends the run early, and the
/// tool reports the fault.
Result<std::string> run_under(const Tool& tool, const InspectionSetup& setup, const PlannedBinary& planned,
                              const SharedInputs& inputs, std::size_t shapes, const std::stop_token& stop) {
  const auto deadline = Channel::Clock::now() + std::chrono::duration_cast<Channel::Clock::duration>(
                                                    std::chrono::duration<double>(setup.timeout_s));
  auto process = InspectorProcess::start(tool, setup.inspector, deadline, stop);
  if (!process) return process.error();
  const auto addresses = process->map(inputs.memory, inputs.values.get());
  if (!addresses) return addresses.error();
  const auto moved = setup.plan(planned.binary, where_of(setup, *addresses), stop);
  if (!moved) return fail(ErrorCode::tool_failed, "the candidate could not be planned again");
  for (std::size_t shape = 0; shape < shapes; ++shape) {
    const auto replayed = process->replay((*moved)->by_shape[shape]);
    if (replayed) continue;
    const Failure failure = replayed.error();
    if (const auto* error = std::get_if<Error>(&failure)) return *error;
    break;
  }
  return process->finish();
}

Result<ToolRun> run_tool(const std::function<Tool(const std::filesystem::path&)>& tool,
                         const InspectionSetup& setup, const PlannedBinary& planned,
                         const SharedInputs& inputs, std::size_t shapes, const std::stop_token& stop) {
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  auto end = run_under(tool(scratch->path() / "log"), setup, planned, inputs, shapes, stop);
  if (!end) return end.error();
  auto log = scratch->read("log", kLargestLog);
  if (!log) return log.error();
  return ToolRun{std::move(*end), std::move(*log)};
}

void sanitize(const InspectionSetup& setup, const PlannedBinary& planned, const SharedInputs& inputs,
              const std::stop_token& stop, Inspection& inspection) {
  std::vector<std::future<Result<ToolRun>>> runs;
  for (const std::string_view which : kSanitizers)
    runs.push_back(std::async(std::launch::async, [&, which] {
      const auto tool = [&](const std::filesystem::path& log) {
        return sanitizer(*setup.sanitizer, which, log);
      };
      return run_tool(tool, setup, planned, inputs, setup.shapes->size(), stop);
    }));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto run = runs[i].get();
    const std::string name = "compute-sanitizer " + std::string(kSanitizers[i]);
    const std::string findings = run ? findings_in(run->log) : "";
    if (run && run->end == kFound && !findings.empty())
      inspection.unsafe += name + ":\n" + findings;
    else if (!run || run->end != "exit status 0")
      inspection.notes.push_back({name, run ? run->end + "\n" + run->log : describe(run.error())});
  }
}

void profile(const InspectionSetup& setup, const PlannedBinary& planned, const SharedInputs& inputs,
             const std::stop_token& stop, Inspection& inspection) {
  const auto tool = [&](const std::filesystem::path& log) { return profiler(*setup.profiler, log); };
  const auto run = run_tool(tool, setup, planned, inputs, 1, stop);
  const auto launches = run ? counters_in(run->log) : Result<std::vector<LaunchCounters>>(run.error());
  if (launches)
    inspection.advice = advice_of(*launches);
  else
    inspection.notes.push_back({"ncu", describe(launches.error())});
}

/// Uses the full set of counters, or the short one if ncu does not support all of them on this GPU.
Result<std::vector<LaunchCounters>> count(const InspectionSetup& setup, const PlannedBinary& planned,
                                          const SharedInputs& inputs, const std::stop_token& stop,
                                          GpuProfile& profile) {
  const auto counted = [&](CounterSet counters) -> Result<std::vector<LaunchCounters>> {
    const auto run =
        run_tool([&](const std::filesystem::path& log) { return profiler(*setup.profiler, log, counters); },
                 setup, planned, inputs, 1, stop);
    return run ? counters_in(run->log) : Result<std::vector<LaunchCounters>>(run.error());
  };
  auto full = counted(CounterSet::full);
  if (full || stop.stop_requested()) return full;
  auto brief = counted(CounterSet::brief);
  if (brief) profile.missing.push_back("roofline: ncu did not give its counters: " + describe(full.error()));
  return brief;
}

Status add_hot_lines(const InspectionSetup& setup, const PlannedBinary& planned, const SharedInputs& inputs,
                     const Source& source, const std::stop_token& stop, GpuProfile& profile) {
  auto folder = ScratchFolder::create();
  if (!folder) return folder.error();
  for (const SourceFile& file : source.files())
    if (auto written = folder->write(file.path, file.text); !written) return written;
  const auto run = run_tool(
      [&](const std::filesystem::path& log) { return line_profiler(*setup.profiler, folder->path(), log); },
      setup, planned, inputs, 1, stop);
  const auto lines = run ? lines_in(run->log) : std::vector<LaunchLines>();
  add_lines(lines, profile.launches);
  if (lines.empty())
    profile.missing.push_back("source lines: " +
                              (run ? "ncu printed none: " + words_of_ncu(run->log) : describe(run.error())));
  return {};
}

}  // namespace

InspectFunction inspecting_with(InspectionSetup setup) {
  if (!setup.sanitizer && !setup.profiler) return {};
  return [setup = std::move(setup)](const PlannedBinary& planned,
                                    const std::stop_token& stop) -> Result<Inspection> {
    const auto inputs = draw(setup, planned);
    if (!inputs) return inputs.error();
    Inspection inspection;
    if (setup.sanitizer) sanitize(setup, planned, *inputs, stop, inspection);
    if (setup.profiler && inspection.unsafe.empty()) profile(setup, planned, *inputs, stop, inspection);
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
    return inspection;
  };
}

Status add_profile(const InspectionSetup& setup, const PlannedBinary& planned, const Source& source,
                   const std::stop_token& stop, GpuProfile& profile) {
  if (!setup.profiler) {
    profile.missing.emplace_back("counters and source lines: ncu is not installed (see kernelsmith doctor)");
    return {};
  }
  const auto inputs = draw(setup, planned);
  if (!inputs) return inputs.error();
  const auto counted = count(setup, planned, *inputs, stop, profile);
  if (counted) {
    add_counts(*counted, profile.launches);
    if (auto added = add_hot_lines(setup, planned, *inputs, source, stop, profile); !added) return added;
  } else {
    profile.missing.push_back("counters and source lines: " + describe(counted.error()));
  }
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
  return {};
}

}  // namespace kernelsmith::cuda
