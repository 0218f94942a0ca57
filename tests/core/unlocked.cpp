// What scripts/check_locks.py must find, or it checks nothing: the lines that say "wrong". Nothing links
// this.
#include <deque>
#include <functional>
#include <stop_token>

#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith {

class Queue {
 public:
  int take(const std::stop_token& stop) {
    MutexLock lock(mutex_);
    if (!filled_.wait(lock, stop, [this]() KERNELSMITH_REQUIRES(mutex_) { return !items_.empty(); }))
      return 0;
    const int first = pop();
    lock.unlock();
    pop();  // wrong
    lock.lock();
    return first + pop();
  }
  std::function<void()> later() {
    const MutexLock lock(mutex_);
    return [this] {
      items_.clear();  // wrong
    };
  }
  bool empty() const {
    return items_.empty();  // wrong
  }

 private:
  int pop() KERNELSMITH_REQUIRES(mutex_) {
    const int first = items_.front();
    items_.pop_front();
    return first;
  }

  Mutex mutex_;
  StoppableCondition filled_;
  std::deque<int> items_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith
