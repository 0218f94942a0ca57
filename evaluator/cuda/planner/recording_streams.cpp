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

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamCreate)(void** stream) {
  *stream = recorder().create_stream();
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamCreateWithFlags)(void** stream, unsigned) {
  return KERNELSMITH_RUNTIME(StreamCreate)(stream);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamCreateWithPriority)(void** stream, unsigned,
                                                                       int priority) {
  if (priority != 0) recorder().leave_out(kStreamPriority);
  return KERNELSMITH_RUNTIME(StreamCreate)(stream);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamDestroy)(void* stream) {
  return check(recorder().destroy_stream(stream));
}

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventCreate)(void** event) {
  *event = recorder().create_event();
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventCreateWithFlags)(void** event, unsigned) {
  return KERNELSMITH_RUNTIME(EventCreate)(event);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventDestroy)(void* event) {
  return check(recorder().destroy_event(event));
}

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventRecord)(void* event, void* stream) {
  return recorder().record_event(event, stream, KERNELSMITH_PREFIX "EventRecord");
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(EventRecord_ptsz), KERNELSMITH_RUNTIME(EventRecord));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventRecordWithFlags)(void* event, void* stream, unsigned) {
  return KERNELSMITH_RUNTIME(EventRecord)(event, stream);
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(EventRecordWithFlags_ptsz), KERNELSMITH_RUNTIME(EventRecordWithFlags));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamWaitEvent)(void* stream, void* event, unsigned) {
  return recorder().wait_event(stream, event, KERNELSMITH_PREFIX "StreamWaitEvent");
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamWaitEvent_ptsz), KERNELSMITH_RUNTIME(StreamWaitEvent));

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamSynchronize)(void* stream) {
  return wait_on_host(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamSynchronize_ptsz), KERNELSMITH_RUNTIME(StreamSynchronize));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventSynchronize)(void* event) {
  return wait_on_host(recorder().is_event(event));
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceSynchronize)() { return wait_on_host(true); }
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(ThreadSynchronize), KERNELSMITH_RUNTIME(DeviceSynchronize));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamQuery)(void* stream) {
  return KERNELSMITH_RUNTIME(StreamSynchronize)(stream);
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamQuery_ptsz), KERNELSMITH_RUNTIME(StreamQuery));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(EventQuery)(void* event) {
  return KERNELSMITH_RUNTIME(EventSynchronize)(event);
}

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamIsCapturing)(void*, int* status) {
  *status = 0;  // cudaStreamCaptureStatusNone
  return kSuccess;
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamIsCapturing_ptsz), KERNELSMITH_RUNTIME(StreamIsCapturing));
/// Sets only the status: the other results are defined only while a stream is captured.
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamGetCaptureInfo)(void* stream, int* status) {
  return KERNELSMITH_RUNTIME(StreamIsCapturing)(stream, status);
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_ptsz), KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v2), KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v2_ptsz),
                  KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v3), KERNELSMITH_RUNTIME(StreamGetCaptureInfo));
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetCaptureInfo_v3_ptsz),
                  KERNELSMITH_RUNTIME(StreamGetCaptureInfo));

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamGetFlags)(void* stream, unsigned* flags) {
  *flags = 1;  // cudaStreamNonBlocking
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetFlags_ptsz), KERNELSMITH_RUNTIME(StreamGetFlags));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamGetPriority)(void* stream, int* priority) {
  *priority = 0;
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetPriority_ptsz), KERNELSMITH_RUNTIME(StreamGetPriority));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamGetDevice)(void* stream, int* device) {
  *device = 0;
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamGetDevice_ptsz), KERNELSMITH_RUNTIME(StreamGetDevice));
/// Access windows, priorities and policies only affect the speed.
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(StreamSetAttribute)(void* stream, int attribute, const void*) {
  if (attribute == kAttributeAccessPolicyWindow) recorder().leave_out(kPersistence);
  if (attribute == kAttributePriority) recorder().leave_out(kStreamPriority);
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(StreamSetAttribute_ptsz), KERNELSMITH_RUNTIME(StreamSetAttribute));
// NOLINTEND(readability-identifier-naming)
