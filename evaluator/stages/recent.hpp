// A bounded cache keyed by a digest. It keeps verdicts by the bytes of the binary, and compilations by the
// bytes of their source, so that rivals, re-measurements and repeated candidates are not compiled again.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith::stages {

/// Drops the least recently used value first. Thread-safe.
template <class Value>
class Recent {
 public:
  explicit Recent(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Value> find(const Digest& key) {
    const MutexLock lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->second;
  }

  /// Keeps the value, unless the key already has one.
  void put(const Digest& key, Value value) {
    const MutexLock lock(mutex_);
    if (index_.contains(key)) return;
    entries_.emplace_front(key, std::move(value));
    index_.emplace(key, entries_.begin());
    if (entries_.size() <= capacity_) return;
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }

  void clear() {
    const MutexLock lock(mutex_);
    index_.clear();
    entries_.clear();
  }

 private:
  using Entry = std::pair<Digest, Value>;

  Mutex mutex_;
  const std::size_t capacity_;
  std::list<Entry> entries_ KERNELSMITH_GUARDED_BY(mutex_);  ///< most recently used first
  std::unordered_map<Digest, typename std::list<Entry>::iterator> index_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::stages
