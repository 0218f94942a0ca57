#include "cuda_oracle.hpp"

#include <string>
#include <variant>

#include <kernelsmith/evaluator/crash_causes.hpp>

namespace kernelsmith::cuda {
namespace {

/// The limit of one call: a plain reference at a large shape takes a second.
constexpr double kTimeoutS = 60;

Error refused(const Failure& failure, const std::string& shape, const Task& task) {
  const auto* const rejection = std::get_if<Rejection>(&failure);
  const bool crashed = rejection != nullptr && rejection->code == RejectionCode::crashed;
  return error_of(failure, ErrorCode::refused,
                  "the task's reference fails" + (shape.empty() ? "" : " at " + shape) + ": ",
                  "files: reference", crashed ? usual_causes_of_a_crash(task) : "");
}

}  // namespace

Result<std::unique_ptr<CudaOracle>> CudaOracle::create(const Setup& setup, const CudaBinaryPtr& binary,
                                                       OraclePrecision precision, std::stop_token stop) {
  constexpr std::size_t kOneSlot = 1;
  auto buffers =
      CallBuffers::create(*setup.device, BufferLayout(*setup.task, *setup.shapes, precision, 0, kOneSlot));
  if (!buffers) return buffers.error();
  std::unique_ptr<CudaOracle> oracle(new CudaOracle(setup, std::move(*buffers), precision, std::move(stop)));
  if (auto planned = oracle->plan(binary); !planned) return planned.error();
  return oracle;
}

/// A live runner with the buffers mapped.
Status CudaOracle::take_runner() {
  OracleRunner& shared = *setup_.runner;
  const MutexLock lock(shared.mutex);
  if (!shared.last || !shared.last->alive()) {
    auto started = shared.start();
    if (!started) return started.error();
    shared.last = std::move(*started);
  }
  runner_ = shared.last;
  return buffers_.map(*runner_);
}

Status CudaOracle::plan(const CudaBinaryPtr& binary) {
  if (auto taken = take_runner(); !taken) return taken;
  auto where = std::make_shared<CallAddresses>();
  where->workspace = runner_->workspace();
  for (std::size_t shape = 0; shape < setup_.shapes->size(); ++shape)
    where->buffers.push_back({buffers_.in_runner(shape, 0)});
  auto planned = setup_.plan(binary, where, stop_);
  if (!planned) return refused(planned.error(), "", *setup_.task);
  planned_ = std::move(*planned);
  kept_.resize(setup_.shapes->size());
  return {};
}

CudaOracle::~CudaOracle() {
  if (!runner_) return;
  const MutexLock lock(setup_.runner->mutex);
  for (const auto& number : kept_)
    if (number) runner_->forget(*number);
  static_cast<void>(runner_->unmap(buffers_.mapped()));  // a dead runner has no mappings
}

std::span<std::byte> CudaOracle::input(std::size_t shape, std::size_t tensor) {
  Bytes& values = values_[{shape, tensor}];
  values.resize(buffers_.layout().tensor_bytes(shape, tensor));
  return values;
}

Status CudaOracle::answer(std::size_t shape) {
  const BufferLayout& layout = buffers_.layout();
  const std::vector<TensorSpec>& tensors = setup_.task->tensors;
  std::vector<Device::Move> zeros;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::uint64_t address = buffers_.tensor(shape, 0, t);
    if (tensors[t].role == TensorRole::out)
      zeros.push_back({address, 0, layout.tensor_bytes(shape, t), 0});
    else if (auto done = setup_.device->upload(address, input(shape, t)); !done)
      return done;
  }
  if (auto done = setup_.device->move(zeros); !done) return done;
  {
    const MutexLock lock(setup_.runner->mutex);
    if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
    if (!kept_[shape]) {
      auto number = runner_->keep(planned_->by_shape[shape]);
      if (!number) return number.error();
      kept_[shape] = *number;
    }
    const auto time = runner_->replay(*kept_[shape], {1, false, kTimeoutS}, stop_);
    if (!time) return refused(time.error(), (*setup_.shapes)[shape].name, *setup_.task);
    runner_us_ += time->device_us + 1e3 * (time->load_ms + time->build_ms);
  }
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == TensorRole::in) continue;
    if (auto done = setup_.device->download(input(shape, t), buffers_.tensor(shape, 0, t)); !done)
      return done;
  }
  return {};
}

std::span<const std::byte> CudaOracle::output(std::size_t shape, std::size_t tensor) {
  return input(shape, tensor);
}

}  // namespace kernelsmith::cuda
