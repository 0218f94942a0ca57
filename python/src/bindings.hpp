// The parts of the module kernelsmith._core, and what several of them show.
#pragma once

#include <pybind11/pybind11.h>

#include <kernelsmith/engine/search_state.hpp>

#include "values.hpp"

namespace kernelsmith::python {

/// A copy of what the archives of all islands hold: each filled cell with the best elite of all islands.
struct ArchiveView {
  struct Member {
    std::vector<std::size_t> at;  ///< the bin on each axis
    Elite elite;
  };
  std::vector<Axis> axes;
  std::vector<Member> members;
  ArchiveStatistics statistics;
};

/// Needs no GIL.
ArchiveView archive_of(const SearchState& state);

/// With the names of the members.
py::dict dict_of(const Counts& counts);

void bind_archive(py::module_& module);
void bind_searches(py::module_& module);
void bind_stored_runs(py::module_& module);
void bind_texts(py::module_& module);

}  // namespace kernelsmith::python
