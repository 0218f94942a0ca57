// The search's knowledge about knobs: the record of each program, the data of a tuner's ticket, and the new
// structures to tune at once. All of it is computed from the journal's events.

#include <kernelsmith/engine/search_state.hpp>

namespace kernelsmith {
namespace {

/// The largest share of evaluations for tuning new structures. Without this limit, only one child in five
/// would come from a model that marks knobs in every child.
constexpr std::uint64_t kShareOfTunings = 4;

bool is_written(Origin origin) { return origin != Origin::seed && origin != Origin::tune; }

}  // namespace

std::optional<KnobSetting> SearchState::knobs_of(const Source& source) const {
  return options_.knobs ? options_.knobs(source) : std::nullopt;
}

void SearchState::note_knobs(const std::optional<KnobSetting>& setting, const ProgramRecord& record) {
  if (!setting) return;
  knobs_.note(*setting, record.accepted ? std::optional(record.fitness) : std::nullopt,
              record.accepted ? record.deviation : 0);
}

/// In deterministic mode the order in which proposals arrive is random, so they count only as requested.
void SearchState::look_up_knobs(OpenTicket& ticket) const {
  const auto setting = knobs_of(ticket.selection.parent->program->source);
  if (!setting) return;
  ticket.tunes = setting->structure;
  KnobHistory history = knobs_.history(*setting);
  for (const auto& [id, other] : open_) {
    const bool has_arrived = other.proposal && !options_.deterministic;
    if (has_arrived && other.knobs && other.knobs->structure == setting->structure)
      history.pending.push_back(other.knobs->point);
    else if (!has_arrived && other.tunes == setting->structure)
      ++history.asked;
  }
  ticket.selection.knobs = std::make_shared<const KnobHistory>(std::move(history));
}

void SearchState::queue_tunings(IslandId island, const IndividualPtr& accepted, const OpenTicket& ticket) {
  if (options_.tunings == 0 || !ticket.knobs || !is_written(accepted->program->origin)) return;
  if (tunings_queued_ * kShareOfTunings > counts_.evaluations) return;
  if (!knobs_.begin_tuning(ticket.knobs->structure)) return;
  for (unsigned i = 0; i < options_.tunings; ++i)
    follow_ups_.push_back({island, accepted->program->id, std::nullopt, true, {accepted, nullptr}});
  tunings_queued_ += options_.tunings;
}

}  // namespace kernelsmith
