// TimingCore: where kernels of one thread are timed. What shares a physical core with a kernel slows it by a
// fifth and more, on a virtual machine unseen: two that are compared must run on the same one.
#pragma once

#include <filesystem>
#include <vector>

#include "cores.hpp"
#include "descriptor.hpp"

namespace kernelsmith {

/// Not thread-safe. Movable.
class TimingCore {
 public:
  /// Chooses among the cores that the calling thread may use one on which no other kernelsmith times, where
  /// there is one. What they lock stands in the processors' folders; tests name folders of their own.
  static TimingCore choose(const std::filesystem::path& processors = kProcessors);

  /// Its number; empty where the machine does not tell which there are.
  const std::vector<int>& number() const { return number_; }

  /// Others that the calling thread may use, best none that slow it; empty where there is only one.
  const std::vector<int>& beside() const { return beside_; }

 private:
  std::vector<int> number_, beside_;
  FileDescriptor lock_;  ///< held for as long as this lives; others only prefer other cores for it
};

}  // namespace kernelsmith
