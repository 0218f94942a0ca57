// The extension module kernelsmith._core. The package's Python files add public names, defaults and
// docstrings.
#include "bindings.hpp"
#include "errors.hpp"

namespace kernelsmith::python {

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = KERNELSMITH_VERSION;
  bind_errors(module);
  bind_values(module);
  bind_requests(module);
  bind_outcomes(module);
  bind_archive(module);
  bind_searches(module);
  bind_stored_runs(module);
  bind_models(module);
  bind_texts(module);
}

}  // namespace kernelsmith::python
