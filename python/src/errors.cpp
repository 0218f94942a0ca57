#include "errors.hpp"

#include <optional>
#include <string>
#include <utility>

#include "values.hpp"

namespace kernelsmith::python {
namespace {

/// kernelsmith.Error, which the package's Python files define.
py::object error_class() { return py::module_::import("kernelsmith._errors").attr("Error"); }

void raise(const Error& error) {
  const py::object type = error_class();
  const py::object value =
      type(text_of(error.message), py::arg("code") = std::string(name_of(error.code)),
           py::arg("where") = text_of(error.where), py::arg("hint") = text_of(error.hint));
  PyErr_SetObject(type.ptr(), value.ptr());
}

std::string attribute_of(const py::handle& object, const char* attribute) {
  return utf8_of(py::str(object.attr(attribute)));
}

}  // namespace

std::optional<Error> error_in(const py::error_already_set& raised) {
  if (!raised.matches(error_class())) return std::nullopt;
  const py::object& value = raised.value();
  const auto code = error_code_from(attribute_of(value, "code"));
  return Error{code.value_or(ErrorCode::internal), attribute_of(value, "message"),
               attribute_of(value, "where"), attribute_of(value, "hint")};
}

std::string traceback_of(const py::error_already_set& raised) {
  // If a call failed to start, its exception has no traceback.
  const py::object trace = raised.trace() ? raised.trace() : py::object(py::none());
  const py::object lines =
      py::module_::import("traceback").attr("format_exception")(raised.type(), raised.value(), trace);
  return utf8_of(py::str("").attr("join")(lines).attr("rstrip")());
}

void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const ErrorException& error) {
      raise(error.error());
    }
  });
}

}  // namespace kernelsmith::python
