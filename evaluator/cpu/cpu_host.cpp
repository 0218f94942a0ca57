#include "cpu_host.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/statistics.hpp>

namespace kernelsmith::cpu {
namespace {

/// A new process maps the whole arena, which costs about a millisecond for 15 MB.
constexpr std::size_t kArenaBytesOfShape = std::size_t{8} << 20;
/// With a bank of 256 sets, longer batches would leave too few samples.
constexpr std::size_t kMostSlots = 64;
/// The scatter of a request's time on an idle machine: half of the span of the middle two thirds.
constexpr double kBatchNoiseUs = 3;
/// The median of this many requests scatters a tenth as much as one request.
constexpr std::size_t kEmptyRequests = 31;
constexpr const char* kFails = "the task's reference fails";

}  // namespace

CpuHost::CpuHost(std::shared_ptr<const Task> task, RunnerSettings settings, TrustedBuilder build)
    : task_(std::move(task)),
      shapes_(shapes_of(*task_)),
      unsandboxed_(settings.unsandboxed),
      runners_(std::move(settings)),
      roofline_(*task_, shapes_, std::move(build)),
      fastest_us_(shapes_.size(), std::numeric_limits<double>::infinity()),
      least_us_(shapes_.size()) {}

Result<std::shared_ptr<CpuHost>> CpuHost::create(std::shared_ptr<const Task> task, RunnerSettings settings,
                                                 const CpuBinary& trusted, TrustedBuilder build,
                                                 const std::stop_token& stop) {
  std::shared_ptr<CpuHost> host(new CpuHost(std::move(task), std::move(settings), std::move(build)));
  for (const std::size_t place : {0U, 1U}) {
    auto arena = host->make_arena();
    if (!arena) return arena.error();
    host->arenas_[place] = std::move(*arena);
  }
  if (auto s = host->measure_empty_request(trusted, stop); !s) return s.error();
  return host;
}

std::size_t CpuHost::slots_of(std::size_t shape) const {
  const std::size_t fitting = kArenaBytesOfShape / std::max<std::size_t>(shapes_[shape].bytes(), 1);
  return std::clamp<std::size_t>(fitting, 1, kMostSlots);
}

Result<std::unique_ptr<Arena>> CpuHost::make_arena(std::optional<std::size_t> only) const {
  std::vector<TensorRole> roles;
  for (const TensorSpec& tensor : task_->tensors) roles.push_back(tensor.role);
  std::vector<ArenaShape> shapes;
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ArenaShape& shape = shapes.emplace_back();
    shape.sizes = shapes_[s].arguments;
    for (const TensorExtent& extent : shapes_[s].extents) shape.tensor_bytes.push_back(extent.bytes);
    shape.slots = only.value_or(s) == s ? slots_of(s) : 0;
  }
  auto arena = Arena::create(roles, std::move(shapes));
  if (!arena) return arena.error();
  return std::make_unique<Arena>(std::move(*arena));
}

Status CpuHost::measure_empty_request(const CpuBinary& trusted, const std::stop_token& stop) {
  auto session = CpuSession::open(setup(), *arenas_[0], trusted, Trust::trusted, stop);
  if (!session) return trusted_failure(session.error(), kFails, "files: reference");
  const bool full_tier = (*session)->full_tier();
  std::vector<double> times_us;
  for (std::size_t i = 0; i < kEmptyRequests; ++i) {
    const auto time_us = (*session)->empty_request();
    if (!time_us) return trusted_failure(time_us.error(), kFails, "files: reference");
    times_us.push_back(*time_us);
  }
  empty_request_us_ = median_of(times_us);
  traits_ = {unsandboxed_ ? "unsandboxed"
             : full_tier  ? "full"
                          : "weak",
             cpu_hardware(), kBatchNoiseUs, kPlaces};
  return {};
}

Judged<std::unique_ptr<KernelSession>> CpuHost::open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                                     const std::stop_token& stop) {
  const auto* const object = dynamic_cast<const CpuBinary*>(binary.get());
  if (object == nullptr || place >= kPlaces)
    return Failure(fail(ErrorCode::internal, "no object of the cpu backend, or no such place"));
  if (!arenas_[place]) {
    auto arena = make_arena();
    if (!arena) return Failure(arena.error());
    arenas_[place] = std::move(*arena);
  }
  auto session = CpuSession::open(setup(), *arenas_[place], *object, trust, stop);
  if (!session) return session.error();
  return std::unique_ptr<KernelSession>(std::move(*session));
}

/// The bound is measured only when a call may be near it, so most tasks never pay for the measurement.
Result<double> CpuHost::least_us(std::size_t shape, const InputSet& set) {
  if (!least_us_[shape] && !roofline_.worth_measuring(shape, fastest_us_[shape])) return 0.0;
  if (least_us_[shape]) return *least_us_[shape];
  // The measurement has an arena of its own, because all places may be taken.
  auto arena = make_arena(shape);
  if (!arena) return arena.error();
  std::vector<double> not_a_candidate = fastest_us_;
  SessionSetup own = {*task_, shapes_, runners_, empty_request_us_, not_a_candidate};
  const auto measured = roofline_.measure(shape, set, own, **arena);
  if (!measured) return measured.error();
  least_us_[shape] = *measured;
  return *measured;
}

}  // namespace kernelsmith::cpu
