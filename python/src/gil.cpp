#include "gil.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include <unistd.h>

namespace kernelsmith::python {

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

void park() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

namespace {

/// A forked child that returns from a callback would continue as a second engine, without threads.
[[noreturn]] void end_fork() {
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_SystemExit) == 0) PyErr_Print();
  std::fputs(
      "kernelsmith: a forked child ends here: it came back from a callback of the search (os._exit ends "
      "it)\n",
      stderr);
  ::_exit(1);
}

}  // namespace

py::object call_user(const py::object& function, const py::object& argument) {
  const pid_t caller = ::getpid();
  PyObject* returned = nullptr;
  try {
    returned = PyObject_CallOneArg(function.ptr(), argument.ptr());
  } catch (abi::__forced_unwind&) {
    park();
  }
  if (::getpid() != caller) end_fork();
  if (!returned) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(returned);
}

SharedObject share(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            if (is_finalizing()) return;  // freed with the process
            with_gil([&] { delete held; });
          }};
}

}  // namespace kernelsmith::python
