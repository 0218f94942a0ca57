// Converts errors between C++ and Python.
#pragma once

#include <pybind11/pybind11.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::python {

namespace py = pybind11;

/// Returns the value or throws the exception kernelsmith.Error. The GIL may be held or not.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw ErrorException(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The Error of a raised kernelsmith.Error, or empty for another exception. Needs the GIL.
std::optional<Error> error_in(const py::error_already_set& raised);

/// The exception with its traceback, as Python prints it, without the last line's end. Needs the GIL.
std::string traceback_of(const py::error_already_set& raised);

void bind_errors(py::module_& module);

}  // namespace kernelsmith::python
