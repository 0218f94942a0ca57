#include "waiting.hpp"

#include <exception>
#include <thread>

#include "gil.hpp"
#include "values.hpp"

namespace kernelsmith::python {
namespace {

/// State shared by a thread and the one that waits for it.
struct Finish {
  Mutex mutex;
  Condition changed;
  std::exception_ptr thrown KERNELSMITH_GUARDED_BY(mutex);
  bool finished KERNELSMITH_GUARDED_BY(mutex) = false;

  void set(std::exception_ptr exception) {
    const MutexLock lock(mutex);
    thrown = std::move(exception);
    finished = true;
    changed.notify_all();
  }
  std::exception_ptr exception() {
    const MutexLock lock(mutex);
    return thrown;
  }
  bool wait() {
    MutexLock lock(mutex);
    return changed.wait_for(lock, kSignalInterval, [&]() KERNELSMITH_REQUIRES(mutex) { return finished; });
  }
};

/// The exception that a signal handler raised since the last check, here or in Python's logging. Once the
/// work has ended, signals are left to the interpreter.
std::optional<py::error_already_set> raised_by_signal(Notices* notices, bool finished) {
  try {
    if (notices) notices->deliver();
  } catch (py::error_already_set& raised) {
    return raised;
  }
  if (finished || PyErr_CheckSignals() == 0) return std::nullopt;
  return py::error_already_set();
}

}  // namespace

void Notices::on_notice(const Notice& notice) {
  const MutexLock lock(mutex_);
  waiting_.push_back(notice);
}

void Notices::deliver() {
  std::vector<Notice> notices;
  {
    const Released released;
    const MutexLock lock(mutex_);
    notices.swap(waiting_);
  }
  if (notices.empty()) return;
  try {
    const py::object logger = py::module_::import("logging").attr("getLogger")("kernelsmith");
    for (const Notice& notice : notices)
      logger.attr(notice.level == Notice::Level::warning ? "warning" : "info")("%s", text_of(notice.message));
  } catch (py::error_already_set& raised) {
    if (raised.matches(PyExc_KeyboardInterrupt)) throw;
    raised.discard_as_unraisable("kernelsmith's notices");  // a handler's exception does not end a search
  }
}

std::optional<py::error_already_set> wait_for_work(std::function<void(std::stop_token)> work,
                                                   Notices* notices) {
  const auto finish = std::make_shared<Finish>();
  std::stop_source stop;
  std::thread thread([finish, work = std::move(work), token = stop.get_token()]() mutable {
    std::exception_ptr thrown;
    try {
      work(std::move(token));
    } catch (...) {
      thrown = std::current_exception();
    }
    finish->set(std::move(thrown));
  });
  std::optional<py::error_already_set> first, late;
  for (bool finished = false; !finished;) {
    {
      const Released released;
      finished = finish->wait();
    }
    auto raised = raised_by_signal(notices, finished);
    if (!raised) continue;
    if (finished) {
      late = std::move(raised);
    } else if (first) {
      thread.detach();
      throw *raised;
    } else {
      first = std::move(raised);
      const Released released;  // stopping may need the GIL
      stop.request_stop();
    }
  }
  {
    const Released released;
    thread.join();
  }
  if (const std::exception_ptr thrown = finish->exception()) std::rethrow_exception(thrown);
  if (late) throw *late;
  return first;
}

}  // namespace kernelsmith::python
