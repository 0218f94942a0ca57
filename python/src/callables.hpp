// Evaluators and proposers that are Python objects: functions, coroutine functions, and objects with a method
// `evaluate` or `propose`.
#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith::python {

namespace py = pybind11;

/// Calls `object` with a Source, or its method `evaluate` with a Job; on `workers` threads, or, if that is a
/// coroutine function, on the module's event loop. An exception is a rejection (`raised`) with the traceback,
/// except kernelsmith.Error, which is an Error; an invalid score is a rejection (`bad_metrics`). Throws
/// py::type_error if it cannot be called.
std::shared_ptr<Evaluator> evaluator_from(const py::object& object, unsigned workers);

/// The same for a proposer, which is called with a Request; an exception is an Error (`tool_failed`).
std::shared_ptr<Proposer> proposer_from(const py::object& object, unsigned workers);

/// Whether this thread is inside a call of a Python evaluator or proposer: then it must not wait for threads
/// that make such calls.
bool is_calling();

}  // namespace kernelsmith::python
