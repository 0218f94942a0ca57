#include "callables.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/core/mutex.hpp>

#include "errors.hpp"
#include "gil.hpp"
#include "values.hpp"

namespace kernelsmith::python {
namespace {

py::object helpers() { return py::module_::import("kernelsmith._coroutines"); }

/// Whether `object` is a class whose `method` is not static and so needs an instance.
bool wants_object(const py::object& object, const char* method) {
  if (PyType_Check(object.ptr()) == 0) return false;
  const py::object found = py::module_::import("inspect").attr("getattr_static")(object, method);
  return PyFunction_Check(found.ptr()) != 0;
}

/// `object` itself if it can be called, else its method of that name.
py::object callable_of(const py::object& object, const char* method) {
  if (py::hasattr(object, method)) {
    if (wants_object(object, method))
      throw py::type_error("this is a class, not an instance: " + py::cast<std::string>(py::repr(object)));
    return object.attr(method);
  }
  if (PyCallable_Check(object.ptr()) == 1) return object;
  throw py::type_error(std::string("this is neither a function nor an object with a method ") + method +
                       ": " + py::cast<std::string>(py::repr(object)));
}

bool is_coroutine_function(const py::object& function) {
  return py::cast<bool>(helpers().attr("is_coroutine_function")(function));
}

// `Evaluating` and `Proposing` hold what differs between the two seams.
struct Evaluating {
  using Request = EvaluationJob;
  using Answer = Evaluation;
  static constexpr const char* kMethod = "evaluate";

  static py::object argument(const EvaluationJob& job, bool whole) {
    return whole ? py::cast(job) : py::cast(job.source);
  }
  static Result<Evaluation> answer(const EvaluationJob&, const py::object& returned) {
    return evaluation_of(returned);
  }
  static Result<Evaluation> raised(const std::string& traceback) {
    return Evaluation(Rejection{Stage::run, RejectionCode::raised, traceback, {}});
  }
  static Result<Evaluation> wrong(const std::string& what) {
    return Evaluation(Rejection{Stage::run, RejectionCode::bad_metrics, what, {}});
  }
};

struct Proposing {
  using Request = ProposalRequest;
  using Answer = Proposal;
  static constexpr const char* kMethod = "propose";

  static py::object argument(const ProposalRequest& request, bool) { return py::cast(request); }
  static Result<Proposal> answer(const ProposalRequest& request, const py::object& returned) {
    return proposal_of(request, returned);
  }
  static Result<Proposal> raised(const std::string& traceback) {
    return fail(ErrorCode::tool_failed, "the proposer raised an exception: " + traceback);
  }
  static Result<Proposal> wrong(const std::string& what) {
    return fail(ErrorCode::tool_failed, "the proposer's answer: " + what);
  }
};

/// Converts a user's exception. Needs the GIL.
template <class Kind>
Result<typename Kind::Answer> answer_to(const py::error_already_set& raised) {
  try {
    if (const auto error = error_in(raised)) return *error;
    return Kind::raised(traceback_of(raised));
  } catch (const std::exception& worse) {  // an exception whose attributes or text raise
    return Kind::raised(worse.what());
  }
}

/// Converts the result of the user's object to an answer. Needs the GIL.
template <class Kind>
Result<typename Kind::Answer> answer_of(const typename Kind::Request& request, const py::object& returned) {
  try {
    return Kind::answer(request, returned);
  } catch (const py::error_already_set& raised) {
    return answer_to<Kind>(raised);
  } catch (const py::builtin_exception& wrong) {
    return Kind::wrong(wrong.what());
  } catch (const ErrorException& wrong) {
    return Kind::wrong(describe(wrong.error()));
  }
}

thread_local int calls_here = 0;

/// Counts a call of the user's object on this thread.
class Calling {
 public:
  Calling() { ++calls_here; }
  ~Calling() { --calls_here; }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
};

template <class Kind>
std::function<Result<typename Kind::Answer>(const typename Kind::Request&)> plain(SharedObject function,
                                                                                  bool whole) {
  return [function = std::move(function), whole](const typename Kind::Request& request) {
    const Calling calling;
    return with_gil([&] {
      py::object returned;
      try {
        returned = call_user(*function, Kind::argument(request, whole));
      } catch (const py::error_already_set& raised) {
        return answer_to<Kind>(raised);
      }
      return answer_of<Kind>(request, returned);
    });
  };
}

/// One call of a coroutine. Asking it to stop needs the GIL. Therefore a thread that holds the GIL never
/// waits for `mutex` or for the end of `stop`, and no thread holds `mutex` while it makes or destroys `stop`.
template <class Kind>
struct Flight {
  using Stop = std::stop_callback<std::function<void()>>;

