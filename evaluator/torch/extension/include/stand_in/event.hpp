// at::cuda::CUDAEvent: an event of the recording runtime, made when it is first recorded.
#pragma once

#include "stand_in/torch.hpp"

namespace at::cuda {

class CUDAEvent {
 public:
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned flags) : flags_(flags) {}
  CUDAEvent(CUDAEvent&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)), flags_(other.flags_), recorded_(other.recorded_) {}
  CUDAEvent& operator=(CUDAEvent&& other) noexcept {
    std::swap(event_, other.event_);
    flags_ = other.flags_;
    recorded_ = other.recorded_;
    return *this;
  }
  ~CUDAEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }

  operator cudaEvent_t() const { return event_; }
  cudaEvent_t event() const { return event_; }
  bool isCreated() const { return event_ != nullptr; }
  bool query() const { return true; }
  void record() { record(getCurrentCUDAStream()); }
  void record(const CUDAStream& stream) {
    if (event_ == nullptr) C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    C10_CUDA_CHECK(cudaEventRecord(event_, stream));
    recorded_ = true;
  }
  void recordOnce(const CUDAStream& stream) {
    if (!recorded_) record(stream);
  }
  void block(const CUDAStream& stream) const {
    if (event_ != nullptr) C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
  }
  void synchronize() const {
    if (event_ != nullptr) C10_CUDA_CHECK(cudaEventSynchronize(event_));
  }
  float elapsed_time(const CUDAEvent& other) const {
    float milliseconds = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, other.event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
  unsigned flags_ = cudaEventDisableTiming;
  bool recorded_ = false;
};

}  // namespace at::cuda
