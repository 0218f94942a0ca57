// Acquires and releases the GIL on threads that may outlive the interpreter.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <cxxabi.h>
#include <pybind11/pybind11.h>

namespace kernelsmith::python {

namespace py = pybind11;

/// Whether the interpreter is ending: no other thread gets the GIL any more.
bool is_finalizing();

/// Blocks this thread forever. Python ends a thread that requests the GIL too late by unwinding its stack,
/// which would destroy Python objects without the GIL and terminate at a noexcept function.
[[noreturn]] void park();

/// Releases the GIL for its lifetime.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      park();
    }
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls `call` without the GIL, on a thread that holds it.
template <class F>
auto without_gil(F call) {
  const Released released;
  return call();
}

/// Calls `call` with the GIL, on any thread.
template <class F>
auto with_gil(F call) {
  if (is_finalizing()) park();
  try {
    const py::gil_scoped_acquire gil;
    return call();
  } catch (abi::__forced_unwind&) {
    park();
  }
}

/// Calls the user's object, on a thread that may be abandoned. Throws its exceptions.
py::object call_user(const py::object& function, const py::object& argument);

/// A Python object that may be released on any thread, with or without the GIL.
using SharedObject = std::shared_ptr<const py::object>;
SharedObject share(py::object object);

}  // namespace kernelsmith::python
