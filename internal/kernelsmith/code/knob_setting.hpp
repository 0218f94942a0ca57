// A source's knobs as data: which structure it is, and where its knobs stand.
#pragma once

#include <optional>

#include <kernelsmith/core/knob_history.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The knobs of `source`; empty if it has none, or if they are in error. Two sources have one structure if
/// they are the same tokens (see fingerprint()) but for the values of their knobs.
std::optional<KnobSetting> knob_setting(const Source& source);

}  // namespace kernelsmith
