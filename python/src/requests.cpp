// The engine's requests to evaluators and proposers, and a proposer's refusal.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/core/rng.hpp>

#include "bindings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "values.hpp"

namespace kernelsmith::python {
namespace {

void bind_rng(py::module_& module) {
  py::class_<Rng>(module, "Rng",
                  "A stream of random numbers that is fixed by a seed and a ticket. One thread at a time may "
                  "draw from it.")
      .def(py::init(
               [](std::uint64_t seed, std::uint64_t ticket) { return Rng(seed, ticket, Purpose::proposal); }),
           py::arg("seed"), py::arg("ticket") = 0,
           "Gives the numbers of Request.rng for this ticket in a run with this random_seed.")
      .def("random", &Rng::uniform, "Uniform in [0, 1).")
      .def(
          "uniform", [](Rng& rng, double low, double high) { return low + (high - low) * rng.uniform(); },
          py::arg("low") = 0.0, py::arg("high") = 1.0, "Uniform between the two.")
      .def(
          "normal", [](Rng& rng, double mean, double deviation) { return mean + deviation * rng.normal(); },
          py::arg("mean") = 0.0, py::arg("deviation") = 1.0, "Gaussian.")
      .def(
          "below",
          [](Rng& rng, std::uint64_t n) {
            if (n == 0) throw py::value_error("there is no number below 0");
            return rng.below(n);
          },
          py::arg("n"), "Uniform in 0 .. n-1. Raises ValueError for 0.")
      .def(
          "choice",
          [](Rng& rng, const py::sequence& items) -> py::object {
            if (items.empty()) throw py::value_error("there is nothing to choose from");
            return items[rng.below(items.size())];
          },
          py::arg("items"), "One of the items, all equally likely. Raises ValueError if there is none.");
}

/// Requests a trial and waits for its result. Needs the GIL and releases it meanwhile.
Tried attempt(const ProposalRequest& request, Trial trial) {
  if (!request.attempt)
    throw ErrorException(
        fail(ErrorCode::unsupported, "this request takes no trials", "",
             "only requests from run() take trials, and only if the search is not deterministic"));
  auto tried = without_gil([&] {
    return kernelsmith::answer_of<Tried>(
               [&](auto done) { request.attempt(std::move(trial), std::move(done)); })
        .get();
  });
  return unwrap(std::move(tried));
}

py::typing::Tuple<ProgramView, py::bool_> try_child(
    const ProposalRequest& request, const SourceLike& child,
    const std::optional<std::vector<std::uint64_t>>& parents) {
  const Program* parent = request.selection.parent ? request.selection.parent->program.get() : nullptr;
  Child tries{source_of(child, parent ? &parent->source : nullptr), Origin::user, {}};
  if (parents)
    tries.parents = programs_of(*parents);
  else if (parent)
    tries.parents = {parent->id};
  Tried tried = attempt(request, std::move(tries));
  const auto individual =
      std::make_shared<Individual>(Individual{tried.program, std::move(tried.evaluation)});
  return py::make_tuple(view_of(individual), tried.repeated);
}

void bind_child(py::module_& module) {
  py::class_<Child>(module, "Child",
                    "A proposer's answer that names the programs from which it was made. Immutable.")
      .def(py::init([](const SourceLike& source, const std::vector<std::uint64_t>& parents) {
             return Child{source_of(source), Origin::user, programs_of(parents)};
           }),
           py::arg("source"), py::arg("parents"),
           "A text, a dict of texts by path, or a Source; the numbers of programs of the run.")
      .def_property_readonly(
          "source", [](const Child& child) { return child.source; }, "Its files.")
      .def_property_readonly(
          "parents", [](const Child& child) { return numbers_of(child.parents); },
          "Numbers of the programs from which it was made.");
}

void bind_request(py::module_& module) {
  py::class_<Refusal>(module, "Refusal", "A proposer's answer if it has no child. Immutable.")
      .def(py::init([](const py::str& detail, const std::string& code) {
             return Refusal{named(code, refusal_code_from, "code"), utf8_of(detail)};
           }),
           py::arg("detail") = "", py::arg("code") = "no_code",
           "`code` is a refusal's code of docs/errors.md. Raises Error for any other.")
      .def_property_readonly(
          "code", [](const Refusal& refusal) { return std::string(name_of(refusal.code)); },
          "Such as \"no_code\" or \"exhausted\".")
      .def_property_readonly(
          "detail", [](const Refusal& refusal) { return text_of(refusal.detail); }, "In words.")
      .def("__repr__", [](const Refusal& refusal) {
        return "<Refusal " + std::string(name_of(refusal.code)) + (refusal.detail.empty() ? "" : ": ") +
               refusal.detail + ">";
      });
  py::class_<ProposalRequest>(
      module, "Request",
      "The engine's request to a proposer for a child of `parent`. Immutable except `rng`.",
      py::dynamic_attr())
      .def_property_readonly(
          "ticket", [](const ProposalRequest& request) { return request.ticket.value; },
          "The number that the child will have.")
      .def_property_readonly(
          "operator", [](const ProposalRequest& request) { return std::string(name_of(request.op)); },
          "How the child is to be made: translate, edit, rewrite, crossover, repair or tune.")
      .def_property_readonly(
          "model", [](const ProposalRequest& request) { return request.model; },
          "The model that the operator policy chose; empty if none is configured.")
      .def_property_readonly(
          "parent", [](const ProposalRequest& request) { return view_of(request.selection.parent); },
          "The program to start from; None while the run has no program.")
      .def_property_readonly(
          "top", [](const ProposalRequest& request) { return list_of(request.selection.top); },
          "Some of the island's best programs.")
      .def_property_readonly(
          "inspirations",
          [](const ProposalRequest& request) { return list_of(request.selection.inspirations); },
          "Programs from other cells of the archive.")
      .def_property_readonly(
          "failures", [](const ProposalRequest& request) { return list_of(request.selection.failures); },
          "Recently rejected programs, whose diagnostics show what to avoid.")
      .def_property_readonly(
          "tried", [](const ProposalRequest& request) { return list_of(request.tried); },
          "The programs that attempt() made for this request in an earlier session, which ended before the "
          "answer.")
      .def("attempt", &try_child, py::arg("child"), py::arg("parents") = py::none(),
           "Evaluates a child before the request is answered, and waits for the result. The child becomes a "
           "program of the run, made from `parents` (numbers; default: the request's parent), and uses up an "
           "evaluation. Returns the program, and whether the run had it already, which costs nothing. Any "
           "thread may call this while the request is open. Raises Error `over_budget`, `already_told`, "
           "`cancelled`, and `unsupported` in a deterministic search.")
      .def(
          "confirm",
          [](const ProposalRequest& request, std::uint64_t program) {
            return attempt(request, ProgramId{program}).evaluation;
          },
          py::arg("program"),
          "Measures an accepted program of the run again, with care and on fresh inputs, and waits for the "
          "result. A program that is now rejected leaves the archive. Raises the errors of attempt(), and "
          "`not_found` and `busy`.")
      .def(
          "charge",
          [](const ProposalRequest& request, const std::string& model, std::optional<double> usd,
             std::uint64_t input_tokens, std::uint64_t output_tokens) {
            if (!request.lost)
              throw ErrorException(
                  fail(ErrorCode::unsupported, "run() does not drive this search", "charge"));
            Cost cost;
            cost.model = model;
            cost.calls = 1;
            cost.usd = usd.value_or(0);
            cost.unpriced = !usd;
            cost.input_tokens = input_tokens;
            cost.output_tokens = output_tokens;
            cost.untold = input_tokens + output_tokens == 0 ? 1 : 0;
            const Released released;
            request.lost(cost);
          },
          py::arg("model"), py::arg("usd"), py::arg("input_tokens"), py::arg("output_tokens"),
          "Adds a call of a model to the run's cost, before the request is answered. `usd` is None if the "
          "price is unknown. Raises Error `unsupported` if ask() and tell() drive the search.")
      // A new stream at every access would draw the same numbers again, so the object keeps one stream.
      .def_property_readonly(
          "rng",
          [](const py::object& self) -> Rng& {
            if (!py::hasattr(self, "_rng"))
              self.attr("_rng") = py::cast(py::cast<ProposalRequest&>(self).rng());
            return py::cast<Rng&>(self.attr("_rng"));
          },
          "The ticket's own random numbers: a search that draws from nothing else can be repeated.");
}

void bind_job(py::module_& module) {
  py::class_<EvaluationJob>(module, "Job", "The argument of an evaluator's method `evaluate`. Immutable.")
      .def_property_readonly(
          "candidate", [](const EvaluationJob& job) { return job.candidate.value; }, "The program's number.")
      .def_readonly("attempt", &EvaluationJob::attempt, "Counts evaluations of the same candidate, from 0.")
      .def_readonly(
          "run", &EvaluationJob::run,
          "The run's id, 32 hexadecimal digits; with candidate and attempt it always names the same job.")
      .def_readonly("source", &EvaluationJob::source, "The source to evaluate.")
      .def_property_readonly(
          "why",
          [](const EvaluationJob& job) {
            return job.remeasurement ? std::optional(std::string(name_of(*job.remeasurement))) : std::nullopt;
          },
          "None for a new program; \"duel\" or \"confirm\" if it is measured again.")
      .def_property_readonly(
          "rival",
          [](const EvaluationJob& job) {
            return job.rival ? std::optional(job.rival->source) : std::nullopt;
          },
          "In a duel, the source with which it is compared.");
}

}  // namespace

void bind_requests(py::module_& module) {
  bind_rng(module);
  bind_child(module);
  bind_request(module);
  bind_job(module);
}

}  // namespace kernelsmith::python
