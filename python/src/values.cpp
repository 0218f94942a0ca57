#include "values.hpp"

#include <cmath>

#include <pybind11/stl.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/blocking.hpp>

#include "errors.hpp"

namespace kernelsmith::python {
namespace {

constexpr const char* kOnlyFile = "candidate.txt";

std::string described(const Measurement& measurement) {
  return py::cast<std::string>(py::str("Measurement({:.6g}, {:.6g}, {:.6g})")
                                   .attr("format")(measurement.median, measurement.low, measurement.high));
}

Measurement measurement_of(const py::handle& object) {
  if (py::isinstance<Measurement>(object)) return py::cast<Measurement>(object);
  return Measurement::exact(py::cast<double>(object));
}

Evaluation acceptance(const py::handle& fitness, std::map<std::string, double> features,
                      const std::optional<std::string>& report) {
  const Measurement measured = measurement_of(fitness);
  if (!std::isfinite(measured.median)) return unwrap(as_evaluation(measured.median));
  Report kept = report ? unwrap(from_json<Report>(*report)) : Report{};
  return Acceptance{unwrap(Metrics::create(measured, std::move(features))), std::move(kept)};
}

template <class Enum>
Enum named(const std::string& name, std::optional<Enum> (*from)(std::string_view), const char* what) {
  const auto value = from(name);
  if (!value)
    throw ErrorException(fail(ErrorCode::invalid_argument,
                              "there is no " + std::string(what) + " \"" + name + "\"", what,
                              "docs/errors.md lists them"));
  return *value;
}

Evaluation rejection(std::string diagnostics, const std::string& code, const std::string& stage) {
  return Rejection{named(stage, stage_from, "stage"),
                   named(code, rejection_code_from, "code"),
                   std::move(diagnostics),
                   {}};
}

std::map<std::string, double> features_of(const py::dict& numbers) {
  std::map<std::string, double> features;
  for (const auto& [name, value] : numbers)
    features.emplace(py::cast<std::string>(name), py::cast<double>(value));
  return features;
}

void bind_source(py::module_& module) {
  py::class_<Source>(module, "Source")
      .def(py::init([](const py::object& files) { return source_of(files); }), py::arg("files"))
      .def_property_readonly("files",
                             [](const Source& source) {
                               py::dict files;
                               for (const SourceFile& file : source.files())
                                 files[py::str(file.path)] = file.text;
                               return files;
                             })
      .def_property_readonly("text", [](const Source& source) { return std::string(source.main_text()); })
      .def_property_readonly("digest", [](const Source& source) { return source.digest().hex(); })
      .def(
          "__eq__", [](const Source& a, const Source& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Source& source) { return std::hash<Digest>{}(source.digest()); })
      .def("__len__", [](const Source& source) { return source.files().size(); })
      .def("__repr__", [](const Source& source) {
        std::string names;
        for (const SourceFile& file : source.files()) names += (names.empty() ? "" : ", ") + file.path;
        return "<Source " + names + ", " + std::to_string(source.bytes()) + " bytes>";
      });
}

void bind_measurement(py::module_& module) {
  py::class_<Measurement>(module, "Measurement")
      .def(
          py::init([](double median, std::optional<double> low, std::optional<double> high,
                      std::size_t samples, std::string unit) {
            return Measurement{median, low.value_or(median), high.value_or(median), samples, std::move(unit)};
          }),
          py::arg("median"), py::arg("low") = py::none(), py::arg("high") = py::none(),
          py::arg("samples") = 1, py::arg("unit") = "")
      .def_readonly("median", &Measurement::median)
      .def_readonly("low", &Measurement::low)
      .def_readonly("high", &Measurement::high)
      .def_readonly("samples", &Measurement::samples)
      .def_readonly("unit", &Measurement::unit)
      .def("__float__", [](const Measurement& one) { return one.median; })
      .def(
          "__eq__", [](const Measurement& a, const Measurement& b) { return a == b; }, py::is_operator())
      .def("__repr__", described);
}

const Measurement* fitness_of(const Evaluation& evaluation) {
  const Metrics* metrics = evaluation.metrics();
  return metrics ? &metrics->fitness() : nullptr;
}

std::optional<double> median_of(const Evaluation& evaluation) {
  const Measurement* fitness = fitness_of(evaluation);
  return fitness ? std::optional(fitness->median) : std::nullopt;
}

/// A member of the rejection as text; empty where the candidate was accepted.
template <class F>
std::optional<std::string> of_rejection(const Evaluation& evaluation, F get) {
  const Rejection* why = evaluation.rejection();
  return why ? std::optional(std::string(get(*why))) : std::nullopt;
}

std::string described(const Evaluation& evaluation) {
  if (const auto fitness = median_of(evaluation))
    return "<Evaluation accepted, fitness " + py::cast<std::string>(py::str(py::float_(*fitness))) + ">";
  const Rejection& why = *evaluation.rejection();
  return "<Evaluation rejected at " + std::string(name_of(why.stage)) + ", " +
         std::string(name_of(why.code)) + ">";
}

void bind_evaluation(py::module_& module) {
  py::class_<Evaluation>(module, "Evaluation")
      .def_static("accept", acceptance, py::arg("fitness"),
                  py::arg("features") = std::map<std::string, double>{}, py::arg("report") = py::none())
      .def_static("reject", rejection, py::arg("diagnostics"), py::arg("code") = "raised",
                  py::arg("stage") = "run")
      .def_property_readonly("accepted", &Evaluation::accepted)
      .def_property_readonly("fitness", median_of)
      .def_property_readonly("measurement",
                             [](const Evaluation& evaluation) -> std::optional<Measurement> {
                               const Measurement* fitness = fitness_of(evaluation);
                               return fitness ? std::optional(*fitness) : std::nullopt;
                             })
      .def_property_readonly("features",
                             [](const Evaluation& evaluation) {
                               const Metrics* metrics = evaluation.metrics();
                               return metrics ? metrics->features() : std::map<std::string, double>{};
                             })
      .def_property_readonly("speedup",
                             [](const Evaluation& evaluation) { return evaluation.report().speedup; })
      .def_property_readonly("stage",
                             [](const Evaluation& evaluation) {
                               return of_rejection(evaluation,
                                                   [](const Rejection& why) { return name_of(why.stage); });
                             })
      .def_property_readonly("code",
                             [](const Evaluation& evaluation) {
                               return of_rejection(evaluation,
                                                   [](const Rejection& why) { return name_of(why.code); });
                             })
      .def_property_readonly("diagnostics",
                             [](const Evaluation& evaluation) {
                               return of_rejection(evaluation,
                                                   [](const Rejection& why) { return why.diagnostics; });
                             })
      .def_property_readonly(
          "report", [](const Evaluation& evaluation) { return json_of(to_json(evaluation.report())); })
      .def("to_json", [](const Evaluation& evaluation) { return to_json(evaluation); })
      .def(
          "__eq__", [](const Evaluation& a, const Evaluation& b) { return a == b; }, py::is_operator())
      .def("__repr__", [](const Evaluation& evaluation) { return described(evaluation); });
}

void bind_program(py::module_& module) {
  py::class_<ProgramView>(module, "Program")
      .def_property_readonly("id", [](const ProgramView& view) { return view.program().id.value; })
      .def_property_readonly("source", [](const ProgramView& view) { return view.program().source; })
      .def_property_readonly("parents",
                             [](const ProgramView& view) {
                               std::vector<std::uint64_t> ids;
                               for (const ProgramId id : view.program().parents) ids.push_back(id.value);
                               return ids;
                             })
      .def_property_readonly(
          "origin", [](const ProgramView& view) { return std::string(name_of(view.program().origin)); })
      .def_property_readonly("evaluation", [](const ProgramView& view) { return view.evaluation(); })
      .def_property_readonly("accepted", [](const ProgramView& view) { return view.evaluation().accepted(); })
      .def_property_readonly("fitness", [](const ProgramView& view) { return median_of(view.evaluation()); })
      .def("__repr__", [](const ProgramView& view) {
        return "<Program " + std::to_string(view.program().id.value) + " (" +
               std::string(name_of(view.program().origin)) + "), " + described(view.evaluation()).substr(1);
      });
}

void bind_rng(py::module_& module) {
  py::class_<Rng>(module, "Rng")
      .def(py::init(
               [](std::uint64_t seed, std::uint64_t ticket) { return Rng(seed, ticket, Purpose::proposal); }),
           py::arg("seed"), py::arg("ticket") = 0)
      .def("random", &Rng::uniform)
      .def(
          "normal", [](Rng& rng, double mean, double deviation) { return mean + deviation * rng.normal(); },
          py::arg("mean") = 0.0, py::arg("deviation") = 1.0)
      .def(
          "below",
          [](Rng& rng, std::uint64_t n) {
            if (n == 0) throw py::value_error("there is no number below 0");
            return rng.below(n);
          },
          py::arg("n"))
      .def(
          "choice",
          [](Rng& rng, const py::sequence& items) -> py::object {
            if (items.empty()) throw py::value_error("there is nothing to choose from");
            return items[rng.below(items.size())];
          },
          py::arg("items"));
}

void bind_request(py::module_& module) {
  py::class_<Refusal>(module, "Refusal")
      .def(py::init([](std::string detail, const std::string& code) {
             return Refusal{named(code, refusal_code_from, "code"), std::move(detail)};
           }),
           py::arg("detail") = "", py::arg("code") = "no_code")
      .def_property_readonly("code",
                             [](const Refusal& refusal) { return std::string(name_of(refusal.code)); })
      .def_readonly("detail", &Refusal::detail)
      .def("__repr__", [](const Refusal& refusal) {
        return "<Refusal " + std::string(name_of(refusal.code)) + (refusal.detail.empty() ? "" : ": ") +
               refusal.detail + ">";
      });
  py::class_<ProposalRequest>(module, "Request", py::dynamic_attr())
      .def_property_readonly("ticket", [](const ProposalRequest& request) { return request.ticket.value; })
      .def_property_readonly("operator",
                             [](const ProposalRequest& request) { return std::string(name_of(request.op)); })
      .def_property_readonly("model", [](const ProposalRequest& request) { return request.model; })
      .def_property_readonly("parent",
                             [](const ProposalRequest& request) { return view_of(request.selection.parent); })
      .def_property_readonly("top",
                             [](const ProposalRequest& request) { return list_of(request.selection.top); })
      .def_property_readonly(
          "inspirations",
          [](const ProposalRequest& request) { return list_of(request.selection.inspirations); })
      .def_property_readonly(
          "failures", [](const ProposalRequest& request) { return list_of(request.selection.failures); })
      // The same stream at every look would draw the same numbers again: the object keeps one.
      .def_property_readonly("rng", [](const py::object& self) {
        if (!py::hasattr(self, "_rng")) self.attr("_rng") = py::cast(py::cast<ProposalRequest&>(self).rng());
        return py::object(self.attr("_rng"));
      });
}

void bind_job(py::module_& module) {
  py::class_<EvaluationJob>(module, "Job")
      .def_property_readonly("candidate", [](const EvaluationJob& job) { return job.candidate.value; })
      .def_readonly("attempt", &EvaluationJob::attempt)
      .def_readonly("run", &EvaluationJob::run)
      .def_readonly("source", &EvaluationJob::source)
      .def_property_readonly(
          "why",
          [](const EvaluationJob& job) {
            return job.remeasurement ? std::optional(std::string(name_of(*job.remeasurement))) : std::nullopt;
          })
      .def_property_readonly("rival", [](const EvaluationJob& job) {
        return job.rival ? std::optional(job.rival->source) : std::nullopt;
      });
}

}  // namespace

std::optional<ProgramView> view_of(const IndividualPtr& individual) {
  return individual ? std::optional(ProgramView{individual}) : std::nullopt;
}

py::list list_of(const std::vector<IndividualPtr>& individuals) {
  py::list list;
  for (const IndividualPtr& one : individuals) list.append(ProgramView{one});
  return list;
}

Source source_of(const py::handle& object, const Source* like) {
  if (py::isinstance<Source>(object)) return py::cast<Source>(object);
  if (py::isinstance<py::str>(object)) {
    const bool named = like && like->files().size() == 1;
    return unwrap(
        Source::create({{named ? like->files().front().path : kOnlyFile, py::cast<std::string>(object)}}));
  }
  if (!py::isinstance<py::dict>(object))
    throw py::type_error("a source is a Source, a text, or a dict of texts by path, not " +
                         py::cast<std::string>(py::repr(py::type::of(object))));
  std::vector<SourceFile> files;
  for (const auto& [path, text] : py::reinterpret_borrow<py::dict>(object))
    files.push_back({py::cast<std::string>(path), py::cast<std::string>(text)});
  return unwrap(Source::create(std::move(files)));
}

Evaluation evaluation_of(const py::handle& object) {
  if (py::isinstance<Evaluation>(object)) return py::cast<Evaluation>(object);
  if (py::isinstance<py::dict>(object)) {
    auto features = features_of(py::reinterpret_borrow<py::dict>(object));
    const auto fitness = features.extract("fitness");
    if (!fitness)
      return Rejection{Stage::run, RejectionCode::bad_metrics, "the evaluator's dict has no \"fitness\"", {}};
    return acceptance(py::float_(fitness.mapped()), std::move(features), std::nullopt);
  }
  if (py::isinstance<py::tuple>(object)) {
    const auto pair = py::reinterpret_borrow<py::tuple>(object);
    if (pair.size() != 2) throw py::type_error("an evaluator's tuple is (fitness, features)");
    return acceptance(pair[0], features_of(py::cast<py::dict>(pair[1])), std::nullopt);
  }
  if (object.is_none() || py::isinstance<py::str>(object))
    throw py::type_error(
        "an evaluator returns a number, a Measurement, (fitness, features), a dict with \"fitness\" or an "
        "Evaluation, "
        "not " +
        py::cast<std::string>(py::repr(py::type::of(object))));
  return acceptance(object, {}, std::nullopt);
}

Proposal proposal_of(const ProposalRequest& request, const py::handle& object) {
  if (object.is_none()) return {Refusal{RefusalCode::exhausted, "the proposer returned None"}, {}, {}};
  if (py::isinstance<Refusal>(object)) return {py::cast<Refusal>(object), {}, {}};
  const Source* like = request.selection.parent ? &request.selection.parent->program->source : nullptr;
  return unwrap(as_proposal(request, source_of(object, like)));
}

py::object json_of(const std::string& text) { return py::module_::import("json").attr("loads")(text); }

void bind_values(py::module_& module) {
  bind_source(module);
  bind_measurement(module);
  bind_evaluation(module);
  bind_program(module);
  bind_rng(module);
  bind_request(module);
  bind_job(module);
}

}  // namespace kernelsmith::python
