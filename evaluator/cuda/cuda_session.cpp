#include "cuda_session.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>

#include "alignment.hpp"

namespace kernelsmith::cuda {
namespace {

/// A device that stays too hot is measured anyway, because yardstick and candidate slow down alike.
constexpr int kMostRepeats = 2;
/// NVML's bits of reasons for a slowdown: hardware, heat (by software or hardware), the power supply.
constexpr std::uint32_t kThrottled = 0x08 | 0x20 | 0x40 | 0x80;

/// A kernel that does the work of later calls in advance writes to all or many outputs. A check of a few
/// places detects such a kernel and takes no time.
constexpr std::size_t kDecoys = 4;
constexpr std::size_t kDecoyBytes = std::size_t{64} << 10;

bool disturbed(const ReplayTime& time) { return time.late || (time.throttle_reasons & kThrottled) != 0; }

}  // namespace

CudaSession::CudaSession(CudaHost& host, PlannedBinaryPtr planned, Trust trust, std::stop_token stop)
    : host_(host), planned_(std::move(planned)), trust_(trust), stop_(std::move(stop)) {}

Judged<double> CudaSession::run(const Batch& batch) {
  if (broken_) return Failure(*broken_);
  batch_ = batch;
  withdrawn_.clear();
  if (batch.calls.empty() || batch.calls.size() > host_.capacity(batch.shape))
    return Failure(fail(ErrorCode::internal, "a batch of " + std::to_string(batch.calls.size()) + " calls"));
  auto time = undisturbed_batch();
  if (!time) return time.error();
  {
    const AddedTime watch(spent_ms_["withdraw"]);
    if (trust_ == Trust::candidate) {
      if (auto kept = check_untouched(); !kept) return kept.error();
      if (auto done = withdraw(); !done) return Failure(done.error());
    }
    if (auto done = wipe(); !done) return Failure(done.error());
  }
  // At most half of the time is discounted. Otherwise the discount would decide the score of a batch that is
  // shorter than an empty graph.
  return std::max(time->device_us - time->empty_us, time->device_us / 2);
}

/// A disturbed batch is dropped and repeated, because batches are independent.
Judged<ReplayTime> CudaSession::undisturbed_batch() {
  for (int attempt = 0;; ++attempt) {
    double batch_ms = 0;
    std::map<std::string, double> spent_ms = spent_ms_;
    auto time = [&] {
      const AddedTime watch(batch_ms);
      return batch();
    }();
    if (!time || attempt == kMostRepeats || !disturbed(*time)) return time;
    spent_ms_ = std::move(spent_ms);
    spent_ms_["dropped as disturbed"] += batch_ms;
  }
}

Judged<ReplayTime> CudaSession::batch() {
  auto runner = runner_with_plan();
  if (!runner) return Failure(runner.error());
  poison_ = draw_poison(random_);
  {
    const AddedTime watch(spent_ms_["lay out"]);
    if (auto done = lay_out(); !done) return Failure(done.error());
  }
  return replay(**runner);
}

/// The session's plans are valid for one runner's addresses. They are made again after the runner was
/// replaced.
Result<Runner*> CudaSession::runner_with_plan() {
  auto runner = host_.living_runner();
  if (!runner) return runner.error();
  auto planned = host_.plan(planned_->binary, stop_);
  if (!planned)
    return error_of(planned.error(), ErrorCode::tool_failed, "a kernel that was planned before failed now: ");
  planned_ = std::move(*planned);
  return *runner;
}

/// Pieces are filled completely: memory next to a tensor must not carry information between batches.
Status CudaSession::lay_out() {
  const BufferLayout& layout = host_.buffers().layout();
  const std::size_t shape = batch_.shape;
  std::vector<Device::Move> moves;
  for (std::size_t call = 0; call < batch_.calls.size(); ++call) {
    const auto set = host_.sets().find_or_upload(shape, *batch_.calls[call]);
    if (!set) return set.error();
    for (std::size_t t = 0; t < layout.tensors(); ++t) {
      // The whole piece is filled, because data next to a tensor could inform the next batch.
      moves.push_back({host_.buffers().piece(call, t), 0, layout.piece_bytes(t), poison_});
      if (const std::uint64_t from = (*set)->inputs[t]; from != 0)
        moves.push_back({host_.buffers().tensor(shape, call, t), from, layout.tensor_bytes(shape, t), 0});
    }
  }
  draw_decoys();
  for (const Decoy& decoy : decoys_) moves.push_back({decoy.address, 0, decoy.bytes, poison_});
  return host_.device().move(moves);
}

/// Draws places that belong to no call of the batch. No kernel can know them or the number of calls in a
/// batch. A kernel that writes there does the work of later calls, at addresses that it kept.
void CudaSession::draw_decoys() {
  decoys_.clear();
  const BufferLayout& layout = host_.buffers().layout();
  const std::size_t calls = batch_.calls.size();
  if (trust_ != Trust::candidate || calls == layout.slots()) return;
  const std::vector<std::size_t> outputs = outputs_of_task();
  for (std::size_t i = 0; i < kDecoys; ++i) {
    const std::size_t slot = calls + random_.below(layout.slots() - calls);
    const std::size_t tensor = outputs[random_.below(outputs.size())];
    const std::size_t bytes = layout.tensor_bytes(batch_.shape, tensor);
    const std::size_t begin = random_.below((bytes + kDecoyBytes - 1) / kDecoyBytes) * kDecoyBytes;
    decoys_.push_back(
        {host_.buffers().tensor(batch_.shape, slot, tensor) + begin, std::min(bytes - begin, kDecoyBytes)});
  }
}

Judged<ReplayTime> CudaSession::replay(Runner& runner) {
  const auto number = host_.kept(runner, *planned_, batch_.shape);
  if (!number) return Failure(number.error());
  const Replay how{batch_.calls.size(), host_.task().cache == CacheState::cold, batch_.timeout_s};
  const AddedTime watch(spent_ms_["calls"]);
  auto time = runner.replay(*number, how, stop_);
  if (time) {
    spent_ms_["load"] += time->load_ms;
    spent_ms_["build graph"] += time->build_ms;
    spent_ms_["calls"] -= time->load_ms + time->build_ms;
  }
  return time;
}

/// Checks that the inputs and the decoys were not written.
Judged<void> CudaSession::check_untouched() {
  const BufferLayout& layout = host_.buffers().layout();
  std::vector<Look> looks;
  std::vector<std::size_t> tensors;
  for (std::size_t call = 0; call < batch_.calls.size(); ++call) {
    const auto set = host_.sets().find_or_upload(batch_.shape, *batch_.calls[call]);
    if (!set) return Failure(set.error());
    for (std::size_t t = 0; t < layout.tensors(); ++t) {
      if (layout.writable(t)) continue;
      Look look{Look::Kind::same_bytes, host_.buffers().tensor(batch_.shape, call, t), (*set)->inputs[t]};
      look.bytes = layout.tensor_bytes(batch_.shape, t);
      looks.push_back(look);
      tensors.push_back(t);
    }
  }
  for (const Decoy& decoy : decoys_) {
    Look look{Look::Kind::untouched, decoy.address};
    look.bytes = decoy.bytes;
    look.poison = poison_;
    looks.push_back(look);
  }
  const auto seen = host_.comparer().look(looks);
  if (!seen) return Failure(seen.error());
  const auto changed =
      static_cast<std::size_t>(std::ranges::find(*seen, true, &LookResult::suspect) - seen->begin());
  if (changed == seen->size()) return {};
  if (changed >= tensors.size())
    return reject(Stage::integrity, RejectionCode::out_of_bounds,
                  "a kernel wrote to the output of a call that had not begun; it may touch only what its own "
                  "call is given");
  const std::size_t tensor = tensors[changed];
  return reject(Stage::integrity, RejectionCode::input_modified,
                "the input '" + host_.task().tensors[tensor].name + "' was written; inputs are read only");
}

/// Moves the batch's outputs out of the memory that other kernels can see.
Status CudaSession::withdraw() {
  const BufferLayout& layout = host_.buffers().layout();
  const std::size_t shape = batch_.shape;
  std::size_t bytes = 0;
  for (std::size_t call = 0; call < batch_.calls.size(); ++call)
    for (const std::size_t t : outputs_of_task()) {
      const std::size_t before = layout.margin_before(shape, t);
      // The output itself is aligned, not the margin before it.
      const std::size_t at = aligned(bytes + before) - before;
      withdrawn_.push_back(
          {call, t, at, before, layout.tensor_bytes(shape, t), layout.margin_after(shape, t)});
      bytes = at + withdrawn_.back().bytes();
    }
  if (bytes > staging_.bytes()) {
    auto memory = host_.device().allocate(bytes);
    if (!memory) return memory.error();
    staging_ = std::move(*memory);
  }
  std::vector<Device::Move> moves;
  for (Withdrawn& output : withdrawn_) {
    output.address += staging_.address();
    moves.push_back({output.address,
                     host_.buffers().tensor(shape, output.call, output.tensor) - output.before,
                     output.bytes(), 0});
  }
  return host_.device().move(moves);
}

Status CudaSession::wipe() {
  const BufferLayout& layout = host_.buffers().layout();
  std::vector<Device::Move> moves;
  for (std::size_t call = 0; call < batch_.calls.size(); ++call)
    for (const std::size_t t : outputs_of_task())
      moves.push_back(
          {host_.buffers().tensor(batch_.shape, call, t), 0, layout.tensor_bytes(batch_.shape, t), 0});
  return host_.device().move(moves);
}

std::vector<std::size_t> CudaSession::outputs_of_task() const {
  std::vector<std::size_t> outputs;
  for (std::size_t t = 0; t < host_.buffers().layout().tensors(); ++t)
    if (host_.buffers().layout().writable(t)) outputs.push_back(t);
  return outputs;
}

/// The looks at the output and at the margins on both sides. The poison's pattern continues from the first
/// margin to the last.
Result<std::vector<Look>> CudaSession::looks_at(const Withdrawn& output) const {
  const InputSet& set = *batch_.calls[output.call];
  const Expected& expected = set.outputs[output.tensor];
  const auto on_device = host_.sets().find_or_upload(batch_.shape, set);
  if (!on_device) return on_device.error();
  Look whole;
  whole.kind =
      expected.exact || expected.weights.empty() ? Look::Kind::same_bytes : Look::Kind::within_weights;
  whole.actual = output.output();
  whole.expected = (*on_device)->values[output.tensor];
  whole.weights = (*on_device)->weights[output.tensor];
  whole.bytes = output.size;
  whole.dtype = expected.dtype;
  whole.wide_weights = expected.wide_weights;
  whole.poison = poison_;
  std::vector<Look> looks = {whole};
  Look margin;
  margin.kind = Look::Kind::untouched;
  margin.poison = poison_;
  margin.actual = output.address;
  margin.bytes = output.before;
  if (margin.bytes > 0) looks.push_back(margin);
  margin.actual = output.output() + output.size;
  margin.bytes = output.after;
  margin.phase = static_cast<std::uint32_t>((output.before + output.size) % sizeof poison_);
  if (margin.bytes > 0) looks.push_back(margin);
  return looks;
}

Findings CudaSession::compare() {
  const AddedTime watch(spent_ms_["compare"]);
  std::vector<Look> looks;
  std::vector<std::size_t> first;  // the index of each output's first look
  for (const Withdrawn& output : withdrawn_) {
    first.push_back(looks.size());
    const auto more = looks_at(output);
    if (!more) return broken(more.error());
    looks.insert(looks.end(), more->begin(), more->end());
  }
  first.push_back(looks.size());
  Findings findings;
  const auto seen = host_.comparer().look(looks);
  if (!seen) return broken(seen.error());
  for (std::size_t i = 0; i < withdrawn_.size(); ++i) {
    const Withdrawn& output = withdrawn_[i];
    const auto result = examine(output, (*seen)[first[i]]);
    if (!result) return broken(result.error());
    findings.error = std::max(findings.error, result->error);
    if (findings.wrong) continue;
    const bool beside = std::any_of(seen->begin() + static_cast<std::ptrdiff_t>(first[i]) + 1,
                                    seen->begin() + static_cast<std::ptrdiff_t>(first[i + 1]),
                                    [](const LookResult& margin) { return margin.suspect; });
    if (!beside && result->fault == Fault::none) continue;
    const auto bytes = downloaded(output);
    if (!bytes) return broken(bytes.error());
    const double actual = load_element(batch_.calls[output.call]->outputs[output.tensor].dtype, bytes->data(),
                                       result->worst_at);
    findings.wrong = Findings::Wrong{output.call, output.tensor, beside, *result, actual};
  }
  return findings;
}

/// If the device found nothing suspicious, its sums are the findings; else the processor compares every
/// element.
Result<CompareResult> CudaSession::examine(const Withdrawn& output, const LookResult& seen) const {
  const Expected& expected = batch_.calls[output.call]->outputs[output.tensor];
  if (!seen.suspect) {
    PartFindings part;
    part.worst = seen.worst;
    part.squares = seen.squares;
    const CompareResult result = conclude(expected, {&part, 1});
    if (result.fault == Fault::none) return result;
  }
  const auto bytes = downloaded(output);
  if (!bytes) return bytes.error();
  return compare_output(expected, *bytes, poison_);
}

Result<Bytes> CudaSession::downloaded(const Withdrawn& output) const {
  Bytes bytes(output.size);
  if (auto done = host_.device().download(bytes, output.output()); !done) return done.error();
  return bytes;
}

/// outputs() cannot report a broken device; the next run() does.
Findings CudaSession::broken(const Error& error) {
  broken_ = error;
  Findings findings;
  findings.broken = error;
  return findings;
}

Digest CudaSession::outputs() {
  DigestBuilder all;
  for (const Withdrawn& output : withdrawn_) {
    const auto bytes = downloaded(output);
    if (!bytes) return broken(bytes.error()), all.finish();
    all.add(digest_of({reinterpret_cast<const char*>(bytes->data()), bytes->size()}).hex());
  }
  return all.finish();
}

}  // namespace kernelsmith::cuda
