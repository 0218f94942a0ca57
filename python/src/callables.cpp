#include "callables.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <kernelsmith/core/blocking.hpp>

#include "errors.hpp"
#include "values.hpp"

namespace kernelsmith::python {
namespace {

py::object helpers() { return py::module_::import("kernelsmith._coroutines"); }

/// `object` itself where it can be called, else its method of that name.
py::object callable_of(const py::object& object, const char* method) {
  if (py::hasattr(object, method)) return object.attr(method);
  if (PyCallable_Check(object.ptr()) == 1) return object;
  throw py::type_error(std::string("this is neither a function nor an object with a method ") + method +
                       ": " + py::cast<std::string>(py::repr(object)));
}

bool is_coroutine_function(const py::object& function) {
  return py::cast<bool>(helpers().attr("is_coroutine_function")(function));
}

/// What the two seams differ in.
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
};

/// What becomes of an exception of the user's. Needs the GIL.
template <class Kind>
Result<typename Kind::Answer> answer_to(const py::error_already_set& raised) {
  if (const auto error = error_in(raised)) return *error;
  return Kind::raised(traceback_of(raised));
}

/// What the user's object returned, as an answer. Needs the GIL; throws nothing.
template <class Kind>
Result<typename Kind::Answer> converted(const typename Kind::Request& request,
                                        const std::function<py::object()>& get) {
  try {
    try {
      return Kind::answer(request, get());
    } catch (const py::builtin_exception& wrong) {
      return Kind::raised(wrong.what());
    }
  } catch (const py::error_already_set& raised) {
    return answer_to<Kind>(raised);
  } catch (const ErrorException& wrong) {
    return Kind::raised(describe(wrong.error()));
  }
}

template <class Kind>
std::function<Result<typename Kind::Answer>(const typename Kind::Request&)> plain(SharedObject function,
                                                                                  bool whole) {
  return [function = std::move(function), whole](const typename Kind::Request& request) {
    const py::gil_scoped_acquire gil;
    return converted<Kind>(request, [&] { return (*function)(Kind::argument(request, whole)); });
  };
}

/// One call of a coroutine. `mutex` guards what follows it and is never waited for with the GIL held: what
/// asks the coroutine to stop needs the GIL.
template <class Kind>
struct Flight {
  using Stop = std::stop_callback<std::function<void()>>;

  typename Kind::Request request;
  Sink<typename Kind::Answer> done;
  std::mutex mutex = {};
  bool landed = false;
  std::optional<Stop> stop = std::nullopt;

  void cancel_with(std::stop_token token, std::function<void()> cancel) {
    const std::lock_guard lock(mutex);
    if (!landed) stop.emplace(std::move(token), std::move(cancel));
  }
  void land(Result<typename Kind::Answer> answer) {
    {
      const std::lock_guard lock(mutex);
      landed = true;
      stop.reset();
    }
    done(std::move(answer));
  }
};

/// Answers on the module's event loop.
template <class Kind, class Seam>
class Coroutine final : public Seam {
 public:
  Coroutine(SharedObject function, bool whole) : function_(std::move(function)), whole_(whole) {}

  void start(typename Kind::Request request, std::stop_token stop,
             Sink<typename Kind::Answer> done) override {
    const py::gil_scoped_acquire gil;
    const auto flight = std::shared_ptr<Flight<Kind>>(new Flight<Kind>{std::move(request), std::move(done)});
    try {
      const py::object future = helpers().attr("start")(*function_, Kind::argument(flight->request, whole_));
      future.attr("add_done_callback")(py::cpp_function([flight](const py::object& finished) {
        auto answer =
            py::cast<bool>(finished.attr("cancelled")())
                ? Result<typename Kind::Answer>(fail(ErrorCode::cancelled, "stopped on request"))
                : converted<Kind>(flight->request, [&] { return py::object(finished.attr("result")()); });
        const py::gil_scoped_release release;
        flight->land(std::move(answer));
      }));
      const SharedObject shared = share(future);
      const py::gil_scoped_release release;
      flight->cancel_with(std::move(stop), [shared] {
        const py::gil_scoped_acquire again;
        helpers().attr("cancel")(*shared);
      });
    } catch (const py::error_already_set& raised) {
      auto answer = answer_to<Kind>(raised);
      const py::gil_scoped_release release;
      flight->land(std::move(answer));
    }
  }

 private:
  SharedObject function_;
  bool whole_;
};

}  // namespace

SharedObject share(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

std::shared_ptr<Evaluator> evaluator_from(py::object object, unsigned workers) {
  const bool whole = py::hasattr(object, Evaluating::kMethod);
  py::object function = callable_of(object, Evaluating::kMethod);
  if (is_coroutine_function(function))
    return std::make_shared<Coroutine<Evaluating, Evaluator>>(share(std::move(function)), whole);
  return blocking_evaluator(plain<Evaluating>(share(std::move(function)), whole), workers);
}

std::shared_ptr<Proposer> proposer_from(py::object object, unsigned workers) {
  py::object function = callable_of(object, Proposing::kMethod);
  if (is_coroutine_function(function))
    return std::make_shared<Coroutine<Proposing, Proposer>>(share(std::move(function)), true);
  return blocking_proposer(plain<Proposing>(share(std::move(function)), true), workers);
}

}  // namespace kernelsmith::python
