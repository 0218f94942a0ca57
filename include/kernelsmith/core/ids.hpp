// Ids that are journalled. Each has a type of its own, so that a ticket is never taken for a program.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace kernelsmith {

/// A ticket of a run. The seed's is 0, and each ask() takes the next number.
struct TicketId {
  std::uint64_t value = 0;
  friend auto operator<=>(const TicketId&, const TicketId&) = default;
};

/// A program of a run. A ticket makes at most one program, which takes the ticket's number.
struct ProgramId {
  std::uint64_t value = 0;
  friend auto operator<=>(const ProgramId&, const ProgramId&) = default;
};

/// An island of a run, 0 to n-1.
struct IslandId {
  std::uint32_t value = 0;
  friend auto operator<=>(const IslandId&, const IslandId&) = default;
};

}  // namespace kernelsmith

template <>
struct std::hash<kernelsmith::TicketId> {
  std::size_t operator()(kernelsmith::TicketId id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value);
  }
};
template <>
struct std::hash<kernelsmith::ProgramId> {
  std::size_t operator()(kernelsmith::ProgramId id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value);
  }
};
template <>
struct std::hash<kernelsmith::IslandId> {
  std::size_t operator()(kernelsmith::IslandId id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value);
  }
};
