// Mutex, MutexLock and Condition: those of std, and clang's annotations of what a mutex guards, which
// scripts/check_locks.py checks. For other compilers the annotations are empty.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define KERNELSMITH_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define KERNELSMITH_THREAD_ANNOTATION(attribute)
#endif

/// A member that is read and written with the mutex held.
#define KERNELSMITH_GUARDED_BY(mutex) KERNELSMITH_THREAD_ANNOTATION(guarded_by(mutex))
/// A function, or a lambda (behind its parameters), that is called with the mutex held.
#define KERNELSMITH_REQUIRES(...) KERNELSMITH_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// A pointer: what it points to is guarded, and not the pointer itself.
#define KERNELSMITH_PT_GUARDED_BY(mutex) KERNELSMITH_THREAD_ANNOTATION(pt_guarded_by(mutex))
/// A class that holds a mutex from its constructor to its destructor, and those two.
#define KERNELSMITH_SCOPED_LOCK KERNELSMITH_THREAD_ANNOTATION(scoped_lockable)
#define KERNELSMITH_ACQUIRE(...) KERNELSMITH_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define KERNELSMITH_RELEASE(...) KERNELSMITH_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

namespace kernelsmith {

/// Thread-safe.
class KERNELSMITH_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() KERNELSMITH_ACQUIRE() { mutex_.lock(); }
  void unlock() KERNELSMITH_RELEASE() { mutex_.unlock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a mutex until its end, but for the time between unlock() and lock().
class KERNELSMITH_SCOPED_LOCK MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) KERNELSMITH_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() KERNELSMITH_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() KERNELSMITH_ACQUIRE() { lock_.lock(); }
  void unlock() KERNELSMITH_RELEASE() { lock_.unlock(); }

 private:
  template <class Variable>
  friend class BasicCondition;
  std::unique_lock<std::mutex> lock_;
};

/// Waits like `Variable`, with the same arguments behind the lock. A predicate that reads what the mutex
/// guards says KERNELSMITH_REQUIRES. Thread-safe.
template <class Variable>
class BasicCondition {
 public:
  template <class... Arguments>
  auto wait(MutexLock& lock, Arguments&&... arguments) {
    return variable_.wait(lock.lock_, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  auto wait_for(MutexLock& lock, Arguments&&... arguments) {
    return variable_.wait_for(lock.lock_, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  auto wait_until(MutexLock& lock, Arguments&&... arguments) {
    return variable_.wait_until(lock.lock_, std::forward<Arguments>(arguments)...);
  }
  void notify_one() { variable_.notify_one(); }
  void notify_all() { variable_.notify_all(); }

 private:
  Variable variable_;
};

using Condition = BasicCondition<std::condition_variable>;
/// Its waits may take a std::stop_token, and cost a second mutex.
using StoppableCondition = BasicCondition<std::condition_variable_any>;

}  // namespace kernelsmith
