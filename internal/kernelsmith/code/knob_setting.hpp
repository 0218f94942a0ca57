// A source's knobs as data: the structure of the source, and the current values.
#pragma once

#include <optional>

#include <kernelsmith/core/knob_history.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The knobs of `source`; empty if it has none or invalid ones. Two sources have the same structure if their
/// tokens (see fingerprint()) differ only in the values of knobs.
std::optional<KnobSetting> knob_setting(const Source& source);

}  // namespace kernelsmith
