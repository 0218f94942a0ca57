#include "binary_cache.hpp"

namespace kernelsmith::stages {

std::optional<Compilation> BinaryCache::find(const Digest& source) {
  const MutexLock lock(mutex_);
  const auto found = index_.find(source);
  if (found == index_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void BinaryCache::put(const Digest& source, Compilation compilation) {
  const MutexLock lock(mutex_);
  if (index_.contains(source)) return;
  entries_.emplace_front(source, std::move(compilation));
  index_.emplace(source, entries_.begin());
  if (entries_.size() <= capacity_) return;
  index_.erase(entries_.back().first);
  entries_.pop_back();
}

}  // namespace kernelsmith::stages
