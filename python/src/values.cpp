#include "values.hpp"

#include <cmath>

#include <pybind11/stl.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/core/untrusted_files.hpp>

#include "errors.hpp"

namespace kernelsmith::python {
namespace {

constexpr const char* kOnlyFile = "candidate.txt";

std::string described(const Measurement& measurement) {
  return py::cast<std::string>(py::str("Measurement({:.6g}, {:.6g}, {:.6g})")
                                   .attr("format")(measurement.median, measurement.low, measurement.high));
}

std::string type_name(const py::handle& object) {
  return py::cast<std::string>(py::str(py::type::of(object).attr("__name__")));
}

/// Numbers are objects that convert to a float, except texts.
std::optional<double> number_in(const py::handle& object) {
  if (PyFloat_Check(object.ptr())) return PyFloat_AS_DOUBLE(object.ptr());
  const double value = PyFloat_AsDouble(object.ptr());
  if (value != -1.0 || !PyErr_Occurred()) return value;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

Measurement measurement_of(const py::handle& object) {
  if (py::isinstance<Measurement>(object)) return py::cast<Measurement>(object);
  if (const auto number = number_in(object)) return Measurement::exact(*number);
  throw py::type_error(
      "a score is a number, a Measurement, (fitness, features), a dict with \"fitness\" or an Evaluation, "
      "not " +
      type_name(object));
}

using Score = py::typing::Union<py::float_, Measurement>;

Evaluation acceptance(const Score& fitness, std::map<std::string, double> features,
                      const std::optional<std::string>& report) {
  const Measurement measured = measurement_of(fitness);
  if (!std::isfinite(measured.median)) return unwrap(as_evaluation(measured.median));
  Report kept = report ? unwrap(from_json<Report>(*report)) : Report{};
  return Acceptance{unwrap(Metrics::create(measured, std::move(features))), std::move(kept)};
}

Evaluation rejection(const py::str& diagnostics, const std::string& code, const std::string& stage) {
  return Rejection{
      named(stage, stage_from, "stage"), named(code, rejection_code_from, "code"), utf8_of(diagnostics), {}};
}

std::map<std::string, double> features_of(const py::handle& object) {
  if (!py::isinstance<py::dict>(object))
    throw py::type_error("features are a dict of numbers by name, not " + type_name(object));
  std::map<std::string, double> features;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(object)) {
    const auto number = number_in(value);
    if (!number || !py::isinstance<py::str>(name))
      throw py::type_error("the feature " + py::cast<std::string>(py::repr(name)) +
                           " must be a number with a name, not " + type_name(value));
    features.emplace(py::cast<std::string>(name), *number);
  }
  return features;
}

std::string encoded(const py::handle& text, const char* errors) {
  const auto bytes = py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", errors));
  if (!bytes) throw py::error_already_set();
  return bytes;
}

py::str decoded(std::string_view text, const char* errors) {
  auto str = py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), errors));
  if (!str) throw py::error_already_set();
  return str;
}

/// A file's bytes. Bytes that are not UTF-8 are surrogates in Python.
std::string bytes_of(const py::handle& text) { return encoded(text, "surrogateescape"); }

py::str file_text(std::string_view text) { return decoded(text, "surrogateescape"); }

/// Lets Python pickle and copy a value by its JSON.
template <class T>
auto pickled_as_json() {
  return py::pickle([](const T& value) { return py::bytes(to_json(value)); },
                    [](const py::bytes& text) { return unwrap(from_json<T>(std::string(text))); });
}

