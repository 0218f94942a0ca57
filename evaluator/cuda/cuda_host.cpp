#include "cuda_host.hpp"

#include <algorithm>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/call_limit.hpp>

#include "cuda_session.hpp"

namespace kernelsmith::cuda {
namespace {

/// Places for candidate, yardstick and rival. Each session keeps its own outputs.
constexpr std::size_t kPlaces = 3;
/// Times between events of one graph launch scatter by about half a microsecond, 0.25 % of a batch.
constexpr double kBatchUs = 200;
constexpr double kBatchNoiseUs = 0.5;
/// Measured over processes (benchmarks/cuda_noise.py).
constexpr Floors kFloors{
    .like_with_like = 0.002, .short_call = 0.004, .short_us = 5, .against_baseline = 0.004, .times = 0.02};
/// The most binaries whose plans the runner keeps: among them the two of a duel, baseline and seed.
constexpr std::size_t kMostKept = 6;
/// Device memory for the bank of inputs: a quarter of the smallest card in use (16 GiB).
constexpr std::size_t kSetBytes = std::size_t{4} << 30;
/// The bandwidth of the best of a few large copies is not exact. The CPU's roofline has the same margin.
constexpr double kRooflineMargin = 0.25;

}  // namespace

CudaHost::CudaHost(std::shared_ptr<const Task> task, std::shared_ptr<Gpu> gpu,
                   std::shared_ptr<PlanCache> plans, CallBuffers buffers)
    : task_(std::move(task)),
      shapes_(shapes_of(*task_)),
      gpu_(std::move(gpu)),
      plans_(std::move(plans)),
      buffers_(std::move(buffers)),
      sets_(gpu_->device(), kSetBytes) {}

Result<std::shared_ptr<CudaHost>> CudaHost::create(std::shared_ptr<const Task> task, std::shared_ptr<Gpu> gpu,
                                                   std::shared_ptr<PlanCache> plans, BufferLayout layout,
                                                   std::span<const std::byte> judge_kernels, bool sandboxed) {
  auto buffers = CallBuffers::create(gpu->device(), std::move(layout));
  if (!buffers) return buffers.error();
  std::shared_ptr<CudaHost> host(
      new CudaHost(std::move(task), std::move(gpu), std::move(plans), std::move(*buffers)));
  host->traits_ = {.tier = sandboxed ? "full" : "unsandboxed",
                   .hardware = host->device().hardware(),
                   .batch_noise_us = kBatchNoiseUs,
                   .places = kPlaces,
                   .batch_us = kBatchUs,
                   .isolated_calls = true,
                   .floors = kFloors,
                   .over_yardstick = kOverYardstick};
  auto comparer = Comparer::create(host->device(), judge_kernels);
  if (!comparer) return comparer.error();
  host->comparer_ = std::move(*comparer);
  if (auto runner = host->living_runner(); !runner) return runner.error();
  return host;
}

Result<Runner*> CudaHost::living_runner() {
  auto runner = gpu_->runner();
  if (!runner) return runner.error();
  if (epoch_ != gpu_->epoch())
    if (auto moved = move_in(**runner); !moved) return moved.error();
  return *runner;
}

Status CudaHost::move_in(Runner& runner) {
  if (auto mapped = buffers_.map(runner); !mapped) return mapped;
  auto where = std::make_shared<CallAddresses>();
  where->epoch = gpu_->epoch();
  where->workspace = runner.workspace();
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    auto& slots = where->buffers.emplace_back();
    for (std::size_t slot = 0; slot < buffers_.layout().slots(); ++slot)
      slots.push_back(buffers_.in_runner(shape, slot));
  }
  plans_->move_to(std::move(where));
  kept_.clear();
  epoch_ = gpu_->epoch();
  return {};
}

Judged<std::unique_ptr<KernelSession>> CudaHost::open(const BinaryPtr& binary, Trust trust, std::size_t,
                                                      const std::stop_token& stop) {
  const auto object = std::dynamic_pointer_cast<const CudaBinary>(binary);
  if (!object) return Failure(fail(ErrorCode::internal, "no binary of the cuda backend"));
  if (auto runner = living_runner(); !runner) return Failure(runner.error());
  sets_.make_room();
  auto planned = plan(object, stop);
  if (!planned) return planned.error();
  return std::unique_ptr<KernelSession>(
      std::make_unique<CudaSession>(*this, std::move(*planned), trust, stop));
}

Result<std::uint32_t> CudaHost::kept(Runner& runner, const PlannedBinary& planned, std::size_t shape) {
  const Digest& digest = planned.binary->digest();
  const auto found = std::ranges::find(kept_, digest, &std::pair<Digest, KeptPlans>::first);
  if (found != kept_.end())
    kept_.splice(kept_.begin(), kept_, found);
  else
    kept_.emplace_front(digest, KeptPlans(shapes_.size()));
  if (kept_.size() > kMostKept) {
    for (const auto& number : kept_.back().second)
      if (number) runner.forget(*number);
    kept_.pop_back();
  }
  std::optional<std::uint32_t>& number = kept_.front().second[shape];
  if (!number) {
    auto given = runner.keep(planned.by_shape[shape]);
    if (!given) return given.error();
    number = *given;
  }
  return *number;
}

/// The bytes of inputs that a call must read from memory. Outputs do not count, because they may stay in the
/// L2. `constant` inputs do not count, because a kernel may have kept them.
std::size_t CudaHost::compulsory_bytes(std::size_t shape) const {
  std::size_t read = 0, written = 0;
  for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
    const std::size_t bytes = shapes_[shape].extents[t].bytes;
    if (task_->tensors[t].role != TensorRole::in) written += bytes;
    if (task_->tensors[t].role != TensorRole::out && !task_->tensors[t].constant) read += bytes;
  }
  if (task_->declared.bytes.empty()) return read;
  const auto declared = evaluate_expression(task_->declared.bytes, shapes_[shape].sizes);
  if (!declared || *declared <= static_cast<std::int64_t>(written)) return 0;
  return std::min(read, static_cast<std::size_t>(*declared) - written);
}

/// No bound is known for warm calls: the L2's speed is not measured.
Result<double> CudaHost::least_us(std::size_t shape, const InputSet&) {
  if (task_->cache == CacheState::warm) return 0.0;
  if (bytes_per_us_ == 0) {
    auto measured = device().bandwidth();
    if (!measured) return measured.error();
    bytes_per_us_ = *measured;
  }
  return static_cast<double>(compulsory_bytes(shape)) / bytes_per_us_ * (1 - kRooflineMargin);
}

}  // namespace kernelsmith::cuda
