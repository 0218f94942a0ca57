// StopSignal: a stop request as a descriptor, for poll().
#pragma once

#include <cstdint>
#include <stop_token>

#include <sys/eventfd.h>
#include <unistd.h>

#include <kernelsmith/core/descriptor.hpp>

namespace kernelsmith::cuda {

/// Readable once a stop is requested.
class StopSignal {
 public:
  explicit StopSignal(const std::stop_token& stop)
      : descriptor_(::eventfd(0, EFD_CLOEXEC)), callback_(stop, Raise{descriptor_.get()}) {}
  int descriptor() const { return descriptor_.get(); }

 private:
  struct Raise {
    int descriptor;
    void operator()() const {
      const std::uint64_t one = 1;
      static_cast<void>(!::write(descriptor, &one, sizeof one));
    }
  };
  Descriptor descriptor_;
  std::stop_callback<Raise> callback_;
};

}  // namespace kernelsmith::cuda
