#include "stage_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith::stages {

/// A piece of work that waits for its stage, and the callback that removes it when its stop token fires. The
/// callback's destructor waits for the callback, which locks the mutex: never destroy a Waiting with the
/// mutex held.
struct StageScheduler::Waiting {
  Waiting(StageScheduler& scheduler, Slot slot, StageWork what)
      : work(std::move(what)), on_stop(work.stop, [this, &scheduler, slot] { scheduler.stop(slot, this); }) {}
  StageWork work;
  std::stop_callback<std::function<void()>> on_stop;
};

StageScheduler::StageScheduler(const EvaluatorOptions& options)
    : options_(options), leased_(options.run_slots) {
  for (std::size_t i = 0; i < options.compile_slots + options.run_slots; ++i)
    threads_.emplace_back([this] { serve(); });
}

StageScheduler::~StageScheduler() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void StageScheduler::post(Slot slot, StageWork work) {
  const auto item = std::make_shared<Waiting>(*this, slot, std::move(work));
  {
    const MutexLock lock(mutex_);
    (slot == Slot::run ? runs_ : compiles_).push_back(item);
  }
  changed_.notify_all();
  if (item->work.stop.stop_requested())
    stop(slot, item.get());  // its callback ran before it was in the queue
}

void StageScheduler::stop(Slot slot, const Waiting* item) {
  WaitingPtr stopped;
  MutexLock lock(mutex_);
  Queue& queue = slot == Slot::run ? runs_ : compiles_;
  const auto found = std::ranges::find(queue, item, [](const WaitingPtr& one) { return one.get(); });
  if (found == queue.end()) return;
  stopped = std::move(*found);
  queue.erase(found);
  ++busy_;
  lock.unlock();
  stopped->work.cancelled();
  lock.lock();
  --busy_;
  changed_.notify_all();
}

void StageScheduler::serve() {
  MutexLock lock(mutex_);
  while (true) {
    const bool runs = may_run();
    if (!runs && !may_compile()) {
      if (closing_ && busy_ == 0 && compiles_.empty() && runs_.empty()) return;
      changed_.wait(lock);
      continue;
    }
    Queue& queue = runs ? runs_ : compiles_;
    WaitingPtr item = std::move(queue.front());
    queue.pop_front();
    const auto free = std::ranges::find(leased_, false) - leased_.begin();
    const auto device = runs ? static_cast<std::size_t>(free) : 0;
    if (runs)
      leased_[device] = true;
    else
      ++compiling_;
    ++busy_;
    lock.unlock();
    if (item->work.stop.stop_requested())
      item->work.cancelled();
    else
      item->work.work(device);
    item.reset();
    lock.lock();
    --busy_;
    if (runs)
      leased_[device] = false;
    else
      --compiling_;
    changed_.notify_all();
  }
}

bool StageScheduler::may_run() const {
  return !runs_.empty() && std::ranges::count(leased_, false) > 0 &&
         (options_.compile_while_running || compiling_ == 0);
}

bool StageScheduler::may_compile() const {
  if (compiles_.empty() || compiling_ >= options_.compile_slots) return false;
  return options_.compile_while_running || (runs_.empty() && std::ranges::count(leased_, true) == 0);
}

}  // namespace kernelsmith::stages