void bind_source(py::module_& module) {
  py::class_<Source>(
      module, "Source",
      "A candidate's files: texts by path, in order. Immutable; equal sources have equal paths and texts.")
      .def(py::init([](const SourceLike& files) { return source_of(files); }), py::arg("files"),
           "From a text, which becomes candidate.txt, or a dict of texts by relative path. Raises Error "
           "`bad_input` for a path that is absolute, leads out of the folder or comes twice.")
      .def_property_readonly(
          "files",
          [](const Source& source) {
            py::typing::Dict<py::str, py::str> files;
            for (const SourceFile& file : source.files()) files[file_text(file.path)] = file_text(file.text);
            return files;
          },
          "Texts by path. Bytes that are not UTF-8 are surrogates, as with errors=\"surrogateescape\".")
      .def_property_readonly(
          "text", [](const Source& source) { return file_text(source.main_text()); },
          "The first file's text; empty if there is no file.")
      .def_property_readonly(
          "digest", [](const Source& source) { return source.digest().hex(); },
          "SHA-256 of paths and texts, in hexadecimal.")
      .def(
          "__eq__", [](const Source& a, const Source& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Source& source) { return std::hash<Digest>{}(source.digest()); })
      .def(pickled_as_json<Source>())
      .def(
          "__len__", [](const Source& source) { return source.files().size(); }, "The number of files.")
      .def("__repr__", [](const Source& source) {
        std::string names;
        for (const SourceFile& file : source.files()) names += (names.empty() ? "" : ", ") + file.path;
        return "<Source " + names + ", " + std::to_string(source.bytes()) + " bytes>";
      });
}

/// Hashes consistently with equality: 0.0 and -0.0 are equal.
std::size_t hash_of(const Measurement& measurement) { return std::hash<double>{}(measurement.median); }

