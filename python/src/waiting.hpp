// Waiting for C++ work from a Python thread, in a way that lets signals through.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <pybind11/pybind11.h>

#include <kernelsmith/core/observer.hpp>

#include "errors.hpp"

namespace kernelsmith::python {

/// Notices for Python's logging. They come with the engine's lock held, where nothing may wait for the GIL:
/// they are kept until a Python thread takes them.
class Notices final : public Observer {
 public:
  void on_event(const Event&) override {}
  void on_notice(const Notice& notice) override;

  /// Hands what has come to the logger "kernelsmith". Needs the GIL.
  void deliver();

 private:
  std::mutex mutex_;
  std::vector<Notice> waiting_;
};

/// How often a waiting thread looks for signals; what ends the wait wakes it at once.
inline constexpr std::chrono::milliseconds kSignalInterval{50};

/// Runs `work` on a thread of its own and waits for it with the GIL let go. The first KeyboardInterrupt (or
/// any other exception of a signal handler) asks it to stop, and is swallowed where `work` then ends by
/// itself in order; a second one is raised at once, and the thread is left behind. Whatever `work` uses must
/// be shared with it.
template <class T>
Result<T> wait_for(std::function<Result<T>(std::stop_token)> work, Notices* notices = nullptr) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<T>> result;
    std::exception_ptr thrown;
    bool finished = false;
  };
  const auto shared = std::make_shared<Shared>();
  std::stop_source stop;
  std::thread thread([shared, work = std::move(work), token = stop.get_token()] {
    try {
      auto result = work(token);
      const std::lock_guard lock(shared->mutex);
      shared->result.emplace(std::move(result));
    } catch (...) {
      const std::lock_guard lock(shared->mutex);
      shared->thrown = std::current_exception();
    }
    const std::lock_guard lock(shared->mutex);
    shared->finished = true;
    shared->changed.notify_all();
  });
  for (bool finished = false, interrupted = false; !finished;) {
    {
      const py::gil_scoped_release release;
      std::unique_lock lock(shared->mutex);
      finished = shared->changed.wait_for(lock, kSignalInterval, [&] { return shared->finished; });
    }
    if (notices) notices->deliver();
    if (finished || PyErr_CheckSignals() == 0) continue;
    if (interrupted) {
      thread.detach();
      throw py::error_already_set();
    }
    PyErr_Clear();
    interrupted = true;
    stop.request_stop();
  }
  {
    const py::gil_scoped_release release;
    thread.join();
  }
  if (shared->thrown) std::rethrow_exception(shared->thrown);
  return std::move(*shared->result);
}

}  // namespace kernelsmith::python
