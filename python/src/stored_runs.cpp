// Run folders on disk, finished or active. Everything is a snapshot.
#include <filesystem>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/session/run_view.hpp>

#include "bindings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "settings.hpp"

namespace kernelsmith::python {
namespace {

std::shared_ptr<RunView> open(const std::filesystem::path& folder) {
  const Registry registry = registry_for_tasks(py::none(), 1);
  const Released released;
  return std::make_shared<RunView>(unwrap(view_run(folder, registry)));
}

py::object or_none(const std::optional<std::string>& text) {
  return text ? py::object(text_of(*text)) : py::none();
}

Row row_of(const Individual& individual) {
  const Program& program = *individual.program;
  const Metrics* metrics = individual.evaluation.metrics();
  const Rejection* why = individual.evaluation.rejection();
  Row row;
  row["id"] = program.id.value;
  row["origin"] = std::string(name_of(program.origin));
  row["parents"] = numbers_of(program.parents);
  row["accepted"] = individual.evaluation.accepted();
  row["fitness"] = metrics ? py::object(py::float_(metrics->fitness().median)) : py::none();
  row["low"] = metrics ? py::object(py::float_(metrics->fitness().low)) : py::none();
  row["high"] = metrics ? py::object(py::float_(metrics->fitness().high)) : py::none();
  row["stage"] = or_none(why ? std::optional(std::string(name_of(why->stage))) : std::nullopt);
  row["code"] = or_none(why ? std::optional(std::string(name_of(why->code))) : std::nullopt);
  row["diagnostics"] = or_none(why ? std::optional(why->diagnostics) : std::nullopt);
  row["features"] = metrics ? metrics->features() : std::map<std::string, double>{};
  return row;
}

/// A program that is not in memory is read from the journal, without the GIL.
IndividualPtr individual_of(const RunView& view, ProgramId id) {
  const Released released;
  return unwrap(view.individual(id));
}

Rows programs(const RunView& view) {
  Rows rows;
  for (const auto& [id, record] : view.state.programs()) rows.append(row_of(*individual_of(view, id)));
  return rows;
}

Rows lineage(const RunView& view) {
  Rows rows;
  for (const LineageStep& step : view.lineage_of_best) {
    Row row = row_of(*view.shown(step.individual));
    row["diff"] = text_of(step.diff);
    rows.append(row);
  }
  return rows;
}

Rows events(const RunView& view) {
  std::vector<std::string> texts;
  {
    const Released released;
    const auto store = unwrap(RunStore::open_read_only(view.folder));
    unwrap(store->replay(0, [&](std::uint64_t, const Event& event) -> Status {
      texts.push_back(to_json(event));
      return {};
    }));
  }
  Rows rows;
  for (const std::string& text : texts) rows.append(json_of(text));
  return rows;
}

/// The kept parts of these tickets' replies; None if a ticket has none. Opens the run once for all.
py::typing::List<py::typing::Optional<Row>> replies(const RunView& view,
                                                    const std::vector<std::uint64_t>& tickets) {
  std::vector<std::optional<std::string>> texts;
  {
    const Released released;
    const auto store = unwrap(RunStore::open_read_only(view.folder));
    for (const std::uint64_t ticket : tickets) {
      const std::optional<KeptReply> reply = unwrap(store->reply(TicketId{ticket}));
      texts.push_back(reply ? std::optional(to_json(*reply)) : std::nullopt);
    }
  }
  py::typing::List<py::typing::Optional<Row>> rows;
  for (const auto& text : texts) rows.append(text ? json_of(*text) : py::none());
  return rows;
}

Row row_of(const std::string& model, const CallTotals& totals) {
  Row row;
  row["model"] = model;
  row["calls"] = totals.calls;
  row["input_tokens"] = totals.input_tokens;
  row["cached_tokens"] = totals.cached_tokens;
  row["output_tokens"] = totals.output_tokens;
  row["reasoning_tokens"] = totals.reasoning_tokens;
  row["usd"] = totals.usd + totals.guessed_usd;
  return row;
}

Rows cost(const RunView& view) {
  Rows rows;
  const Spending spending = view.spending();
  for (const auto& [model, totals] : spending.models()) rows.append(row_of(model, totals));
  return rows;
}

Rows failures(const RunView& view) {
  Rows rows;
  for (const auto& [rule, count] : view.state.failures()) {
    Row row;
    row["stage"] = std::string(name_of(rule.first));
    row["code"] = std::string(name_of(rule.second));
    row["count"] = count;
    rows.append(row);
  }
  return rows;
}

std::optional<ProgramView> best(const RunView& view) {
  const IndividualPtr best = view.state.best();
  return view_of(best ? view.shown(best) : best);
}

ProgramView program(const RunView& view, std::uint64_t id) {
  if (!view.state.programs().contains(ProgramId{id}))
    throw py::key_error("the run has no program " + std::to_string(id));
  return {individual_of(view, ProgramId{id})};
}

std::vector<std::uint64_t> confirmed(const RunView& view) {
  std::vector<std::uint64_t> programs;
  for (const auto& [id, one] : view.state.confirmations())
    if (one.is_figure() && one.evaluation->accepted()) programs.push_back(id.value);
  return programs;
}

std::optional<std::string> ended(const RunView& view) {
  if (view.reason == EndReason::unfinished) return std::nullopt;
  return std::string(name_of(view.reason));
}

}  // namespace

void bind_stored_runs(py::module_& module) {
  py::class_<RunView, std::shared_ptr<RunView>>(module, "StoredRun", "The base of kernelsmith.Run.")
      .def(py::init(&open), py::arg("folder"))
      .def_readonly("folder", &RunView::folder, "The folder from which it was opened.")
      .def_readonly("id", &RunView::run_id, "32 hexadecimal digits, fixed when the run was begun.")
      .def_readonly("in_use", &RunView::in_use, "Whether a process is writing the run.")
      .def_property_readonly("ended", ended,
                             "Why the search ended: \"budget\", \"flat\", \"exhausted\", "
                             "\"finished\", \"refused\"; None while there is more to do.")
      .def_property_readonly(
          "evaluations_left", [](const RunView& view) { return view.state.evaluations_left(); },
          "How many evaluations of the budget are left for new programs. Those kept for measuring the best "
          "again at the end are not counted. None if the run does not limit evaluations.")
      .def_property_readonly(
          "confirmed", confirmed,
          "The programs that were measured again at the run's end; their figures come from that measurement "
          "alone.")
      .def_property_readonly(
          "counts", [](const RunView& view) { return dict_of(view.state.counts()); },
          "The run's counts, such as \"iterations\" and \"evaluations\".")
      .def_property_readonly("best", best,
                             "The best program, with its evaluation as in program(); None while nothing was "
                             "accepted.")
      .def_property_readonly(
          "best_evaluation",
          [](const RunView& view) -> std::optional<Evaluation> {
            const Evaluation* evaluation = view.best_evaluation();
            return evaluation ? std::optional(*evaluation) : std::nullopt;
          },
          "The best's evaluation; the confirmation's if the best was measured again.")
      .def_property_readonly(
          "elapsed_s", [](const RunView& view) { return view.state.elapsed_s(); },
          "Wall time that all sessions used.")
      .def_property_readonly(
          "digest", [](const RunView& view) { return view.archive_digest().hex(); },
          "The digest of the archive: equal searches have equal digests.")
      .def("program", program, py::arg("id"),
           "The program with the evaluation that `kernelsmith show` shows: if it was measured again at the "
           "run's end, that measurement alone, otherwise all its measurements together. Raises KeyError if "
           "the run has no such program.")
      .def("programs", programs,
           "A row for each evaluated program: id, origin, parents, accepted, fitness (the median), low (by "
           "which programs are ranked), high, stage, code, diagnostics, features. Evaluations are "
           "chosen as in program().")
      .def("lineage", lineage,
           "The programs from the seed to the best along the first parents: rows of programs() with `diff`.")
      .def("events", events, "The journal, with a row for each event (docs/formats.md).")
      .def("replies", replies, py::arg("tickets"),
           "The kept parts of these tickets' replies, such as text, system and user (docs/formats.md, \"kept "
           "reply\"); None for a ticket of which nothing was kept. `proposer.keep` decides what is kept.")
      .def("cost", cost, "A row for each model: calls, tokens, usd.")
      .def("failures", failures, "The number of rejected programs by stage and code: stage, code, count.")
      .def("_archive", [](const RunView& view) { return archive_of(view.state); })
      .def("__repr__", [](const RunView& view) {
        return "<Run " + view.folder.string() + ", " + std::to_string(view.state.counts().iterations) +
               " iterations>";
      });
}

}  // namespace kernelsmith::python
