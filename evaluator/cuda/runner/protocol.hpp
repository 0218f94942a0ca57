// The protocol of judge and runner: the payloads of the messages in channel.hpp.
//
//   start   <- done {Started}, or error
//   map     -> the pieces' sizes, their descriptors;  <- done {address, ...}
//   unmap   -> {address, ...};                        <- done
//   keep    -> the encoded plan;                      <- done {number}
//   forget  -> {number};                              <- done
//   replay  -> {ReplayRequest};                       <- done {ReplayTime}, or rejection, or error
#pragma once

#include <cstdint>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "runner/channel.hpp"
#include "runner/payload.hpp"
#include "runner/runner.hpp"

namespace kernelsmith::cuda {

/// The descriptor of the program's end of the channel.
inline constexpr int kChannelDescriptor = 3;

struct Started {
  plan::Workspace workspace;
};

struct ReplayRequest {
  std::uint32_t number = 0;
  Replay replay;
};

inline std::vector<std::byte> encode_request(const ReplayRequest& request) {
  return PayloadWriter()
      .put(request.number)
      .put(std::uint64_t{request.replay.calls})
      .put(request.replay.cold)
      .put(request.replay.timeout_s)
      .take();
}
inline ReplayRequest decode_request(PayloadReader& reader) {
  ReplayRequest request;
  request.number = reader.take<std::uint32_t>();
  request.replay.calls = static_cast<std::size_t>(reader.take<std::uint64_t>());
  request.replay.cold = reader.take<bool>();
  request.replay.timeout_s = reader.take<double>();
  return request;
}

inline PayloadWriter encode_time(const ReplayTime& time) {
  PayloadWriter writer;
  for (const double part :
       {time.device_us, time.empty_us, time.host_us, time.empty_host_us, time.load_ms, time.build_ms})
    writer.put(part);
  writer.put(time.late).put(time.throttle_reasons).put(time.sm_mhz);
  return writer;
}
inline ReplayTime decode_time(PayloadReader& reader) {
  ReplayTime time;
  for (double* part :
       {&time.device_us, &time.empty_us, &time.host_us, &time.empty_host_us, &time.load_ms, &time.build_ms})
    *part = reader.take<double>();
  time.late = reader.take<bool>();
  time.throttle_reasons = reader.take<std::uint32_t>();
  time.sm_mhz = reader.take<std::uint32_t>();
  return time;
}

/// The error of a request. `fatal`: the runner's context is lost, and it ends or must be ended.
struct Refusal {
  Failure failure;
  bool fatal = false;
};

inline std::vector<std::byte> encode_error(const Error& error, bool fatal) {
  return PayloadWriter()
      .put(fatal)
      .put(error.code)
      .put_text(error.message)
      .put_text(error.where)
      .put_text(error.hint)
      .take();
}

inline std::vector<std::byte> encode_rejection(const Rejection& rejection, bool fatal) {
  return PayloadWriter()
      .put(fatal)
      .put(rejection.stage)
      .put(rejection.code)
      .put_text(rejection.diagnostics)
      .take();
}

/// Decodes a message of kind error or rejection.
inline Refusal decode_refusal(const Message& message) {
  PayloadReader reader(message.payload);
  Refusal refusal;
  refusal.fatal = reader.take<bool>();
  if (message.kind == MessageKind::rejection) {
    Rejection rejection;
    rejection.stage = reader.take<Stage>();
    rejection.code = reader.take<RejectionCode>();
    rejection.diagnostics = reader.take_text();
    refusal.failure = std::move(rejection);
  } else {
    Error error;
    error.code = reader.take<ErrorCode>();
    error.message = reader.take_text();
    error.where = reader.take_text();
    error.hint = reader.take_text();
    refusal.failure = std::move(error);
  }
  return refusal;
}

}  // namespace kernelsmith::cuda
