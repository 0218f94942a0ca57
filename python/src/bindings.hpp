// The parts of the module kernelsmith._core, and their common types.
#pragma once

#include <pybind11/pybind11.h>

#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/engine/search_state.hpp>

#include "values.hpp"

namespace kernelsmith::python {

/// A copy of the archives of all islands: each filled cell with the best elite of all islands.
struct ArchiveView {
  struct Member {
    std::vector<std::size_t> at;  ///< the bin on each axis
    Elite elite;
  };
  std::vector<Axis> axes;
  std::vector<Member> members;
  ArchiveStatistics statistics;
};

struct CommitView {
  Commit commit;
};

/// A ticket's request. It holds copies of the data, because the engine may no longer exist.
struct TicketView {
  Ticket ticket;
  std::uint64_t seed = 0;

  std::string kind() const {
    if (std::holds_alternative<Propose>(ticket.work)) return "propose";
    return std::holds_alternative<Evaluate>(ticket.work) ? "evaluate" : "remeasure";
  }
  std::optional<ProposalRequest> request() const {
    const auto* propose = std::get_if<Propose>(&ticket.work);
    if (!propose) return std::nullopt;
    return ProposalRequest{seed, ticket.id, propose->op, propose->model, propose->selection};
  }
  std::optional<Source> source() const {
    if (const auto* evaluate = std::get_if<Evaluate>(&ticket.work)) return evaluate->child.source;
    if (const auto* remeasure = std::get_if<Remeasure>(&ticket.work))
      return remeasure->challenger->program->source;
    return std::nullopt;
  }
};

/// Needs no GIL.
ArchiveView archive_of(const SearchState& state);

/// The counts by their members' names.
py::typing::Dict<py::str, py::int_> dict_of(const Counts& counts);

void bind_archive(py::module_& module);
void bind_models(py::module_& module);
void bind_outcomes(py::module_& module);
void bind_requests(py::module_& module);
void bind_searches(py::module_& module);
void bind_stored_runs(py::module_& module);
void bind_texts(py::module_& module);

}  // namespace kernelsmith::python
