#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <kernelsmith/evaluator/prepared_tasks.hpp>

namespace kernelsmith {
namespace {

/// Tasks that are prepared in parallel: one waits for its interpreters while another is timed.
constexpr std::size_t kPreparing = 2;
/// One more thread starts the jobs of prepared tasks.
constexpr std::size_t kThreads = kPreparing + 1;

Error stopped() { return fail(ErrorCode::cancelled, "the evaluation was stopped"); }

}  // namespace

PreparedTasks::PreparedTasks(EvaluatorMaker make, std::size_t room)
    : make_(std::move(make)), room_(std::max<std::size_t>(room, 1)) {
  for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { serve(); });
}

PreparedTasks::~PreparedTasks() {
  std::vector<Waiting> dropped;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    for (const auto& [digest, entry] : entries_)
      std::ranges::move(std::exchange(entry->waiting, {}), std::back_inserter(dropped));
    changed_.notify_all();
  }
  threads_.clear();
  for (const Waiting& waiting : dropped) waiting.done(stopped());
  std::map<Digest, EntryPtr> entries;  // destroying evaluators answers their jobs, which locks the mutex
  {
    const MutexLock lock(mutex_);
    entries.swap(entries_);
    due_.clear();
  }
  for (const auto& [digest, entry] : entries) entry->evaluator.reset();
}

void PreparedTasks::start(const TaskPtr& task, EvaluationJob job, std::stop_token stop, Sink<Evaluation> done,
                          WorkSink works) {
  const MutexLock lock(mutex_);
  EntryPtr& entry = entries_[task->digest];
  if (!entry) entry = std::make_shared<Entry>(task);
  entry->waiting.push_back({std::move(job), std::move(stop), std::move(done), std::move(works)});
  queue(entry);
}

void PreparedTasks::renew(const Digest& task) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(task);
  if (found == entries_.end() || found->second->queued || !is_spare(*found->second)) return;
  // A thread of the pool destroys the evaluator, because this thread may be one of the evaluator's own.
  retired_.push_back(std::move(found->second->evaluator));
  entries_.erase(found);
  --occupied_;
  changed_.notify_all();
}

bool PreparedTasks::has_room_for(const Digest& task) const {
  const MutexLock lock(mutex_);
  return entries_.contains(task) || entries_.size() < room_;
}

std::size_t PreparedTasks::prepared() const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const auto& entry) { return entry.second->evaluator != nullptr; }));
}

bool PreparedTasks::is_spare(const Entry& entry) {
  return entry.evaluator && entry.under_way == 0 && entry.waiting.empty();
}

void PreparedTasks::queue(const EntryPtr& entry) {
  if (std::exchange(entry->queued, true)) return;
  due_.push_back(entry);
  changed_.notify_one();
}

/// The first task that can continue: it is prepared, or there is room for it.
PreparedTasks::EntryPtr PreparedTasks::next_due() {
  const auto spare = [](const auto& entry) { return is_spare(*entry.second); };
  const bool room = preparing_ < kPreparing && (occupied_ < room_ || std::ranges::any_of(entries_, spare));
  const auto found =
      std::ranges::find_if(due_, [room](const EntryPtr& entry) { return room || entry->evaluator; });
  if (found == due_.end()) return nullptr;
  EntryPtr entry = std::move(*found);
  due_.erase(found);
  entry->queued = false;
  return entry;
}

/// Takes the place that next_due() found. Returns the evicted evaluator, which must be destroyed without the
/// lock.
std::shared_ptr<Evaluator> PreparedTasks::make_room() {
  if (occupied_ < room_) return ++occupied_, nullptr;
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it)
    if (is_spare(*it->second) &&
        (oldest == entries_.end() || it->second->last_use < oldest->second->last_use))
      oldest = it;
  auto evicted = std::move(oldest->second->evaluator);
  entries_.erase(oldest);
  return evicted;
}

void PreparedTasks::serve() {
  MutexLock lock(mutex_);
  while (true) {
    EntryPtr entry;
    changed_.wait(lock, [&]() KERNELSMITH_REQUIRES(mutex_) {
      return closing_ || !retired_.empty() || (entry = next_due());
    });
    if (closing_) return;
    if (auto retired = std::exchange(retired_, {}); !retired.empty()) {
      lock.unlock();
      retired.clear();
      lock.lock();
      continue;
    }
    const bool ready = entry->evaluator != nullptr;
    std::shared_ptr<Evaluator> evicted;
    if (!ready) {
      evicted = make_room();
      ++preparing_;
      entry->queued = true;  // no other thread may prepare it at the same time
    }
    lock.unlock();
    evicted.reset();  // frees its memory first
    if (ready)
      start_waiting(entry);
    else
      prepare(entry);
    lock.lock();
  }
}

void PreparedTasks::prepare(const EntryPtr& entry) {
  Result<std::shared_ptr<Evaluator>> made = fail(ErrorCode::internal, "the evaluator was not made");
  try {
    made = make_(*entry->task);
  } catch (const std::exception& thrown) {
    made = fail(ErrorCode::internal, std::string("preparing the task threw: ") + thrown.what());
  }
  std::vector<Waiting> failed;
  {
    const MutexLock lock(mutex_);
    entry->queued = false;
    --preparing_;
    if (made) {
      entry->evaluator = std::move(*made);
      entry->last_use = ++uses_;
    } else {
      failed = std::exchange(entry->waiting, {});
      --occupied_;
      entries_.erase(entry->task->digest);
    }
    changed_.notify_all();
  }
  for (const Waiting& waiting : failed) waiting.done(made.error());
  if (failed.empty()) start_waiting(entry);
}

void PreparedTasks::start_waiting(const EntryPtr& entry) {
  std::vector<Waiting> waiting;
  std::shared_ptr<Evaluator> evaluator;
  {
    const MutexLock lock(mutex_);
    waiting = std::exchange(entry->waiting, {});
    evaluator = entry->evaluator;
    entry->under_way += waiting.size();
    entry->last_use = ++uses_;
  }
  for (Waiting& one : waiting) {
    auto done = [this, entry, done = std::move(one.done)](Result<Evaluation> evaluation) {
      answered(entry);
      done(std::move(evaluation));
    };
    if (one.stop.stop_requested()) {
      done(stopped());
      continue;
    }
    evaluator->start_watched(std::move(one.job), std::move(one.stop), std::move(done), std::move(one.works));
  }
}

void PreparedTasks::answered(const EntryPtr& entry) {
  const MutexLock lock(mutex_);
  --entry->under_way;
  changed_.notify_one();  // there may be room now
}

}  // namespace kernelsmith