void bind_measurement(py::module_& module) {
  py::class_<Measurement>(module, "Measurement", "A number with its confidence interval. Immutable.")
      .def(
          py::init([](double median, std::optional<double> low, std::optional<double> high,
                      std::size_t samples, std::string unit) {
            return Measurement{median, low.value_or(median), high.value_or(median), samples, std::move(unit)};
          }),
          py::arg("median"), py::arg("low") = py::none(), py::arg("high") = py::none(),
          py::arg("samples") = 1, py::arg("unit") = "", "An exact number if low and high are left out.")
      .def_readonly("median", &Measurement::median, "The number itself, in `unit`.")
      .def_readonly("low", &Measurement::low, "Lower end of the 95 % interval, in `unit`.")
      .def_readonly("high", &Measurement::high, "Upper end of the 95 % interval, in `unit`.")
      .def_readonly("samples", &Measurement::samples, "How many samples it is the median of.")
      .def_readonly("unit", &Measurement::unit, "Such as \"us\"; empty for a ratio.")
      .def("__float__", [](const Measurement& one) { return one.median; })
      .def(
          "__eq__", [](const Measurement& a, const Measurement& b) { return a == b; }, py::is_operator())
      .def("__hash__", hash_of)
      .def(pickled_as_json<Measurement>())
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

/// A member of the rejection as text; empty if the candidate was accepted.
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

std::size_t hash_of(const Evaluation& evaluation) {
  const Rejection* why = evaluation.rejection();
  return why ? std::hash<std::string>{}(why->diagnostics) : hash_of(*fitness_of(evaluation));
}

void bind_evaluation(py::module_& module) {
  py::class_<Evaluation>(
      module, "Evaluation",
      "A candidate's result: accepted with a fitness, or rejected with a reason. Immutable.")
      .def_static("accept", acceptance, py::arg("fitness"),
                  py::arg("features") = std::map<std::string, double>{}, py::arg("report") = py::none(),
                  "An acceptance; a rejection (`bad_metrics`) if fitness is not finite. `report` is JSON "
                  "in the form that to_json() gives it under \"report\".")
      .def_static("reject", rejection, py::arg("diagnostics"), py::arg("code") = "raised",
                  py::arg("stage") = "run",
                  "A rejection with a code and a stage of docs/errors.md. Raises Error for any other.")
      .def_property_readonly("accepted", &Evaluation::accepted, "Whether there is a fitness.")
      .def_property_readonly(
          "fitness", median_of,
          "The median, higher is better; for kernels the speedup over the baseline. A search ranks by "
          "measurement.low. None if rejected.")
      .def_property_readonly(
          "measurement",
          [](const Evaluation& evaluation) -> std::optional<Measurement> {
            const Measurement* fitness = fitness_of(evaluation);
            return fitness ? std::optional(*fitness) : std::nullopt;
          },
          "The fitness with its interval; None if rejected.")
      .def_property_readonly(
          "features",
          [](const Evaluation& evaluation) {
            const Metrics* metrics = evaluation.metrics();
            return metrics ? metrics->features() : std::map<std::string, double>{};
          },
          "Numbers by name, which the archive's axes may read; they include static features of the source, "
          "such as \"tokens\".")
      .def_property_readonly(
          "speedup", [](const Evaluation& evaluation) { return evaluation.report().speedup; },
          "The baseline's time over the candidate's, the geometric mean over the timed shapes; None if the "
          "candidate is not a kernel.")
      .def_property_readonly(
          "stage",
          [](const Evaluation& evaluation) {
            return of_rejection(evaluation, [](const Rejection& why) { return name_of(why.stage); });
          },
          "Where it was rejected: parse, static_check, compile, plan, run, correctness, integrity, timing.")
      .def_property_readonly(
          "code",
          [](const Evaluation& evaluation) {
            return of_rejection(evaluation, [](const Rejection& why) { return name_of(why.code); });
          },
          "The code of docs/errors.md for the rejection.")
      .def_property_readonly(
          "diagnostics",
          [](const Evaluation& evaluation) -> std::optional<py::str> {
            const Rejection* why = evaluation.rejection();
            return why ? std::optional(text_of(why->diagnostics)) : std::nullopt;
          },
          "A rejection in words: a compiler's messages, a traceback.")
      .def_property_readonly(
          "report", [](const Evaluation& evaluation) { return json_of(to_json(evaluation.report())); },
          "All that was measured, as plain dicts and lists (docs/formats.md); times in microseconds (`_us`).")
      .def(
          "to_json", [](const Evaluation& evaluation) { return to_json(evaluation); },
          "The JSON text that the journal holds (docs/formats.md).")
      .def(
          "__eq__", [](const Evaluation& a, const Evaluation& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Evaluation& evaluation) { return hash_of(evaluation); })
      .def(pickled_as_json<Evaluation>())
      .def("_repr_html_", [](const py::object& self) { return html_of("evaluation", self); })
      .def("__repr__", [](const Evaluation& evaluation) { return described(evaluation); });
}

using ProgramState = py::typing::Tuple<py::object, py::ellipsis>;

ProgramState state_of(const ProgramView& view) {
  const Program& program = view.program();
  return py::make_tuple(program.id.value, program.source, numbers_of(program.parents),
                        std::string(name_of(program.origin)), view.evaluation());
}

ProgramView program_from(const ProgramState& state) {
  Program program;
  program.id = ProgramId{py::cast<std::uint64_t>(state[0])};
  program.source = py::cast<Source>(state[1]);
  program.parents = programs_of(py::cast<std::vector<std::uint64_t>>(state[2]));
  program.origin = named(py::cast<std::string>(state[3]), origin_from, "origin");
  return {std::make_shared<const Individual>(
      Individual{std::make_shared<const Program>(std::move(program)), py::cast<Evaluation>(state[4])})};
}

void bind_program(py::module_& module) {
  py::class_<ProgramView>(module, "Program", "A candidate with its evaluation. Immutable.")
      .def_property_readonly(
          "id", [](const ProgramView& view) { return view.program().id.value; },
          "Its number in the run, which is also its ticket's number.")
      .def_property_readonly(
          "source", [](const ProgramView& view) { return view.program().source; }, "Its files.")
      .def_property_readonly(
          "parents", [](const ProgramView& view) { return numbers_of(view.program().parents); },
          "Numbers of the programs from which it was made; empty for a seed.")
      .def_property_readonly(
          "origin", [](const ProgramView& view) { return std::string(name_of(view.program().origin)); },
          "seed, translate, edit, rewrite, crossover, repair, tune or user.")
      .def_property_readonly(
          "evaluation", [](const ProgramView& view) { return view.evaluation(); }, "The program's result.")
      .def_property_readonly(
          "accepted", [](const ProgramView& view) { return view.evaluation().accepted(); },
          "evaluation.accepted")
      .def_property_readonly(
          "fitness", [](const ProgramView& view) { return median_of(view.evaluation()); },
          "evaluation.fitness")
      .def(
          "__eq__",
          [](const ProgramView& a, const ProgramView& b) {
            return a.program() == b.program() && a.evaluation() == b.evaluation();
          },
          py::is_operator())
      .def("__hash__",
           [](const ProgramView& view) { return std::hash<Digest>{}(view.program().source.digest()); })
      .def(py::pickle(&state_of, &program_from))
      .def("_repr_html_", [](const py::object& self) { return html_of("program", self); })
      .def("__repr__", [](const ProgramView& view) {
        return "<Program " + std::to_string(view.program().id.value) + " (" +
               std::string(name_of(view.program().origin)) + "), " + described(view.evaluation()).substr(1);
      });
}

}  // namespace

