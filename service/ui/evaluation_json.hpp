// An evaluation as the live page shows it.
#pragma once

#include <kernelsmith/core/evaluation.hpp>

#include "ui_json.hpp"

namespace kernelsmith::ui {

/// Without logs; diagnostics are cut.
Json evaluation_json(const Evaluation& evaluation);

/// `{stage, code, diagnostics}`, or null for an acceptance.
Json rejection_json(const Evaluation& evaluation);

}  // namespace kernelsmith::ui
