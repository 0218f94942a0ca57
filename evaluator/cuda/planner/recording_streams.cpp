// Recorded in place of the CUDA runtime: streams and events. A stream's flags and priority change nothing: a
// stream of the candidate's own is never in order with the default stream except by events.
#include "planner/recorder.hpp"
#include "planner/refusals.hpp"

// NOLINTBEGIN(readability-identifier-naming): CUDA's own names
using namespace kernelsmith::cuda::planner;

namespace {

Code check(bool known) { return known ? kSuccess : recorder().failed(kInvalidResourceHandle); }

/// A plan's call is over when all its work is: waiting on the host orders work, and is nothing else.
Code wait_on_host(bool known) {
  if (known) recorder().synchronise();
  return check(known);
}

}  // namespace

KERNELSMITH_RECORDED int cudaStreamCreate(void** stream) {
  *stream = recorder().create_stream();
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaStreamCreateWithFlags(void** stream, unsigned) {
  return cudaStreamCreate(stream);
}
KERNELSMITH_RECORDED int cudaStreamCreateWithPriority(void** stream, unsigned, int priority) {
  if (priority != 0) recorder().leave_out(kStreamPriority);
  return cudaStreamCreate(stream);
}
KERNELSMITH_RECORDED int cudaStreamDestroy(void* stream) { return check(recorder().destroy_stream(stream)); }

KERNELSMITH_RECORDED int cudaEventCreate(void** event) {
  *event = recorder().create_event();
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaEventCreateWithFlags(void** event, unsigned) { return cudaEventCreate(event); }
KERNELSMITH_RECORDED int cudaEventDestroy(void* event) { return check(recorder().destroy_event(event)); }

KERNELSMITH_RECORDED int cudaEventRecord(void* event, void* stream) {
  return recorder().record_event(event, stream, "cudaEventRecord");
}
KERNELSMITH_ALIAS(cudaEventRecord_ptsz, cudaEventRecord);
KERNELSMITH_RECORDED int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}
KERNELSMITH_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);
KERNELSMITH_RECORDED int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return recorder().wait_event(stream, event, "cudaStreamWaitEvent");
}
KERNELSMITH_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent);

KERNELSMITH_RECORDED int cudaStreamSynchronize(void* stream) {
  return wait_on_host(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);
KERNELSMITH_RECORDED int cudaEventSynchronize(void* event) {
  return wait_on_host(recorder().is_event(event));
}
KERNELSMITH_RECORDED int cudaDeviceSynchronize() { return wait_on_host(true); }
KERNELSMITH_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize);
KERNELSMITH_RECORDED int cudaStreamQuery(void* stream) { return cudaStreamSynchronize(stream); }
KERNELSMITH_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery);
KERNELSMITH_RECORDED int cudaEventQuery(void* event) { return cudaEventSynchronize(event); }

KERNELSMITH_RECORDED int cudaStreamIsCapturing(void*, int* status) {
  *status = 0;  // cudaStreamCaptureStatusNone
  return kSuccess;
}
KERNELSMITH_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing);
/// The status alone: everything behind it is defined only while a stream is captured.
KERNELSMITH_RECORDED int cudaStreamGetCaptureInfo(void* stream, int* status) {
  return cudaStreamIsCapturing(stream, status);
}
KERNELSMITH_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo);
KERNELSMITH_ALIAS(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo);
KERNELSMITH_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo);
KERNELSMITH_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo);
KERNELSMITH_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo);

KERNELSMITH_RECORDED int cudaStreamGetFlags(void* stream, unsigned* flags) {
  *flags = 1;  // cudaStreamNonBlocking
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags);
KERNELSMITH_RECORDED int cudaStreamGetPriority(void* stream, int* priority) {
  *priority = 0;
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority);
KERNELSMITH_RECORDED int cudaStreamGetDevice(void* stream, int* device) {
  *device = 0;
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice);
/// Access windows, priorities and policies only change how fast it is.
KERNELSMITH_RECORDED int cudaStreamSetAttribute(void* stream, int attribute, const void*) {
  if (attribute == kAttributeAccessPolicyWindow) recorder().leave_out(kPersistence);
  if (attribute == kAttributePriority) recorder().leave_out(kStreamPriority);
  return check(recorder().is_stream(stream));
}
KERNELSMITH_ALIAS(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute);
// NOLINTEND(readability-identifier-naming)
