// The JSON format of every event of the journal: its name, and its fields, listed once for both directions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <kernelsmith/core/event.hpp>

#include "json_records.hpp"

namespace kernelsmith::detail {

template <>
struct Fields<SessionStarted> {
  static constexpr const char* kName = "session_started";
  static void list(auto& io, auto& event) {
    io("version", event.version);
    io("budgets", event.budgets);
    io("settings", event.settings);
    io("elapsed_s", event.elapsed_s);
  }
};
template <>
struct Fields<TicketOpened> {
  static constexpr const char* kName = "ticket_opened";
  static void list(auto& io, auto& event) {
    io("ticket", event.ticket);
    io("island", event.island);
    io("op", event.op);
    io("remeasurement", event.remeasurement);
    io("model", event.model);
    io("parent", event.parent);
    io("incumbent", event.incumbent);
    io("top", event.top);
    io("inspirations", event.inspirations);
    io("failures", event.failures);
    io("within", event.within);
  }
};
template <>
struct Fields<ProposalArrived> {
  static constexpr const char* kName = "proposal_arrived";
  static void list(auto& io, auto& event) {
    io("ticket", event.ticket);
    io("proposal", event.proposal);
  }
};
template <>
struct Fields<CallFailed> {
  static constexpr const char* kName = "call_failed";
  static void list(auto& io, auto& event) {
    io("ticket", event.ticket);
    io("cost", event.cost);
    io.defaulted("goes_on", event.goes_on);
    io.defaulted("elapsed_s", event.elapsed_s);
  }
};
template <>
struct Fields<EvaluationArrived> {
  static constexpr const char* kName = "evaluation_arrived";
  static void list(auto& io, auto& event) {
    io("ticket", event.ticket);
    io("program", event.program);
    io("attempt", event.attempt);
    io("source", event.source);
    io("evaluation", event.evaluation);
    io("elapsed_s", event.elapsed_s);
  }
};
template <>
struct Fields<TicketClosed> {
  static constexpr const char* kName = "ticket_closed";
  static void list(auto& io, auto& event) {
    io("ticket", event.ticket);
    io("error", event.error);
    io("elapsed_s", event.elapsed_s);
  }
};
template <>
struct Fields<PeriodCrossed> {
  static constexpr const char* kName = "period_crossed";
  static void list(auto& io, auto& event) {
    io("policy", event.policy);
    io("epoch", event.epoch);
    io("after", event.after);
  }
};

template <>
struct Fields<SessionFailed> {
  static constexpr const char* kName = "session_failed";
  static void list(auto& io, auto& event) {
    io("error", event.error);
    io.defaulted("elapsed_s", event.elapsed_s);
  }
};

/// A value to decode into, for the only kind of event without a default value.
template <class T>
T blank() {
  return T{};
}
template <>
inline EvaluationArrived blank<EvaluationArrived>() {
  return {.ticket = {}, .program = {}, .evaluation = Rejection{}};
}

template <class Variant>
struct EventCodec;
template <class... Kinds>
struct EventCodec<std::variant<Kinds...>> {
  static Json encode(const Event& event) {
    Json out;
    ObjectWriter writer(out);
    std::visit(
        [&writer]<class Kind>(const Kind& kind) {
          writer("event", std::string(Fields<Kind>::kName));
          Fields<Kind>::list(writer, kind);
        },
        event);
    return out;
  }
  static Event decode(const Json& in, const JsonPath& path) {
    ObjectReader reader(in, path);
    const auto name = reader.get<std::string>("event");
    std::optional<Event> event;
    (decode_if<Kinds>(name, reader, event) || ...);
    if (!event) refuse(path, "unknown event '" + name + "'");
    reader.finish();
    return std::move(*event);
  }

 private:
  template <class Kind>
  static bool decode_if(const std::string& name, ObjectReader& reader, std::optional<Event>& event) {
    if (name != Fields<Kind>::kName) return false;
    Kind kind = blank<Kind>();
    Fields<Kind>::list(reader, kind);
    event = std::move(kind);
    return true;
  }
};
template <>
struct Codec<Event> : EventCodec<Event> {};

}  // namespace kernelsmith::detail
