// Compilations by the exact bytes of their source: a rival, a re-measurement or a repeated candidate is not
// compiled again. Backend and flags are one task's and so need no key.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/evaluator/backend.hpp>

namespace kernelsmith::stages {

/// Least recently used goes first. Thread-safe.
class BinaryCache {
 public:
  explicit BinaryCache(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Compilation> find(const Digest& source);
  void put(const Digest& source, Compilation compilation);

 private:
  using Entry = std::pair<Digest, Compilation>;

  Mutex mutex_;
  const std::size_t capacity_;
  std::list<Entry> entries_ KERNELSMITH_GUARDED_BY(mutex_);  ///< most recently used first
  std::unordered_map<Digest, std::list<Entry>::iterator> index_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::stages
