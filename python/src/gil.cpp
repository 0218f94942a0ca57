#include "gil.hpp"

#include <chrono>
#include <thread>

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

py::object call_user(const py::object& function, const py::object& argument) {
  PyObject* returned = nullptr;
  try {
    returned = PyObject_CallOneArg(function.ptr(), argument.ptr());
  } catch (abi::__forced_unwind&) {
    park();
  }
  if (!returned) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(returned);
}

SharedObject share(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            if (is_finalizing()) return;  // it goes with the process
            with_gil([&] { delete held; });
          }};
}

}  // namespace kernelsmith::python