  typename Kind::Request request;
  std::stop_token token;
  Sink<typename Kind::Answer> done;
  Mutex mutex = {};
  bool landed KERNELSMITH_GUARDED_BY(mutex) = false;
  std::unique_ptr<Stop> stop KERNELSMITH_GUARDED_BY(mutex) = nullptr;

  void cancel_with(std::function<void()> cancel) {
    auto made = std::make_unique<Stop>(token, std::move(cancel));
    const MutexLock lock(mutex);
    if (!landed) stop.swap(made);
  }
  void land(Result<typename Kind::Answer> answer) {
    std::unique_ptr<Stop> ended;
    {
      const MutexLock lock(mutex);
      landed = true;
      ended.swap(stop);
    }
    ended.reset();
    done(std::move(answer));
  }
};

/// A seam that calls a coroutine function on the module's event loop.
template <class Kind, class Seam>
class Coroutine final : public Seam {
 public:
  Coroutine(SharedObject function, bool whole) : function_(std::move(function)), whole_(whole) {}

  void start(typename Kind::Request request, std::stop_token stop,
             Sink<typename Kind::Answer> done) override {
    const auto flight =
        std::shared_ptr<Flight<Kind>>(new Flight<Kind>{std::move(request), std::move(stop), std::move(done)});
    SharedObject cancel;
    auto failed = with_gil([&]() -> std::optional<Result<typename Kind::Answer>> {
      try {
        cancel = share(helpers().attr("start")(
            *function_, Kind::argument(flight->request, whole_),
            py::cpp_function([flight](const py::object& task) { land(*flight, task); })));
        return std::nullopt;
      } catch (const py::error_already_set& raised) {
        return answer_to<Kind>(raised);
      }
    });
    if (failed) return flight->land(std::move(*failed));
    flight->cancel_with([cancel] { with_gil([&] { (*cancel)(); }); });
  }

 private:
  static void land(Flight<Kind>& flight, const py::object& task) {
    const Calling calling;
    auto answer = answer_in(flight, task);
    const Released released;
    flight.land(std::move(answer));
  }

  static Result<typename Kind::Answer> answer_in(const Flight<Kind>& flight, const py::object& task) {
    try {
      if (flight.token.stop_requested() && py::cast<bool>(task.attr("cancelled")()))
        return fail(ErrorCode::cancelled, "stopped on request");
      return answer_of<Kind>(flight.request, task.attr("result")());
    } catch (const py::error_already_set& raised) {
      return answer_to<Kind>(raised);
    }
  }

  SharedObject function_;
  bool whole_;
};

}  // namespace

bool is_calling() { return calls_here > 0; }

std::shared_ptr<Evaluator> evaluator_from(const py::object& object, unsigned workers) {
  const bool whole = py::hasattr(object, Evaluating::kMethod);
  py::object function = callable_of(object, Evaluating::kMethod);
  if (is_coroutine_function(function))
    return std::make_shared<Coroutine<Evaluating, Evaluator>>(share(std::move(function)), whole);
  return blocking_evaluator(plain<Evaluating>(share(std::move(function)), whole), workers);
}

std::shared_ptr<Proposer> proposer_from(const py::object& object, unsigned workers) {
  py::object function = callable_of(object, Proposing::kMethod);
  if (is_coroutine_function(function))
    return std::make_shared<Coroutine<Proposing, Proposer>>(share(std::move(function)), true);
  return blocking_proposer(plain<Proposing>(share(std::move(function)), true), workers);
}

}  // namespace kernelsmith::python
