#include "stage_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith::stages {

/// Work in a queue, with the callback that wakes a thread when its token fires. The callback's destructor
/// waits for the callback, which locks the mutex: never destroy one with the mutex held.
struct StageScheduler::Waiting {
  Waiting(StageWork what, std::function<void()> wake)
      : work(std::move(what)), on_stop(work.stop, std::move(wake)) {}
  StageWork work;
  std::stop_callback<std::function<void()>> on_stop;
};

StageScheduler::StageScheduler(const EvaluatorOptions& options)
    : options_(options), leased_(options.run_slots) {
  // One more than the slots, so that a thread is free to answer what is cancelled.
  const std::size_t threads = options.compile_slots + options.run_slots + 1;
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
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
  auto item = std::make_shared<Waiting>(std::move(work), [this] {
    { const MutexLock lock(mutex_); }
    changed_.notify_all();
  });
  {
    const MutexLock lock(mutex_);
    (slot == Slot::compile ? compiles_ : runs_).push_back(std::move(item));
  }
  changed_.notify_all();
}

void StageScheduler::serve() {
  MutexLock lock(mutex_);
  while (true) {
    Taken taken = take(lock);
    if (!taken.item) return;
    ++busy_;
    lock.unlock();
    if (taken.cancelled) {
      taken.item->work.cancelled();
    } else {
      taken.item->work.work(taken.device);
    }
    taken.item.reset();
    lock.lock();
    --busy_;
    give_back(taken);
    changed_.notify_all();
  }
}

StageScheduler::Taken StageScheduler::take(MutexLock& lock) {
  while (true) {
    if (Taken taken = next(); taken.item) return taken;
    if (closing_ && busy_ == 0 && compiles_.empty() && runs_.empty()) return {};
    changed_.wait(lock);
  }
}

StageScheduler::Taken StageScheduler::next() {
  for (auto* queue : {&runs_, &compiles_})
    if (auto stopped = take_stopped(*queue)) return {std::move(stopped), Slot::compile, true};
  const auto pop = [](std::deque<WaitingPtr>& queue) {
    WaitingPtr item = std::move(queue.front());
    queue.pop_front();
    return item;
  };
  if (may_run()) {
    const auto device = std::ranges::find(leased_, false) - leased_.begin();
    leased_[static_cast<std::size_t>(device)] = true;
    return {pop(runs_), Slot::run, false, static_cast<std::size_t>(device)};
  }
  if (may_compile()) {
    ++compiling_;
    return {pop(compiles_), Slot::compile};
  }
  return {};
}

void StageScheduler::give_back(const Taken& taken) {
  if (taken.cancelled) return;
  if (taken.slot == Slot::compile)
    --compiling_;
  else
    leased_[taken.device] = false;
}

StageScheduler::WaitingPtr StageScheduler::take_stopped(std::deque<WaitingPtr>& queue) {
  const auto found =
      std::ranges::find_if(queue, [](const WaitingPtr& item) { return item->work.stop.stop_requested(); });
  if (found == queue.end()) return nullptr;
  WaitingPtr item = std::move(*found);
  queue.erase(found);
  return item;
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
