// Sections of run.yaml that have their own files.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/config/section.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// The key `objectives`: a list of names, or a mapping from the name of a rule to such a list. A name has
/// `min` or `max` before it, unless its better direction is known.
void list_objectives(Section& run, Objectives& objectives);

/// The key `operators`: a list, from which operators are drawn by weight, or a mapping with `choose`, `cost`
/// and that list as `arms`. A missing key leaves its value unchanged. Comes after the proposer, because an
/// arm may name a model of it.
void list_operators(Section& run, RunConfig& config);

/// A section whose key `kind` names an implementation; the other keys are its settings. `meant` gives a hint
/// for a name that is not a kind.
template <class P>
void list_choice(Section& io, const Kinds<P>& kinds, Chosen<P>& chosen, std::string_view meaning,
                 const Meaning& meant = {}) {
  std::string kind = chosen.kind;
  Choices<std::string> names;
  for (const auto& [name, make] : kinds) names.emplace_back(name, name);
  // A program's own implementation is in no registry.
  if (!kind.empty() && !kinds.contains(kind)) names.emplace_back(chosen.kind, chosen.kind);
  if (kind.empty()) io.require("kind");
  io("kind", kind, names, meaning, meant);
  if (io.tells()) {
    for (const auto& [name, make] : kinds) {
      io.of(name);
      make()->settings(io);
    }
    return io.of("");
  }
  if (!io.ok()) return;
  if (kind != chosen.kind) chosen = {kind, kinds.at(kind)()};
  chosen.provider->settings(io);
}

}  // namespace kernelsmith
