// Archives for Python: a copy with plain numbers and programs.
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace kernelsmith::python {

ArchiveView archive_of(const SearchState& state) {
  const Archipelago& archipelago = state.archipelago();
  const Grid& grid = archipelago.grid();
  ArchiveView view{grid.axes(), {}, archipelago.statistics()};
  for (const auto& [cell, elite] : archipelago.elites())
    view.members.push_back({grid.coordinates(cell), elite});
  return view;
}

namespace {

Rows axes_of(const ArchiveView& view) {
  Rows axes;
  for (const Axis& axis : view.axes) {
    py::list labels;
    for (std::size_t bin = 0; bin < axis.bins(); ++bin) labels.append(axis.label(bin));
    Row one;
    one["feature"] = axis.feature();
    one["labels"] = labels;
    axes.append(one);
  }
  return axes;
}

Row statistics_of(const ArchiveView& view) {
  Row dict;
  dict["cells"] = view.statistics.cells;
  dict["filled"] = view.statistics.filled;
  dict["coverage"] = view.statistics.coverage;
  dict["qd_score"] = view.statistics.qd_score;
  dict["best"] = view.statistics.best;
  dict["mean"] = view.statistics.mean;
  return dict;
}

}  // namespace

void bind_archive(py::module_& module) {
  py::class_<ArchiveView>(module, "ArchiveView", "The data of a kernelsmith.Archive.")
      .def_property_readonly("axes", axes_of)
      .def_property_readonly("statistics", statistics_of)
      .def_property_readonly("programs",
                             [](const ArchiveView& view) {
                               py::typing::List<ProgramView> programs;
                               for (const auto& member : view.members)
                                 programs.append(ProgramView{member.elite.individual});
                               return programs;
                             })
      .def_property_readonly("cells", [](const ArchiveView& view) {
        std::vector<std::vector<std::size_t>> cells;
        for (const auto& member : view.members) cells.push_back(member.at);
        return cells;
      });
}

}  // namespace kernelsmith::python