std::vector<std::uint64_t> numbers_of(const std::vector<ProgramId>& programs) {
  std::vector<std::uint64_t> numbers;
  for (const ProgramId id : programs) numbers.push_back(id.value);
  return numbers;
}

std::vector<ProgramId> programs_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<ProgramId> programs;
  for (const std::uint64_t number : numbers) programs.push_back(ProgramId{number});
  return programs;
}

std::optional<ProgramView> view_of(const IndividualPtr& individual) {
  return individual ? std::optional(ProgramView{individual}) : std::nullopt;
}

py::typing::List<ProgramView> list_of(const std::vector<IndividualPtr>& individuals) {
  py::typing::List<ProgramView> list;
  for (const IndividualPtr& one : individuals) list.append(ProgramView{one});
  return list;
}

namespace {

std::string source_text(const py::handle& text) {
  std::string bytes = bytes_of(text);
  drop_byte_order_mark(bytes);
  return bytes;
}

}  // namespace

Source source_of(const py::handle& object, const Source* like) {
  if (py::isinstance<Source>(object)) return py::cast<Source>(object);
  if (py::isinstance<py::str>(object)) {
    const bool named = like && like->files().size() == 1;
    return unwrap(Source::create({{named ? like->files().front().path : kOnlyFile, source_text(object)}}));
  }
  if (!py::isinstance<py::dict>(object))
    throw py::type_error("a source is a Source, a text, or a dict of texts by path, not " +
                         type_name(object));
  std::vector<SourceFile> files;
  for (const auto& [path, text] : py::reinterpret_borrow<py::dict>(object)) {
    if (!py::isinstance<py::str>(path) || !py::isinstance<py::str>(text))
      throw py::type_error("a source's dict has a text for each path, not " + type_name(text) + " for " +
                           py::cast<std::string>(py::repr(path)));
    files.push_back({bytes_of(path), source_text(text)});
  }
  return unwrap(Source::create(std::move(files)));
}

py::str text_of(std::string_view text) { return decoded(text, "replace"); }

std::optional<py::str> words_of(const std::optional<Error>& error) {
  return error ? std::optional(text_of(describe(*error))) : std::nullopt;
}

std::string utf8_of(const py::handle& text) { return encoded(text, "backslashreplace"); }

Evaluation evaluation_of(const py::handle& object) {
  if (py::isinstance<Evaluation>(object)) return py::cast<Evaluation>(object);
  if (py::isinstance<py::dict>(object)) {
    auto features = py::reinterpret_steal<py::dict>(PyDict_Copy(object.ptr()));
    if (!features.contains("fitness")) throw py::type_error("the dict of a score has no \"fitness\"");
    const py::object fitness = features.attr("pop")("fitness");
    return acceptance(fitness, features_of(features), std::nullopt);
  }
  if (py::isinstance<py::tuple>(object)) {
    const auto pair = py::reinterpret_borrow<py::tuple>(object);
    if (pair.size() != 2) throw py::type_error("the tuple of a score is (fitness, features)");
    return acceptance(py::object(pair[0]), features_of(pair[1]), std::nullopt);
  }
  return acceptance(py::reinterpret_borrow<Score>(object), {}, std::nullopt);
}

Proposal proposal_of(const ProposalRequest& request, const py::handle& object) {
  if (object.is_none()) return {Refusal{RefusalCode::exhausted, "the proposer returned None"}, {}, {}};
  if (py::isinstance<Refusal>(object)) return {py::cast<Refusal>(object), {}, {}};
  if (py::isinstance<Child>(object)) return {py::cast<Child>(object), {}, {}};
  const Source* like = request.selection.parent ? &request.selection.parent->program->source : nullptr;
  return unwrap(as_proposal(request, source_of(object, like)));
}

py::object json_of(const std::string& text) { return py::module_::import("json").attr("loads")(text); }

py::str html_of(const char* what, const py::handle& result) {
  return py::module_::import("kernelsmith._tables").attr(what)(result);
}

void bind_values(py::module_& module) {
  bind_source(module);
  bind_measurement(module);
  bind_evaluation(module);
  bind_program(module);
}

}  // namespace kernelsmith::python
