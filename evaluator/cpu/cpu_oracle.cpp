#include "cpu_oracle.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <kernelsmith/evaluator/crash_causes.hpp>

#include "signature.hpp"

namespace kernelsmith::cpu {
namespace {

/// The limit of one call: a plain reference at a large shape takes some seconds.
constexpr double kTimeoutS = 60;

Error refused(const Failure& failure, const std::string& what, const TaskShape& shape, const Task& task) {
  const std::string where = shape.name.empty() ? "the only shape" : shape.name;
  Error error = trusted_failure(failure, "the task's " + what + " fails at " + where, "files: " + what);
  if (const auto* crash = std::get_if<Rejection>(&failure))
    if (const std::string causes = usual_causes_of_a_crash(task);
        crash->code == RejectionCode::crashed && !causes.empty())
      error.hint = causes + "; else " + error.hint;
  return error;
}

/// Nothing is timed, so oracles may run in parallel on any core.
RunnerSettings on_any_core(RunnerSettings settings) {
  settings.core.reset();
  settings.cores.reset();
  return settings;
}

struct Loaded {
  Arena arena;
  RunnerProcess runner;
};

Result<Loaded> load(const std::vector<TensorRole>& roles, std::vector<ArenaShape> shapes,
                    const CpuBinary& binary, const RunnerSettings& settings, const std::string& what,
                    const std::stop_token& stop) {
  auto arena = Arena::create(roles, std::move(shapes));
  if (!arena) return arena.error();
  auto runner = RunnerProcess::start(*arena, on_any_core(settings));
  if (!runner) return runner.error();
  const auto loaded = killed_on_stop(*runner, stop, [&] { return runner->load(binary.object()); });
  if (!loaded) return trusted_failure(loaded.error(), "the task's " + what + " fails", "files: " + what);
  return Loaded{std::move(*arena), std::move(*runner)};
}

}  // namespace

CpuOracle::CpuOracle(const Task& task, const std::vector<TaskShape>& shapes, OraclePrecision precision,
                     Arena arena, RunnerProcess runner, std::stop_token stop)
    : task_(task),
      shapes_(shapes),
      precision_(precision),
      arena_(std::move(arena)),
      runner_(std::move(runner)),
      stop_(std::move(stop)) {}

Result<std::unique_ptr<CpuOracle>> CpuOracle::create(const Task& task, const std::vector<TaskShape>& shapes,
                                                     const CpuBinary& binary, OraclePrecision precision,
                                                     const RunnerSettings& settings, std::stop_token stop) {
  std::vector<TensorRole> roles;
  for (const TensorSpec& tensor : task.tensors) roles.push_back(tensor.role);
  std::vector<ArenaShape> places;
  for (const TaskShape& shape : shapes) {
    ArenaShape& place = places.emplace_back(ArenaShape{shape.arguments, {}, 1});
    for (std::size_t t = 0; t < roles.size(); ++t)
      place.tensor_bytes.push_back(shape.extents[t].elements *
                                   element_bytes(task.tensors[t].dtype, precision));
  }
  auto loaded = load(roles, std::move(places), binary, settings, "reference", stop);
  if (!loaded) return loaded.error();
  return std::unique_ptr<CpuOracle>(new CpuOracle(task, shapes, precision, std::move(loaded->arena),
                                                  std::move(loaded->runner), std::move(stop)));
}

std::span<std::byte> CpuOracle::memory(std::size_t shape, std::size_t tensor) const {
  return {arena_.tensor(shape, 0, tensor), arena_.tensor_bytes(shape, tensor)};
}

Status CpuOracle::answer(std::size_t shape) {
  for (std::size_t t = 0; t < task_.tensors.size(); ++t)
    if (task_.tensors[t].role == TensorRole::out) std::ranges::fill(memory(shape, t), std::byte{});
  arena_.set_calls(shape, 1);
  const auto answered = killed_on_stop(runner_, stop_, [&] { return runner_.call(1, kTimeoutS); });
  if (!answered) return refused(answered.error(), "reference", shapes_[shape], task_);
  cpu_us_ += answered->cpu_us;
  return {};
}

CpuInputGenerator::CpuInputGenerator(const Task& task, const std::vector<TaskShape>& shapes, Arena arena,
                                     RunnerProcess runner, std::stop_token stop)
    : task_(task),
      shapes_(shapes),
      arena_(std::move(arena)),
      runner_(std::move(runner)),
      stop_(std::move(stop)) {}

Result<std::unique_ptr<CpuInputGenerator>> CpuInputGenerator::create(const Task& task,
                                                                     const std::vector<TaskShape>& shapes,
                                                                     const CpuBinary& binary,
                                                                     const RunnerSettings& settings,
                                                                     std::stop_token stop) {
  std::vector<ArenaShape> places;
  for (const TaskShape& shape : shapes) {
    ArenaShape& place = places.emplace_back(ArenaShape{shape.arguments, {}, 1});
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (has_input(task.tensors[t])) place.tensor_bytes.push_back(shape.extents[t].bytes);
    place.tensor_bytes.push_back(sizeof(std::uint64_t));
  }
  const auto tensors = static_cast<std::size_t>(std::ranges::count_if(task.tensors, has_input));
  const std::vector<TensorRole> roles(tensors + 1, TensorRole::inout);
  auto loaded = load(roles, std::move(places), binary, settings, "inputs", stop);
  if (!loaded) return loaded.error();
  return std::unique_ptr<CpuInputGenerator>(new CpuInputGenerator(
      task, shapes, std::move(loaded->arena), std::move(loaded->runner), std::move(stop)));
}

Status CpuInputGenerator::generate(std::size_t shape, std::uint64_t seed, Inputs& inputs) {
  std::size_t place = 0;
  for (std::size_t t = 0; t < inputs.size(); ++t)
    if (has_input(task_.tensors[t])) std::ranges::copy(inputs[t], arena_.tensor(shape, 0, place++));
  std::memcpy(arena_.tensor(shape, 0, place), &seed, sizeof seed);
  arena_.set_calls(shape, 1);
  const auto called = killed_on_stop(runner_, stop_, [&] { return runner_.call(1, kTimeoutS); });
  if (!called) return refused(called.error(), "inputs", shapes_[shape], task_);
  cpu_us_ += called->cpu_us;
  place = 0;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    if (!has_input(task_.tensors[t])) continue;
    const std::byte* const made = arena_.tensor(shape, 0, place++);
    if (task_.tensors[t].init == TensorInit::generated) std::copy_n(made, inputs[t].size(), inputs[t].data());
  }
  return {};
}

}  // namespace kernelsmith::cpu
