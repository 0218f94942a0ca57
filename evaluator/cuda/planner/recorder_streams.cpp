// Streams and events of the recorder.
#include "planner/recorder.hpp"
#include "planner/refusals.hpp"

namespace kernelsmith::cuda::planner {

void* Recorder::create_stream() {
  next_handle_ += 2;
  void* const handle = pointer_of(reinterpret_cast<std::uintptr_t>(call_stream()) + next_handle_);
  streams_[handle] = {};
  return handle;
}

void* Recorder::create_event() {
  next_handle_ += 2;
  void* const handle = pointer_of(reinterpret_cast<std::uintptr_t>(call_stream()) + next_handle_ + 1);
  events_[handle] = {};
  return handle;
}

/// A stream whose first operation is this work has not waited for the call's stream. plan::check() refuses
/// such work unless the host synchronised before.
std::optional<std::uint32_t> Recorder::number_for_work(void* stream, std::string_view function) {
  if (is_call_stream(stream)) return 0;
  const auto found = streams_.find(stream);
  if (found == streams_.end()) {
    refuse(function, "the stream does not exist");
    return {};
  }
  auto& number = found->second;
  if (!number) {
    number = static_cast<std::uint32_t>(behind_.size());
    behind_.push_back(true);
  }
  if (behind_[*number] && synchronised_at_) {
    const std::uint32_t event = new_event();
    const auto place = call_.operations.begin() + static_cast<std::ptrdiff_t>(*synchronised_at_);
    call_.operations.insert(place, {0, plan::EventRecord{event}});
    push(*number, plan::EventWait{event});
  }
  behind_[*number] = false;
  return number;
}

Code Recorder::record_event(void* event, void* stream, std::string_view function) {
  if (!is_event(event) || !is_stream(stream)) return failed(kInvalidResourceHandle);
  const bool unused = !is_call_stream(stream) && !streams_[stream];
  auto& number = events_[event];
  // Outside of a call, and on a stream without work in this call, there is nothing to wait for.
  if (!in_call_ || (unused && !synchronised_at_)) {
    number.reset();
    return kSuccess;
  }
  // Each record gets a new number, because a wait means the latest record before it.
  const std::uint32_t fresh = new_event();
  const Code code = add(stream, plan::EventRecord{fresh}, function);
  if (code == kSuccess) number = fresh;
  return code;
}

Code Recorder::wait_event(void* stream, void* event, std::string_view function) {
  if (!is_event(event) || !is_stream(stream)) return failed(kInvalidResourceHandle);
  const auto number = events_[event];
  // If the event was not recorded in this call, there is nothing to wait for: the work of earlier calls is
  // done.
  if (!number) return kSuccess;
  if (!may_work(function)) return kNotSupported;
  const auto waiting = number_for_work(stream, function);
  if (!waiting) return kNotSupported;
  push(*waiting, plan::EventWait{*number});
  return kSuccess;
}

void Recorder::synchronise() {
  // A ledger's operations are one sequence, so every wait is already satisfied.
  if (!in_call_ || ledger_ != nullptr || !may_work(in_runtime_names("$DeviceSynchronize", runtime_names())))
    return;
  // Every stream joins the call's own stream. Later operations of the joined streams wait for this point.
  for (std::uint32_t stream = 1; stream < behind_.size(); ++stream) {
    if (behind_[stream]) continue;
    const std::uint32_t event = new_event();
    push(stream, plan::EventRecord{event});
    push(0, plan::EventWait{event});
    behind_[stream] = true;
  }
  synchronised_at_ = call_.operations.size();
}

}  // namespace kernelsmith::cuda::planner
