// The results of a search: tickets, commits and outcomes. Data; the engine may no longer exist.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "values.hpp"

namespace kernelsmith::python {
namespace {

void bind_commit(py::module_& module) {
  py::class_<CommitView>(module, "Commit", "A ticket that took effect. Immutable.")
      .def_property_readonly(
          "ticket", [](const CommitView& view) { return view.commit.ticket.value; }, "Its number.")
      .def_property_readonly(
          "island", [](const CommitView& view) { return view.commit.island.value; },
          "The island's number, from 0.")
      .def_property_readonly(
          "kind", [](const CommitView& view) { return std::string(name_of(view.commit.kind)); },
          "The kind of the ticket's result; docs/errors.md explains refusals and errors.")
      .def_property_readonly(
          "program", [](const CommitView& view) { return view_of(view.commit.individual); },
          "The program that was evaluated for the ticket; None if there is none.")
      .def_property_readonly(
          "new_best", [](const CommitView& view) { return view.commit.new_best; },
          "Whether the program is the run's best from now on.")
      .def_property_readonly(
          "demoted", [](const CommitView& view) { return view.commit.demoted; },
          "Whether the program was accepted before and was rejected when it was measured again.")
      .def_property_readonly(
          "refusal", [](const CommitView& view) { return view.commit.refusal; }, "Why there is no child.")
      .def_property_readonly(
          "error", [](const CommitView& view) { return words_of(view.commit.error); },
          "Why the ticket was given back.")
      .def("__repr__", [](const CommitView& view) {
        return "<Commit of ticket " + std::to_string(view.commit.ticket.value) + ", " +
               std::string(name_of(view.commit.kind)) + (view.commit.new_best ? ", the new best>" : ">");
      });
}

void bind_outcome(py::module_& module) {
  py::class_<Outcome>(module, "Outcome", "The result of a search. Immutable.")
      .def_property_readonly(
          "reason", [](const Outcome& outcome) { return std::string(name_of(outcome.reason)); },
          "Why the search ended: \"budget\", \"flat\", \"exhausted\", \"finished\", \"refused\", \"errors\", "
          "\"stopped\"; \"unfinished\" while there is more to do.")
      .def_property_readonly(
          "budget",
          [](const Outcome& outcome) {
            return outcome.budget ? std::optional(std::string(name_of(*outcome.budget))) : std::nullopt;
          },
          "Which budget was used up; None unless reason is \"budget\".")
      .def_property_readonly(
          "error", [](const Outcome& outcome) { return words_of(outcome.error); },
          "The reason in words, if reason is \"errors\" or \"refused\".")
      .def_property_readonly(
          "best", [](const Outcome& outcome) { return view_of(outcome.best); },
          "The best program; None if none was accepted.")
      .def_readonly("confirmation", &Outcome::confirmation,
                    "The best's evaluation from measuring it again at the end.")
      .def_property_readonly(
          "counts", [](const Outcome& outcome) { return dict_of(outcome.counts); },
          "iterations, evaluations, accepted, rejected, repeated, same_binary (of the repeated), refused, "
          "repairs, remeasured, given_back, demoted.")
      .def_property_readonly(
          "usd", [](const Outcome& outcome) { return outcome.spending.usd(); },
          "The cost of calls to models, in US dollars.")
      .def_readonly("elapsed_s", &Outcome::elapsed_s, "Wall time of all sessions.")
      .def("_repr_html_", [](const py::object& self) { return html_of("outcome", self); })
      .def("__repr__", [](const Outcome& outcome) {
        const std::string best = outcome.best
                                     ? "best is program " + std::to_string(outcome.best->program->id.value)
                                     : std::string("nothing was accepted");
        return "<Outcome " + std::string(name_of(outcome.reason)) + ", " +
               std::to_string(outcome.counts.iterations) + " iterations, " + best + ">";
      });
}

void bind_ticket(py::module_& module) {
  py::class_<TicketView>(
      module, "Ticket",
      "A request of the engine, which tell() or give_back() answers. Immutable; outlives its engine.")
      .def_property_readonly(
          "id", [](const TicketView& view) { return view.ticket.id.value; }, "The ticket's number, from 0.")
      .def_property_readonly(
          "island", [](const TicketView& view) { return view.ticket.island.value; },
          "The number of the child's island, from 0.")
      .def_property_readonly("kind", &TicketView::kind,
                             "\"propose\" (tell a child and its score), \"evaluate\" or \"remeasure\" (tell "
                             "the score of `source`).")
      .def_property_readonly("request", &TicketView::request,
                             "The request for a child; None unless kind is \"propose\".")
      .def_property_readonly("source", &TicketView::source,
                             "The program to score; None if kind is \"propose\".")
      .def("__repr__", [](const TicketView& view) {
        return "<Ticket " + std::to_string(view.ticket.id.value) + ", " + view.kind() + ">";
      });
}

}  // namespace

py::typing::Dict<py::str, py::int_> dict_of(const Counts& counts) {
  py::typing::Dict<py::str, py::int_> dict;
  dict["iterations"] = counts.iterations;
  dict["evaluations"] = counts.evaluations;
  dict["accepted"] = counts.accepted;
  dict["rejected"] = counts.rejected;
  dict["repeated"] = counts.repeated;
  dict["same_binary"] = counts.same_binary;
  dict["refused"] = counts.refused;
  dict["repairs"] = counts.repairs;
  dict["tunings"] = counts.tunings;
  dict["remeasured"] = counts.remeasured;
  dict["given_back"] = counts.given_back;
  dict["demoted"] = counts.demoted;
  return dict;
}

void bind_outcomes(py::module_& module) {
  bind_commit(module);
  bind_outcome(module);
  bind_ticket(module);
}

}  // namespace kernelsmith::python
