// The protocol of judge and runner: the payloads of the messages in channel.hpp. Both come from the same
// build and trust each other, but truncated messages are detected.
//
//   start   <- done {plan::Workspace}, or refused
//   map     -> the pieces' sizes, their descriptors;  <- done {address, ...}
//   unmap   -> {address, ...};                        <- done
//   keep    -> the encoded plan;                      <- done {number}
//   forget  -> {number};                              <- done
//   replay  -> {ReplayRequest};                       <- done {ReplayTime}
//
// Any request may be refused {RunnerRefusal}.
#pragma once

#include <cstdint>
#include <vector>

#include <kernelsmith/evaluator/plan_coders.hpp>
#include <kernelsmith/evaluator/plan_fields.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "runner/channel.hpp"
#include "runner/runner.hpp"

namespace kernelsmith {

template <class Coder>
void fields(Coder& coder, plan::Of<Error> auto& error) {
  coder.number(error.code);
  fields(coder, error.message);
  fields(coder, error.where);
  fields(coder, error.hint);
}

template <class Coder>
void fields(Coder& coder, plan::Of<Rejection> auto& rejection) {
  coder.number(rejection.stage);
  coder.number(rejection.code);
  fields(coder, rejection.diagnostics);
}

}  // namespace kernelsmith

namespace kernelsmith::cuda {

/// The descriptor of the program's end of the channel.
inline constexpr int kChannelDescriptor = 3;

/// Sizes or addresses of pieces of memory.
using Numbers = std::vector<std::uint64_t>;

struct ReplayRequest {
  std::uint32_t number = 0;
  Replay replay;
};

template <class Coder>
void fields(Coder& coder, plan::Of<ReplayRequest> auto& request) {
  coder.number(request.number);
  coder.number(request.replay.calls);
  coder.flag(request.replay.cold);
  coder.real(request.replay.timeout_s);
}

template <class Coder>
void fields(Coder& coder, plan::Of<ReplayTime> auto& time) {
  for (auto* part :
       {&time.device_us, &time.empty_us, &time.host_us, &time.empty_host_us, &time.load_ms, &time.build_ms})
    coder.real(*part);
  coder.flag(time.late);
  coder.number(time.throttle_reasons);
  coder.number(time.sm_mhz);
}

/// The error of a request. `fatal`: the runner's context is lost, and the runner ends or must be ended.
struct RunnerRefusal {
  Failure failure;
  bool fatal = false;
};

template <class Coder>
void fields(Coder& coder, plan::Of<RunnerRefusal> auto& refusal) {
  coder.choice(refusal.failure);
  coder.flag(refusal.fatal);
}

/// Decodes a message of kind refused.
inline RunnerRefusal refusal_of(const Message& message) {
  const RunnerRefusal unreadable{fail(ErrorCode::internal, "the answer is neither a result nor a refusal"),
                                 true};
  return plan::decoded<RunnerRefusal>(message.payload).value_or(unreadable);
}

}  // namespace kernelsmith::cuda
