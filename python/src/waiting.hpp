// Waiting for C++ work from a Python thread, in a way that lets signals through.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <pybind11/pybind11.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/observer.hpp>

#include "errors.hpp"

namespace kernelsmith::python {

/// Notices for Python's logging. They arrive with the engine's lock held, when nothing may wait for the GIL,
/// so they are kept until a Python thread takes them.
class Notices final : public Observer {
 public:
  void on_event(const Event&) override {}
  void on_notice(const Notice& notice) override;

  /// Passes received notices to the logger "kernelsmith". Needs the GIL. Throws only KeyboardInterrupt.
  void deliver();

 private:
  Mutex mutex_;
  std::vector<Notice> waiting_ KERNELSMITH_GUARDED_BY(mutex_);
};

/// How often a waiting thread checks for signals; the end of the wait wakes it at once.
inline constexpr std::chrono::milliseconds kSignalInterval{50};

/// Runs `work` on a new thread and waits for it without the GIL. Throws what `work` throws. The first
/// exception of a signal handler requests a stop and is returned after the end. A second one is raised at
/// once, and the thread is abandoned; therefore `work` must share ownership of the objects that it uses.
std::optional<py::error_already_set> wait_for_work(std::function<void(std::stop_token)> work,
                                                   Notices* notices);

/// The same for work with a result. A KeyboardInterrupt is dropped if `work` then ends in order.
template <class T>
Result<T> wait_for(std::function<Result<T>(std::stop_token)> work, Notices* notices = nullptr) {
  const auto result = std::make_shared<std::optional<Result<T>>>();
  auto signal = wait_for_work(
      [result, work = std::move(work)](std::stop_token stop) { result->emplace(work(std::move(stop))); },
      notices);
  const bool cancelled = !**result && (*result)->error().code == ErrorCode::cancelled;
  if (signal && (cancelled || !signal->matches(PyExc_KeyboardInterrupt))) throw *signal;
  return std::move(**result);
}

}  // namespace kernelsmith::python
