// Builds a search from keyword arguments: the keys of run.yaml, and Python objects instead of an evaluator or
// a proposer.
#pragma once

#include <memory>
#include <string>

#include <pybind11/pybind11.h>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_config.hpp>

#include "callables.hpp"

namespace kernelsmith::python {

/// The default registry, with the kind `python` for evaluators and proposers, which gives these objects; each
/// may be None.
Registry registry_with(const py::object& evaluator, const py::object& proposer, unsigned workers);

/// The same for a task in a folder, whose backend brings the evaluator.
Registry registry_for_tasks(const py::object& proposer, unsigned workers);

/// A task for searches whose evaluator is a Python object. It has no files except the seed.
Task task_of(const Source& seed);

/// Overrides `config` with `settings`, a JSON object with the keys of run.yaml. Errors: read_config's, with
/// keyword arguments instead of lines.
Status lay_settings(const std::string& settings, const Registry& registry, RunConfig& config);

/// The configuration of a search over task_of(): the kind `python` if the settings name no other. Throws
/// ErrorException.
RunConfig config_for(const Task& task, const Registry& registry, const std::string& settings);

}  // namespace kernelsmith::python
