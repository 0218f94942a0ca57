// A section of run.yaml whose key `kind` selects an implementation; the other keys are its settings.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/config/section.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// `meant` maps other programs' names to our kinds.
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
