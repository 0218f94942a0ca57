#include "cpu_session.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>

#include "runner/copying.hpp"

namespace kernelsmith::cpu {
namespace {

/// Does what streaming_fill() does, for a few bytes that are not aligned.
void fill_unaligned(std::span<std::byte> bytes, std::uint32_t word) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word)
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
}

}  // namespace

Judged<std::unique_ptr<CpuSession>> CpuSession::open(const SessionSetup& setup, Arena& arena,
                                                     const CpuBinary& binary, Trust trust,
                                                     std::stop_token stop) {
  double load_ms = 0;
  std::unique_ptr<CpuSession> session;
  {
    const AddedTime watch(load_ms);
    if (trust == Trust::candidate) {
      // Nothing of an earlier candidate may be left that could inform this one.
      setup.runners.settle();
      arena.wipe();
    }
    auto process = setup.runners.take(arena);
    if (!process) return Failure(process.error());
    session.reset(new CpuSession(setup, arena, std::move(*process), trust, std::move(stop)));
    RunnerProcess& runner = session->process_;
    const auto loaded = killed_on_stop(runner, session->stop_, [&] { return runner.load(binary.object()); });
    if (!loaded) return loaded.error();
  }
  session->spent_ms_["load"] = load_ms;
  return session;
}

CpuSession::CpuSession(const SessionSetup& setup, Arena& arena, RunnerProcess process, Trust trust,
                       std::stop_token stop)
    : setup_(setup), arena_(arena), process_(std::move(process)), trust_(trust), stop_(std::move(stop)) {
  for (std::size_t t = 0; t < setup_.task.tensors.size(); ++t)
    if (setup_.task.tensors[t].role != TensorRole::in) written_.push_back(t);
}

CpuSession::~CpuSession() {
  if (trust_ == Trust::trusted)
    setup_.runners.set_aside(std::move(process_));
  else
    setup_.runners.retire(std::move(process_));
}

Judged<double> CpuSession::run(const Batch& batch) {
  batch_ = batch;
  poison_ = draw_poison(random_);
  const std::size_t calls = batch.calls.size();
  if (calls == 0 || calls > arena_.slots(batch.shape))
    return Failure(fail(ErrorCode::internal, "a batch of " + std::to_string(calls) + " calls"));
  {
    const AddedTime watch(spent_ms_["lay out"]);
    arena_.set_calls(batch.shape, calls);
    // Warm data is written by this core: data from another core would be in that core's caches.
    const bool warm = setup_.task.cache == CacheState::warm;
    const std::size_t lanes = warm ? 1 : lanes_for(calls * setup_.shapes[batch.shape].bytes());
    in_lanes(lanes, [&](std::size_t lane) {
      for (std::size_t call = 0; call < calls; ++call) lay_out(call, lane, lanes);
    });
  }
  auto read_us = request(calls, batch.timeout_s);
  if (!read_us) return read_us;
  // At most half of the time is discounted. Otherwise the discount would decide the score of a batch that is
  // shorter than a request's cost.
  const double batch_us = std::max(*read_us - setup_.empty_request_us, *read_us / 2);
  double& fastest_us = setup_.fastest_us[batch.shape];
  fastest_us = std::min(fastest_us, batch_us / static_cast<double>(calls));
  return batch_us;
}

void CpuSession::lay_out(std::size_t call, std::size_t lane, std::size_t lanes) const {
  const auto& tensors = setup_.task.tensors;
  const InputSet& set = *batch_.calls[call];
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::byte* const tensor = arena_.tensor(batch_.shape, call, t);
    const std::span<std::byte> to = part_of({tensor, arena_.tensor_bytes(batch_.shape, t)}, lane, lanes);
    if (tensors[t].role == TensorRole::out) {
      streaming_fill(to.data(), to.size(), poison_);
    } else {
      const std::byte* const from = set.inputs[t].data() + (to.data() - tensor);
      // Warm data is written through the caches, and stays in the shared level if it fits.
      if (setup_.task.cache == CacheState::warm)
        std::memcpy(to.data(), from, to.size());
      else
        streaming_copy(to.data(), from, to.size());
    }
    if (tensors[t].role != TensorRole::in && lane == 0) fill_margins(call, t);
  }
}

void CpuSession::fill_margins(std::size_t call, std::size_t tensor) const {
  const auto [before, after] = arena_.margins(batch_.shape, call, tensor);
  streaming_fill(before.data(), before.size(), poison_);
  fill_unaligned(after, poison_);
}

Judged<double> CpuSession::request(std::size_t calls, double timeout_s) {
  double requested_ms = 0;
  const auto clock = [&] {
    const AddedTime watch(requested_ms);
    return killed_on_stop(process_, stop_, [&] { return process_.call(calls, timeout_s); });
  }();
  const double calls_ms = clock ? clock->wall_us / 1e3 : requested_ms;
  spent_ms_["calls"] += calls_ms;
  spent_ms_["stop and go"] += requested_ms - calls_ms;
  if (!clock) return clock.error();
  // The runner is bound to the cores of the task's threads, so that wall time includes no other cores.
  return setup_.task.threads > 1 ? clock->wall_us : clock->cpu_us;
}

Judged<double> CpuSession::empty_request() { return request(0, setup_.task.timeout_s); }

std::span<const std::byte> CpuSession::output(std::size_t call, std::size_t tensor) const {
  return {arena_.tensor(batch_.shape, call, tensor), arena_.tensor_bytes(batch_.shape, tensor)};
}

Findings CpuSession::compare() {
  const AddedTime watch(spent_ms_["compare"]);
  const std::size_t outputs = batch_.calls.size() * written_.size();
  const std::size_t lanes = lanes_for(batch_.calls.size() * setup_.shapes[batch_.shape].bytes());
  std::vector<std::vector<PartFindings>> found(outputs, std::vector<PartFindings>(lanes));
  in_lanes(lanes, [&](std::size_t lane) {
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::size_t call = i / written_.size(), tensor = written_[i % written_.size()];
      // Round robin, because parts of small outputs differ in size.
      const std::size_t part = (lane + i) % lanes;
      found[i][part] =
          look_through(batch_.calls[call]->outputs[tensor], output(call, tensor), poison_, part, lanes);
    }
  });
  Findings findings;
  for (std::size_t i = 0; i < outputs; ++i)
    conclude_output(i / written_.size(), written_[i % written_.size()], found[i], findings);
  return findings;
}

void CpuSession::conclude_output(std::size_t call, std::size_t tensor, const std::vector<PartFindings>& parts,
                                 Findings& findings) const {
  const Expected& expected = batch_.calls[call]->outputs[tensor];
  const CompareResult result = conclude(expected, parts);
  findings.error = std::max(findings.error, result.error);
  if (findings.wrong) return;
  const auto margins = arena_.margins(batch_.shape, call, tensor);
  const bool beside =
      !std::ranges::all_of(margins, [&](const auto& margin) { return untouched(margin, poison_); });
  if (!beside && result.fault == Fault::none) return;
  const double actual = load_element(expected.dtype, output(call, tensor).data(), result.worst_at);
  findings.wrong = Findings::Wrong{call, tensor, beside, result, actual};
}

Digest CpuSession::outputs() {
  DigestBuilder all;
  for (std::size_t call = 0; call < batch_.calls.size(); ++call)
    for (const std::size_t tensor : written_) {
      const auto bytes = output(call, tensor);
      all.add(digest_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).hex());
    }
  return all.finish();
}

}  // namespace kernelsmith::cpu
