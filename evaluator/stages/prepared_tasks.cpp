#include "prepared_tasks.hpp"

#include <utility>

namespace kernelsmith::stages {

void PreparedTasks::add(std::shared_ptr<const Task> task) {
  const std::lock_guard lock(mutex_);
  EntryPtr& entry = entries_[task->digest];
  if (entry) return;
  entry = std::make_shared<Entry>();
  entry->task = std::move(task);
}

PreparedTasks::EntryPtr PreparedTasks::entry_of(const Digest& task) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(task);
  return found == entries_.end() ? nullptr : found->second;
}

PreparedTaskPtr PreparedTasks::use(Entry& entry) {
  const std::lock_guard lock(mutex_);
  entry.last_use = ++uses_;
  return entry.ready;
}

PreparedTaskPtr PreparedTasks::find(const Digest& task) {
  const EntryPtr entry = entry_of(task);
  return entry ? use(*entry) : nullptr;
}

/// For one more: before it is made, since each may hold much memory.
void PreparedTasks::make_room() {
  while (true) {
    PreparedTaskPtr dropped;  // ends outside the lock: a backend may have processes to end
    const std::lock_guard lock(mutex_);
    Entry* oldest = nullptr;
    std::size_t ready = 0;
    for (const auto& [digest, entry] : entries_) {
      if (!entry->ready) continue;
      ++ready;
      if (!oldest || entry->last_use < oldest->last_use) oldest = entry.get();
    }
    if (!oldest || ready < options_.prepared_tasks) return;
    dropped = std::exchange(oldest->ready, nullptr);
  }
}

Result<PreparedTaskPtr> PreparedTasks::prepare(const Digest& task) {
  const EntryPtr entry = entry_of(task);
  if (!entry)
    return fail(ErrorCode::invalid_argument, "the job is for a task that this evaluator does not serve",
                task.hex());
  const std::lock_guard preparing(entry->preparing);
  if (auto ready = use(*entry)) return ready;
  make_room();
  auto backend = make_backend_(entry->task);
  if (!backend) return backend.error();
  auto made = std::make_shared<PreparedTask>(entry->task, std::move(*backend), options_.cached_binaries);
  const std::lock_guard lock(mutex_);
  entry->ready = made;
  return made;
}

}  // namespace kernelsmith::stages
