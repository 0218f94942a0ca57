// The recording runtime's streams and events. A stream's flags and priority have no effect: only events order
// a candidate's stream with the default stream.
#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"
#include "planner/refusals.hpp"

// NOLINTBEGIN(readability-identifier-naming): the runtime's own names
using namespace kernelsmith::cuda::planner;

namespace {

Code check(bool known) { return known ? kSuccess : recorder().failed(kInvalidResourceHandle); }

/// A plan's call ends when all its work ends, so waiting on the host only orders work.
Code wait_on_host(bool known) {
  if (known) recorder().synchronise();
  return check(known);
}

}  // namespace

KERNELSMITH_FUNCTION(StreamCreate)(void** stream) { return answer(stream, recorder().create_stream()); }
KERNELSMITH_FUNCTION(StreamCreateWithFlags)(void** stream, unsigned) {
  return KERNELSMITH_RUNTIME(StreamCreate)(stream);
}
KERNELSMITH_FUNCTION(StreamCreateWithPriority)(void** stream, unsigned, int priority) {
  if (priority != 0) recorder().leave_out(kStreamPriority);
  return KERNELSMITH_RUNTIME(StreamCreate)(stream);
}
KERNELSMITH_FUNCTION(StreamDestroy)(void* stream) { return check(recorder().destroy_stream(stream)); }

KERNELSMITH_FUNCTION(EventCreate)(void** event) { return answer(event, recorder().create_event()); }
KERNELSMITH_FUNCTION(EventCreateWithFlags)(void** event, unsigned) {
  return KERNELSMITH_RUNTIME(EventCreate)(event);
}
KERNELSMITH_FUNCTION(EventDestroy)(void* event) { return check(recorder().destroy_event(event)); }

KERNELSMITH_FUNCTION(EventRecord)(void* event, void* stream) {
  return recorder().record_event(event, stream, KERNELSMITH_PREFIX "EventRecord");
}
KERNELSMITH_FUNCTION(EventRecordWithFlags)(void* event, void* stream, unsigned) {
  return KERNELSMITH_RUNTIME(EventRecord)(event, stream);
}
KERNELSMITH_FUNCTION(StreamWaitEvent)(void* stream, void* event, unsigned) {
  return recorder().wait_event(stream, event, KERNELSMITH_PREFIX "StreamWaitEvent");
}

KERNELSMITH_FUNCTION(StreamSynchronize)(void* stream) { return wait_on_host(recorder().is_stream(stream)); }
KERNELSMITH_FUNCTION(EventSynchronize)(void* event) { return wait_on_host(recorder().is_event(event)); }
KERNELSMITH_FUNCTION(DeviceSynchronize)() { return wait_on_host(true); }
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(ThreadSynchronize), KERNELSMITH_RUNTIME(DeviceSynchronize));
KERNELSMITH_FUNCTION(StreamQuery)(void* stream) { return KERNELSMITH_RUNTIME(StreamSynchronize)(stream); }
KERNELSMITH_FUNCTION(EventQuery)(void* event) { return KERNELSMITH_RUNTIME(EventSynchronize)(event); }

KERNELSMITH_FUNCTION(StreamIsCapturing)(void*, int* status) {
  return answer(status, 0);  // cudaStreamCaptureStatusNone
}
/// Sets only the status: the other results are defined only while a stream is captured.
KERNELSMITH_FUNCTION(StreamGetCaptureInfo)(void* stream, int* status) {
  return KERNELSMITH_RUNTIME(StreamIsCapturing)(stream, status);
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v2), KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v2_ptsz),
                  KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v3), KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v3_ptsz),
                  KERNELSMITH_RUNTIME(StreamGetCaptureInfo));

KERNELSMITH_FUNCTION(StreamGetFlags)(void* stream, unsigned* flags) {
  *flags = 1;  // cudaStreamNonBlocking
  return check(recorder().is_stream(stream));
}
KERNELSMITH_FUNCTION(StreamGetPriority)(void* stream, int* priority) {
  *priority = 0;
  return check(recorder().is_stream(stream));
}
KERNELSMITH_FUNCTION(StreamGetDevice)(void* stream, int* device) {
  *device = 0;
  return check(recorder().is_stream(stream));
}
/// Access windows, priorities and policies only affect the speed.
KERNELSMITH_FUNCTION(StreamSetAttribute)(void* stream, int attribute, const void*) {
  if (attribute == kAttributeAccessPolicyWindow) recorder().leave_out(kPersistence);
  if (attribute == kAttributePriority) recorder().leave_out(kStreamPriority);
  return check(recorder().is_stream(stream));
}

KERNELSMITH_EACH(KERNELSMITH_PTSZ, EventRecord, EventRecordWithFlags, StreamWaitEvent, StreamSynchronize,
                 StreamQuery, StreamIsCapturing, StreamGetCaptureInfo, StreamGetFlags, StreamGetPriority,
                 StreamGetDevice, StreamSetAttribute)
// NOLINTEND(readability-identifier-naming)
