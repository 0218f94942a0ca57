// Evaluators and proposers that are Python objects: functions, coroutine functions, and objects with a method
// `evaluate` or `propose`.
#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith::python {

namespace py = pybind11;

/// Calls `object` with a Source, or its method `evaluate` with a Job. A coroutine function runs on the
/// module's event loop, any other on `workers` threads. An exception rejects the candidate (`raised`) with
/// the traceback, but a kernelsmith.Error becomes an Error. An invalid score rejects it (`bad_metrics`).
/// Throws py::type_error if `object` cannot be called.
std::shared_ptr<Evaluator> evaluator_from(const py::object& object, unsigned workers);

/// The same for a proposer, which is called with a Request; an exception is an Error (`tool_failed`).
std::shared_ptr<Proposer> proposer_from(const py::object& object, unsigned workers);

/// Whether this thread is inside a call of a Python evaluator or proposer. If so, it must not wait for
/// threads that make such calls.
bool is_calling();

}  // namespace kernelsmith::python
