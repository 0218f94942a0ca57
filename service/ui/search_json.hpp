// The parts of a search as the live page shows them: archive, islands, lineage, failures and what is open.
#pragma once

#include <kernelsmith/session/run_view.hpp>

#include "ui_json.hpp"

namespace kernelsmith::ui {

/// The grid's first two axes, and the best program of each of their cells over all further axes; null if
/// the cells are not known.
Json archive_json(const RunView& view);

Json islands_json(const RunView& view);

/// The steps from the seed to the best without diffs: `{left_out, steps}`, the last ones of a long lineage.
Json lineage_json(const RunView& view);

/// Rejected programs by stage and code, each with the latest one that an island remembers.
Json failures_json(const RunView& view);

/// Open tickets: `{count, tickets}`.
Json open_json(const RunView& view);

/// How many steps of a lineage are shown, from its end.
inline constexpr std::size_t kShownSteps = 40;

}  // namespace kernelsmith::ui
