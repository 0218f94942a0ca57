// Sections of run.yaml that are listed in files of their own.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/config/section.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// A list of names, each with `min` or `max` before it unless its better end is known, or that list under the
/// name of a rule.
void list_objectives(Section& run, Objectives& objectives);

/// A list, which is drawn from by weight; or a mapping of `choose`, `cost` and that list as `arms`. Keys that
/// it lacks keep their values. Needs the proposer, whose models an arm may name.
void list_operators(Section& run, RunConfig& config);

/// A section whose key `kind` chooses whose settings the others are. `meant` is our kind for what others call
/// so.
template <class P>
void list_choice(Section& io, const Kinds<P>& kinds, Chosen<P>& chosen, std::string_view meaning,
                 const Meaning& meant = {}) {
  std::string kind = chosen.kind;
  Choices<std::string> names;
  for (const auto& [name, make] : kinds) names.emplace_back(name, name);
  // An implementation from a program, which no registry has.
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
