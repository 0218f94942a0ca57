// Mutex, MutexLock and Condition: std's classes with clang's annotations of what a mutex guards.
// scripts/check_locks.py checks these. For compilers other than clang the annotations are empty.
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
/// A function that is called with the mutex held. For a lambda, write the annotation after the parameters.
#define KERNELSMITH_REQUIRES(...) KERNELSMITH_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// The mutex guards the object that the pointer points to, not the pointer.
#define KERNELSMITH_PT_GUARDED_BY(mutex) KERNELSMITH_THREAD_ANNOTATION(pt_guarded_by(mutex))
/// A class that holds a mutex from its constructor to its destructor, and its constructors and destructor.
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

/// Holds a mutex for its lifetime, except between unlock() and lock().
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

/// Waits like `Variable`. After the lock, the arguments are the same. A predicate that reads guarded data
/// needs KERNELSMITH_REQUIRES. Thread-safe.
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
/// A condition whose waits may take a std::stop_token. For that it contains a second mutex.
using StoppableCondition = BasicCondition<std::condition_variable_any>;

}  // namespace kernelsmith
