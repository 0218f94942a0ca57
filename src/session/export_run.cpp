// The run as JSON lines. Every line is an object whose `type` says what it is (docs/formats.md).
#include <map>
#include <ostream>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/session/program_diff.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {
namespace {

std::string text_of(ProgramId id) { return std::to_string(id.value); }

std::string list_of(const std::vector<ProgramId>& ids) {
  std::string text;
  for (const ProgramId id : ids) text += (text.empty() ? "" : ",") + text_of(id);
  return "[" + text + "]";
}

std::string in_quotes(std::string_view plain) { return "\"" + std::string(plain) + "\""; }

std::string run_line(const RunView& view) {
  return R"({"run":)" + in_quotes(view.run_id) + R"(,"task_digest":)" + in_quotes(view.task.digest.hex()) +
         R"(,"type":"run","version":1})";
}

std::string program_line(ProgramId id, const Child& child) {
  return R"({"id":)" + text_of(id) + R"(,"origin":)" + in_quotes(name_of(child.origin)) + R"(,"parents":)" +
         list_of(child.parents) + R"(,"source":)" + to_json(child.source) + R"(,"type":"program"})";
}

std::string evaluation_line(const EvaluationArrived& arrived) {
  return R"({"attempt":)" + std::to_string(arrived.attempt) + R"(,"evaluation":)" +
         to_json(arrived.evaluation) + R"(,"program":)" + text_of(arrived.program) + R"(,"ticket":)" +
         std::to_string(arrived.ticket.value) + R"(,"type":"evaluation"})";
}

std::string reply_line(TicketId ticket, const KeptReply& reply) {
  return R"({"reply":)" + to_json(reply) + R"(,"ticket":)" + std::to_string(ticket.value) +
         R"(,"type":"reply"})";
}

std::string refusal_line(TicketId ticket, const Refusal& refusal) {
  return R"({"refusal":)" + to_json(refusal) + R"(,"ticket":)" + std::to_string(ticket.value) +
         R"(,"type":"refusal"})";
}

/// The journal's event without the texts of programs, which have lines of their own.
std::string ticket_line(const Event& event) {
  return R"({"event":)" + to_json(event) + R"(,"type":"ticket"})";
}

std::string cost_line(TicketId ticket, const Cost& cost, const std::optional<Digest>& prompt) {
  const std::string digest = prompt ? R"(,"prompt":)" + in_quotes(prompt->hex()) : "";
  return R"({"cost":)" + to_json(cost) + digest + R"(,"ticket":)" + std::to_string(ticket.value) +
         R"(,"type":"cost"})";
}

std::string repeat_line(const EvaluationArrived& arrived) {
  return R"({"program":)" + text_of(arrived.program) + R"(,"ticket":)" +
         std::to_string(arrived.ticket.value) + R"(,"type":"repeat"})";
}

std::string gain_line(ProgramId child, ProgramId parent, const Measurement& gain, std::string_view from) {
  return R"({"child":)" + text_of(child) + R"(,"from":)" + in_quotes(from) + R"(,"gain":)" + to_json(gain) +
         R"(,"parent":)" + text_of(parent) + R"(,"type":"gain"})";
}

std::string lineage_line(ProgramId child, ProgramId parent) {
  return R"({"child":)" + text_of(child) + R"(,"parent":)" + text_of(parent) + R"(,"type":"lineage"})";
}

/// Writes each program and its edges before its first evaluation. Omits a child that was never evaluated,
/// because it has no program.
class Exporter {
 public:
  Exporter(const RunStore& store, std::ostream& out) : store_(store), out_(out) {}

  Status operator()(const Event& event) {
    if (const auto* opened = std::get_if<TicketOpened>(&event)) {
      put(ticket_line(event));
      if (opened->incumbent) duels_[opened->ticket] = *opened->incumbent;
    } else if (const auto* failed = std::get_if<CallFailed>(&event)) {
      put(cost_line(failed->ticket, failed->cost, std::nullopt));
    } else if (const auto* arrived = std::get_if<ProposalArrived>(&event)) {
      if (const Child* child = arrived->proposal.child()) unevaluated_.emplace(arrived->ticket, *child);
      const auto reply = store_.reply(arrived->ticket);
      if (!reply) return reply.error();
      if (*reply) put(reply_line(arrived->ticket, **reply));
      if (arrived->proposal.prompt)
        put(cost_line(arrived->ticket, arrived->proposal.cost, arrived->proposal.prompt));
      if (const Refusal* refusal = arrived->proposal.refusal()) put(refusal_line(arrived->ticket, *refusal));
    } else if (const auto* told = std::get_if<EvaluationArrived>(&event)) {
      if (told->source == EvaluationSource::evaluated)
        write(*told);
      else
        put(repeat_line(*told));
    }
    return {};
  }

 private:
  void write(const EvaluationArrived& told) {
    if (const auto child = unevaluated_.extract(told.ticket)) {
      put(program_line(told.program, child.mapped()));
      if (!child.mapped().parents.empty()) parents_[told.program] = child.mapped().parents.front();
      for (const ProgramId parent : child.mapped().parents) put(lineage_line(told.program, parent));
    }
    put(evaluation_line(told));
    write_gain(told);
  }

  /// Writes the gain of a program over its first parent: from their duel if there was one, else from their
  /// speedups over the same yardstick.
  void write_gain(const EvaluationArrived& told) {
    const Report& report = told.evaluation.report();
    const auto parent = parents_.find(told.program);
    if (parent == parents_.end()) {
      reports_[told.program] = only_over_yardstick(report);
      return;
    }
    const auto rival = duels_.find(told.ticket);
    if (rival != duels_.end() && rival->second == parent->second && report.duel)
      put(gain_line(told.program, parent->second, *report.duel, "duel"));
    else if (const auto gain = gain_over(reports_[parent->second], report); gain && rival == duels_.end())
      put(gain_line(told.program, parent->second, *gain, "yardstick"));
    reports_[told.program] = only_over_yardstick(report);
  }

  static Report only_over_yardstick(const Report& report) {
    Report kept;
    kept.over_yardstick = report.over_yardstick;
    return kept;
  }

  /// Escapes control characters, because lines are also viewed in terminals.
  void put(const std::string& line) { out_ << escape_controls_in_json(line) << '\n'; }

  const RunStore& store_;
  std::ostream& out_;
  std::map<TicketId, Child> unevaluated_;
  std::map<ProgramId, ProgramId> parents_;  ///< the first parent of each program
  std::map<ProgramId, Report> reports_;     ///< the latest over_yardstick of each program
  std::map<TicketId, ProgramId> duels_;     ///< the incumbent of each duel
};

}  // namespace

Status export_run(const RunView& view, std::ostream& out) {
  const auto store = RunStore::open_read_only(view.folder);
  if (!store) return store.error();
  out << run_line(view) << '\n';
  Exporter exporter(**store, out);
  const Status replayed =
      (*store)->replay(0, [&](std::uint64_t, const Event& event) { return exporter(event); });
  if (!replayed) return replayed.error();
  if (!out.flush()) return fail(ErrorCode::io, "the export cannot be written");
  return {};
}

}  // namespace kernelsmith
